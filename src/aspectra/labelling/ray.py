"""Labelling many files on a Ray cluster: a pool of actors, each of which loads the model once.

Only names of files go through Ray; every actor reads, labels and writes by itself. If an actor or its
node dies, Ray starts it again elsewhere and repeats its file. An output appears only when it is complete,
and under the same name, so no row is lost or doubled.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from aspectra.errors import InputError
from aspectra.labelling.files import FileResult, Plan, SegmentCounts
from aspectra.labelling.labeller import StudentLabeller, choose_model
from aspectra.progress import Count

BLOCKS = 10_000
STORE = 200 * 2**20
"""Bytes of shared memory for a cluster of our own; only names of files go through it."""


class Worker:
    """An actor: a model, and the files that it is given."""

    def __init__(self, plan: Plan, gpu: bool) -> None:
        self.plan, self.labeller = plan, plan.load(threads=1)
        if gpu and isinstance(self.labeller, StudentLabeller):
            self.labeller.student.to("cuda")

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        done = [self.plan.label_file(self.labeller, str(place), threads=1) for place in batch["place"]]
        return {"done": [json.dumps(asdict(one)) for one in done]}


def import_ray(local: bool) -> Any:
    """Import Ray without usage statistics and, with `local`, on 127.0.0.1 only."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    if local:
        # so it is called on every system: without it Ray takes this machine's other address
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    try:
        import ray
        import ray.data
    except ImportError:
        raise InputError(
            '--engine ray needs Ray, which is not installed: pip install "aspectra[ray]"'
        ) from None
    return ray


@contextlib.contextmanager
def without_stderr() -> Iterator[None]:
    """Keep Ray's native code from writing to the terminal. Errors are raised all the same."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@contextlib.contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Join the cluster at an address, or start (and stop) one on this machine that nobody else can reach."""
    ray = import_ray(local=address is None or address.startswith(("127.", "localhost")))
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    own: dict[str, Any] = (
        {"include_dashboard": False, "object_store_memory": STORE} if address is None else {}
    )
    try:
        with without_stderr():
            ray.init(address or "local", log_to_driver=False, logging_level="error", **own)
    except ConnectionError as error:
        raise InputError(
            f"No Ray cluster at {address} ({error}). Start one with ray start --head, or leave out --address."
        ) from None
    try:
        yield ray
    finally:
        ray.shutdown()


def label_with_ray(plan: Plan, places: list[str], address: str | None, count: Count) -> Iterator[FileResult]:
    """Label the inputs on all CPUs of a cluster, or on its GPUs if an encoder labels."""
    if not places:
        return
    plan.load()  # a run that cannot be used is told here, before a cluster is started
    with connected(address) as ray:
        resources = ray.cluster_resources()
        gpus = (
            int(resources.get("GPU", 0))
            if plan.run.suffix != ".onnx" and choose_model(plan.run, plan.model)[0] == "encoder"
            else 0
        )
        actors = min(len(places), gpus or int(resources.get("CPU", 1)))
        inputs = ray.data.from_items(
            [{"place": place} for place in places], override_num_blocks=min(len(places), BLOCKS)
        )
        results = inputs.map_batches(
            Worker,
            fn_constructor_args=(plan, gpus > 0),
            batch_size=1,
            num_cpus=0 if gpus else 1,
            num_gpus=1 if gpus else 0,
            compute=ray.data.ActorPoolStrategy(min_size=1, max_size=actors, initial_size=actors),
        )
        for finished, row in enumerate(results.iter_rows(), 1):
            told = json.loads(row["done"])
            done = FileResult(**{**told, "counts": SegmentCounts(**told["counts"])})
            count(done.counts.segments, finished / len(places))
            yield done
