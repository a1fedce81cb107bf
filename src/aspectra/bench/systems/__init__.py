"""The systems that the benchmark compares: aspectra's own with its baselines, the paper's, and today's.

A new one is a class with the members of `System` in a file here, and a line below.
"""

from __future__ import annotations

from aspectra.bench.protocol import DEV_MAP, LABELS, NAMES, SEED_WORDS, System
from aspectra.bench.sets import known_names
from aspectra.bench.systems.abae import Abae
from aspectra.bench.systems.baselines import KMeansTopics, LdaTopics, Majority
from aspectra.bench.systems.bertopic import Bertopic
from aspectra.bench.systems.cat import Cat
from aspectra.bench.systems.corex import CorEx
from aspectra.bench.systems.labelled import LogisticOnDev, TeacherWithLabels
from aspectra.bench.systems.lda import LocLda, W2vLda
from aspectra.bench.systems.mate import Mate, other_domains
from aspectra.bench.systems.names import LinearSystem, ZeroShot
from aspectra.bench.systems.ours import PAPER_STUDENT, PAPER_TEACHER, StudentSystem, TeacherSystem
from aspectra.bench.systems.sememes import AeCsa
from aspectra.bench.systems.serbm import Serbm
from aspectra.bench.systems.setfit import SetFit
from aspectra.bench.systems.teacher_student import WORD_VECTORS, TeacherStudent
from aspectra.bench.systems.turftopic import KeyNmf
from aspectra.config import StudentConfig

OWN: tuple[System, ...] = (
    ZeroShot(),
    LinearSystem(),
    LinearSystem("names-fast", "aspectra, fast", fast=True),
    LinearSystem("seeds", supervision=SEED_WORDS),
    LinearSystem("seeds-fast", "aspectra, fast", supervision=SEED_WORDS, fast=True),
    KMeansTopics(),
    LdaTopics(),
    TeacherSystem(),
    StudentSystem(),
    LinearSystem("student", supervision=DEV_MAP),
    LinearSystem("student-fast", "aspectra, fast", supervision=DEV_MAP, fast=True),
    Majority(),
    LogisticOnDev(),
    TeacherWithLabels(),
    LinearSystem("student+dev", supervision=LABELS),
    LinearSystem("student+dev-fast", "aspectra, fast", supervision=LABELS, fast=True),
)
PAPER: tuple[System, ...] = (
    Cat(),
    Mate("abae-init", "ABAE-init", weighted=False),
    Mate(),
    Mate("mate-mt", "MATE-MT", domains=other_domains),
    W2vLda(),
    Serbm(),
    TeacherStudent(),
    TeacherStudent("ts-stu-w2v", "TS-Stu-W2V", features=WORD_VECTORS),
    TeacherStudent(
        "ts-stu-minilm", "TS-Stu-MiniLM", features=StudentConfig.encoder, most=StudentConfig.n_segments
    ),
    Abae(),
    Abae("abae-k", "ABAE, as many topics as ours", n_topics=None),
    Abae("abae+hrsmap", "ABAE + HRSMap, 30 topics", n_topics=30, selective=True),
    LocLda(),
    AeCsa(),
    TeacherSystem("sscl", "SSCL as published", settings=PAPER_TEACHER),
    StudentSystem(
        "sscls-paper", "SSCLS as published", settings=PAPER_STUDENT, dev_as="none", teacher=PAPER_TEACHER
    ),
)
"""Those of the paper's tables."""
PEERS: tuple[System, ...] = (
    Bertopic("bertopic-zero-shot", "BERTopic, zero-shot", NAMES),
    Bertopic("bertopic-guided", "BERTopic, guided", SEED_WORDS),
    CorEx(),
    Bertopic(),
    KeyNmf(),
    SetFit("setfit-20", "SetFit, 20 labels", number=20),
    SetFit("setfit-50", "SetFit, 50 labels", number=50),
    SetFit(),
)
"""What people use today, from other packages."""
EVERY = "all"
SYSTEMS = {system.name: system for system in (*OWN, *PAPER, *PEERS)}


def choose_systems(names: str | None) -> list[System]:
    """Return the systems named, with commas between them; all of them for "all", aspectra's own for None."""
    if names is None:
        return list(OWN)
    if names == EVERY:
        return list(SYSTEMS.values())
    return [SYSTEMS[name] for name in known_names(names, tuple(SYSTEMS), "system")]
