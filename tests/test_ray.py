"""Labelling on Ray: a cluster of several nodes on this machine, of which one dies in the middle."""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from aspectra.labelling.files import Plan, label_here
from aspectra.labelling.ray import import_ray, label_with_ray
from aspectra.progress import uncounted
from aspectra.sample import Sample

pytestmark = [
    pytest.mark.skipif(
        find_spec("ray") is None, reason='labelling on Ray needs it: pip install "aspectra[ray]"'
    ),
    pytest.mark.filterwarnings("ignore:.*:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*:FutureWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.xdist_group("ray"),
]
Call = Callable[..., Any]
FILES = 10
os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112  # else its workers wait for other tests


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A head and another node with a CPU each, on 127.0.0.1; that the other one dies is soon noticed."""
    import_ray(local=True)
    import ray
    from ray.cluster_utils import Cluster

    here = {"node_ip_address": "127.0.0.1", "object_store_memory": 100 * 2**20}
    noticing = {
        "health_check_initial_delay_ms": 0,
        "health_check_period_ms": 500,
        "health_check_failure_threshold": 3,
    }
    head = {**here, "num_cpus": 1, "include_dashboard": False, "_system_config": noticing}
    made = Cluster(initialize_head=True, head_node_args=head)
    made.add_node(**here, num_cpus=1)
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def inputs(sample: Sample, tmp_path: Path) -> list[str]:
    texts = sample.reviews["text"]
    places = []
    for number in range(FILES):
        frame = pl.DataFrame(
            {"text": pl.concat([texts.sample(fraction=1.0, shuffle=True, seed=number)] * 3)}
        ).with_row_index("id")
        places.append(str(tmp_path / f"reviews-{number:02}.parquet"))
        frame.write_parquet(places[-1])
    return places


def kill_a_node_once_there_is(output: Path, cluster: Any, killed: list[float]) -> None:
    """Wait for the first outputs, then end all processes of a node."""
    while len(list(output.glob("*.parquet"))) < 2:
        time.sleep(0.02)
    cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
    killed.append(len(list(output.glob("*.parquet"))))


def test_a_node_that_dies_in_the_middle_loses_and_doubles_nothing(
    cluster: Any, inputs: list[str], run: Path, tmp_path: Path
) -> None:
    plan = Plan(run, str(tmp_path / "out"), "text", "id")
    assert plan.missing(inputs) == inputs
    killed: list[float] = []
    killer = threading.Thread(
        target=kill_a_node_once_there_is, args=(tmp_path / "out", cluster, killed), daemon=True
    )
    killer.start()
    done = list(label_with_ray(plan, inputs, cluster.address, uncounted))
    killer.join(60)
    assert killed
    assert killed[0] < FILES
    assert sorted(one.place for one in done) == inputs
    assert plan.missing(inputs) == []
    local = Plan(run, str(tmp_path / "local"), "text", "id")
    for one in label_here(local, inputs, uncounted):
        here, there = pl.read_parquet(local.output_of(one.place)), pl.read_parquet(plan.output_of(one.place))
        assert here.equals(there)
        assert here["id"].n_unique() == 3 * 700
    assert not list((tmp_path / "out").glob(".*"))


def test_the_command_on_ray_is_quiet_and_writes_the_bytes_of_the_local_engine(
    program: list[str], aspectra: Call, inputs: list[str], run: Path, tmp_path: Path
) -> None:
    words = ["label", str(run), *inputs[:2], "--quiet", "-o"]
    aspectra(*words, f"{tmp_path / 'local'}/")
    command = [*program, *words, f"{tmp_path / 'ray'}/", "--engine", "ray"]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (told.stdout, told.stderr) == ("", "")
    here, there = (sorted((tmp_path / engine).glob("*.parquet")) for engine in ("local", "ray"))
    assert [path.read_bytes() for path in here] == [path.read_bytes() for path in there]
    assert len(here) == 2
