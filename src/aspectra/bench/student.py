"""`python -m aspectra.bench.student --data FOLDER`: what the student adds, on the runs that `python -m aspectra.bench` has left.

Quality over seeds with and without labels, beside logistic regression on the same encoder; throughput of frozen features and of labelling
with ONNX.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aspectra.bench import quality
from aspectra.config import GENERAL
from aspectra.detector import AspectDetector
from aspectra.evaluate import Gold, averages, count_confusion, gold_matrix
from aspectra.student.blend import blend
from aspectra.student.config import StudentConfig
from aspectra.student.distill import FOLDER, distill
from aspectra.student.model import Head, Student


@dataclass(frozen=True)
class Case:
    """A fitted and mapped run of one published set."""

    home: Path
    detector: AspectDetector
    dev: Gold
    test: Gold

    def scores(self, probabilities: np.ndarray, gold: Gold) -> np.ndarray:
        """Return micro and macro F1, or weighted and macro without General, in percent."""
        aspects = tuple(self.detector.classes_)
        values = averages(count_confusion(gold_matrix(gold.aspects, aspects), probabilities.argmax(1)), aspects)
        return 100 * np.array([values["f1_micro" if GENERAL in aspects else "f1_weighted"], values["f1_macro"]])

    def both(self, probabilities: np.ndarray, gold: Gold, weight: float) -> np.ndarray:
        aspects = tuple(self.detector.classes_)
        frame = blend(self.detector.label_segments(gold.texts), probabilities, aspects, weight)
        return frame.select(f"p_{aspect}" for aspect in aspects).to_numpy()


def open_case(name: str, data: Path, home: Path, seed: int) -> Case:
    """Load a run of the quality benchmark and map it with dev, as that does."""
    benchmark = quality.BENCHMARKS[name]
    dev = benchmark.dev(data)
    return Case(
        home / f"{name}-{seed}", AspectDetector.load(home / f"{name}-{seed}").suggest_map(dev=dev), dev, benchmark.test(data)
    )


def seed_scores(case: Case) -> dict[str, np.ndarray]:
    """Score on test: teacher, student, both; and with the labels of dev, beside logistic regression on them."""
    config = StudentConfig()
    told: dict[str, np.ndarray] = {"teacher": case.scores(case.detector.predict_proba(list(case.test.texts)), case.test)}
    for tag, labels in (("", None), (" + dev labels", case.dev)):
        student = distill(case.detector, config, case.home / FOLDER, labels)
        own = student.probabilities(case.test.texts)
        told["student" + tag] = case.scores(own, case.test)
        told["label" + tag] = case.scores(case.both(own, case.test, student.card.teacher_weight), case.test)
    told["logistic regression on dev labels"] = case.scores(logistic_regression(case, student), case.test)
    return told


def logistic_regression(case: Case, student: Student) -> np.ndarray:
    """What a user would do instead: the mean of the encoder's states and scikit-learn's defaults."""
    from sklearn.linear_model import LogisticRegression

    plain = Student(student.encoder, Head(student.encoder.width, 2, "mean"), student.card).eval()
    aspects = tuple(case.detector.classes_)
    answers = gold_matrix(case.dev.aspects, aspects).argmax(1)
    model = LogisticRegression(max_iter=1000).fit(plain.pooled(case.dev.texts), answers)
    result = np.zeros((len(case.test.texts), len(aspects)))
    result[:, model.classes_] = model.predict_proba(plain.pooled(case.test.texts))
    return result


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m aspectra.bench.student", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with corpora/, oposum/, semeval/ and citysearch/")
    parser.add_argument("--home", type=Path, default=Path("bench-runs"), help="folder with the runs of python -m aspectra.bench")
    parser.add_argument("--seeds", type=int, default=5, help="how many seeds")
    parser.add_argument("--only", choices=("quality", "speed"), help="one part alone")
    chosen = parser.parse_args()

    def say(line: str) -> None:
        print(line, flush=True)

    for part, run in (("quality", quality_part), ("speed", speed_part)):
        if chosen.only in (None, part):
            run(chosen.data, chosen.home, chosen.seeds, say)


def quality_part(data: Path, home: Path, seeds: int, say: Callable[[str], None]) -> None:
    say(f"| set, test | what | {seeds} seeds, F1 (micro, restaurants weighted) | macro F1 |\n|---|---|---|---|")
    for name in quality.BENCHMARKS:
        found = [seed_scores(open_case(name, data, home, seed)) for seed in range(seeds)]
        for what in found[0]:
            values = np.array([scores[what] for scores in found])
            spread = values.std(0, ddof=1) if len(values) > 1 else np.zeros(2)
            cells = " | ".join(f"{mean:.1f} ± {sd:.1f}" for mean, sd in zip(values.mean(0), spread, strict=True))
            say(f"| {name} | {what} | {cells} |")


def speed_part(data: Path, home: Path, seeds: int, say: Callable[[str], None]) -> None:
    from aspectra.bench.student_speed import lines

    case = open_case("tv", data, home, 0)
    say("\n| figure | value |\n|---|---|")
    for line in lines(case.detector, distill(case.detector, StudentConfig(), case.home / FOLDER)):
        say(line)


if __name__ == "__main__":
    main()
