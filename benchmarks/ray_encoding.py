"""Encoding by one Ray worker, by two, and by two of which one is killed in the middle.

python benchmarks/ray_encoding.py [--pictures 20000] [--part-size 256]

Prints how much quicker two are, once the first part is done, and whether each picture is there once with the
code that one process gives it.
"""

from encode_path import quick_model, write_pictures  # isort: skip

import argparse
import os
import signal
import tempfile
import threading
import time
from pathlib import Path

from pts3h.exchange.parquet import read_parquet
from pts3h.spread.job import encode_on

SIDE = 128
ROUNDS = {"1 worker": 1, "2 workers": 2, "2, one killed": 2}


class Clock:
    """When each part was done. What came before the first one, such as Ray's start, does not count."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def __call__(self, what: str, done: int, total: int) -> None:
        self.times += [time.monotonic()] * (done - len(self.times))

    def rate(self, pictures: int) -> float:
        """Pictures per second after the first part."""
        parts = len(self.times)
        later = sum(moment > self.times[0] for moment in self.times)
        return pictures / parts * later / max(self.times[-1] - self.times[0], 1e-9)


def workers_below(parent: int) -> list[int]:
    """Processes of Ray Data's workers that this process started, whoever in between did."""
    parents, workers = {}, []
    for folder in Path("/proc").iterdir():
        try:
            process, words = int(folder.name), (folder / "cmdline").read_text()
            parents[process] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (ValueError, OSError):
            continue
        if words.startswith("ray::") and "MapWorker" in words:
            workers.append(process)

    def is_below(process: int) -> bool:
        while process in parents and process != parent:
            process = parents[process]
        return process == parent

    return [process for process in workers if is_below(process)]


def kill_one(out: Path, parts: int) -> None:
    """Once a third of the shards are there."""
    while len(list(out.glob("part-*.parquet"))) < parts / 3:
        time.sleep(0.05)
    victim = workers_below(os.getpid())[0]
    os.kill(victim, signal.SIGKILL)
    print(f"  killed worker {victim} after {len(list(out.glob('part-*.parquet')))} of {parts} parts")


def held(folder: Path) -> list[tuple[str, bytes]]:
    """Every row of every shard."""
    return [
        (str(one), code.tobytes())
        for path in sorted(folder.glob("part-*.parquet"))
        for batch in read_parquet(path).batches
        for one, code in zip(batch.ids, batch.codes, strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=int, default=20_000)
    parser.add_argument("--part-size", type=int, default=256)
    asked = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"  # a core for each worker, whatever there is
    with tempfile.TemporaryDirectory() as place:
        labels = write_pictures(Path(place, "photos"), asked.pictures, SIDE)
        model = quick_model(Path(place, "photos"), labels, Path(place, "model"))
        os.environ["PTS3H_CACHE"] = f"{place}/cache"  # with features of none of them
        encoded = model.encode(Path(place, "photos"), keep=False)
        local = dict(zip(encoded.ids, (code.tobytes() for code in encoded.codes), strict=True))
        parts, rates = -(-asked.pictures // asked.part_size), dict[str, float]()
        for name, workers in ROUNDS.items():
            clock, out = Clock(), Path(place, name)
            if "killed" in name:
                threading.Thread(target=kill_one, args=(out, parts), daemon=True).start()
            encode_on(
                "ray",
                Path(place, "model"),
                Path(place, "photos"),
                out,
                size=asked.part_size,
                workers=workers,
                progress=clock,
            )
            rows, rates[name] = held(out), clock.rate(asked.pictures)
            once = sorted(one for one, _ in rows) == sorted(local)
            other = sum(local[one] != code for one, code in rows)
            print(f"{name:<14} {rates[name]:6.0f} pictures/s; each once: {once}; codes that differ: {other}")
    print(f"two workers are {rates['2 workers'] / rates['1 worker']:.2f}x as fast as one")


if __name__ == "__main__":
    main()
