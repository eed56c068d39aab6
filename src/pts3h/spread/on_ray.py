"""Workers on a Ray cluster: Ray Data gives parts to them, and starts another where one dies.

The only file that imports Ray. What must hold after a worker is killed, or when a part is done twice, is in
:mod:`.worker`: a shard is named by its part, and is written whole.
"""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from queue import SimpleQueue
from typing import Any

from ..errors import UserError
from ..util.extras import from_extra
from .job import Run, Task
from .parts import Part
from .worker import Done, Worker

AHEAD = 2  # parts that wait at each worker: one more while it writes
ATTEMPTS = 5  # to start a cluster: parts of Ray wait for each other for 15 seconds, and a machine may be busy
PATIENCE = 0.5  # seconds between two looks at what is done


def on_ray(where: str, workers: int | None = None) -> Run:
    """Runs parts on a cluster.

    Args:
        where: "ray" starts one on this machine and ends it; "ray:auto" joins the one that runs here;
            ``ray://host:port`` asks the Ray client server of another.
        workers: how many; by default one for each GPU, or for each core where there is none.
    """
    _prepare(where)
    ray = from_extra("ray", "ray", wants="--on ray")
    from_extra("ray.data", "ray", wants="--on ray")

    def run(task: Task, parts: Sequence[Part]) -> Iterator[Done]:
        if ray.is_initialized():
            raise UserError("Ray runs in this process already: end it with ray.shutdown() first")
        with redirect_stdout(sys.stderr):  # Ray speaks up at any time, and what is there is for programs
            _connect(ray, where, workers)
            try:
                yield from _led(ray, task, parts, workers)
            finally:
                ray.shutdown()

    return run


def _prepare(where: str) -> None:
    """What Ray reads when it is imported, where the user has said nothing else."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would report to its makers
    os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")  # there is our own
    os.environ.setdefault("RAY_gcs_server_port_wait_time_s", "300")  # a busy machine needs longer than 30 s
    if where == "ray":  # its ports are open to the network, and run what they are told
        os.environ.setdefault("RAY_AUTH_MODE", "token")


def _connect(ray: Any, where: str, workers: int | None) -> None:
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    if where == "ray":
        options |= {"address": "local", "num_cpus": workers, "include_dashboard": False}
    else:
        options |= {"address": "auto" if where == "ray:auto" else where}
    for attempt in range(ATTEMPTS if where == "ray" else 1):
        try:
            ray.init(**options)
            return
        except Exception as error:  # it has no type of its own for a cluster that is not there
            failed, tried = error, attempt + 1
            ray.shutdown()
    if where == "ray":
        raise UserError(
            f"Ray did not start here (attempts: {tried}; {failed}): is the machine busy? Run again"
        )
    raise UserError(
        f"cannot reach a Ray cluster at {where} ({failed}): is it running, with the Ray and the Python of "
        "here? If it asks for a token, set RAY_AUTH_MODE=token"
    ) from failed


def _led(ray: Any, task: Task, parts: Sequence[Part], workers: int | None) -> Iterator[Done]:
    """Ray Data needs a process of the cluster, which this one may not be: a leader there runs it."""
    leader = ray.remote(num_cpus=0, max_concurrency=2)(Leader).remote()
    rows = [{"part": part.to_json()} for part in parts]
    ending = leader.lead.remote(rows, (dict(task.packed), task.out, task.network), workers)
    try:
        while True:
            ended, _ = ray.wait([ending], timeout=PATIENCE)
            yield from map(Done.from_json, ray.get(leader.news.remote()))
            if ended:
                ray.get(ending)
                return
    except ray.exceptions.RayError as error:
        raise _explained(error) from error


def _explained(error: BaseException) -> UserError:
    """What a worker raised, if it is a user's mistake; else what Ray says."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, UserError):
            return UserError(str(cause))
        cause = getattr(cause, "cause", None) or cause.__cause__
    if told := re.findall(r"UserError: (.+)", str(error)):  # Ray may hand on the words alone
        return UserError(told[-1])
    last = str(error).strip().splitlines()[-1:] or [type(error).__name__]
    return UserError(
        f"the Ray cluster failed ({last[0]}): run the same command again, it goes on where it was"
    )


class Leader:
    """Runs Ray Data on the cluster and tells who asks what is done."""

    def __init__(self) -> None:
        self._news: SimpleQueue[str] = SimpleQueue()

    def lead(self, rows: list[dict[str, str]], told: tuple[Any, ...], workers: int | None) -> None:
        """Encode all parts, each as one row of a data set."""
        ray = from_extra("ray", "ray", wants="a worker")
        data = from_extra("ray.data", "ray", wants="a worker")
        count, gpus = room(ray.cluster_resources(), workers)
        pool = data.ActorPoolStrategy(size=min(count, len(rows)), max_tasks_in_flight_per_actor=AHEAD)
        encoded = data.from_items(rows, override_num_blocks=len(rows)).map_batches(
            RayWorker,
            fn_constructor_args=told,
            batch_size=1,
            compute=pool,
            num_cpus=1,
            num_gpus=gpus,
        )
        for row in encoded.iter_rows():
            self._news.put(str(row["done"]))

    def news(self) -> list[str]:
        """What is done since the last time."""
        return [self._news.get() for _ in range(self._news.qsize())]


class RayWorker:
    """A worker as Ray Data calls it."""

    def __init__(self, *told: Any) -> None:
        self.worker = Worker(*told)

    def __call__(self, rows: dict[str, Any]) -> dict[str, list[str]]:
        """Encode the parts of some rows."""
        return {"done": [self.worker.encode(Part.from_json(str(one))).to_json() for one in rows["part"]]}


def room(resources: dict[str, float], workers: int | None) -> tuple[int, int]:
    """How many workers, and how many GPUs for each."""
    gpus = int(resources.get("GPU", 0))
    return workers or gpus or max(int(resources.get("CPU", 1)), 1), 1 if gpus else 0
