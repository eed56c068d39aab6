"""What ranks do together, written down for tests: ``torchrun ... -m tests.training.rank_scenarios FOLDER``.

Each rank writes ``RANK.json`` and, per run, ``NAME-RANK.safetensors``.
"""

import json
import os
import signal
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from safetensors.torch import save_file

import pts3h
from pts3h.nets.feature_cache import FrozenBackbone
from pts3h.objectives import vat
from pts3h.training.loop import train
from pts3h.training.ranks import joined, shared_store
from tests.training import rank_steps
from tests.training.runs import Watched, make_run, weights

RANK, FOLDER = int(os.environ.get("RANK", 0)), Path(sys.argv[-1])
FAST = {"bits": 8, "steps": 4, "hidden": 8, "labelled_per_batch": 6, "unlabelled_per_batch": 6}
STOP = 4  # the step in which a rank is told to stop
kinds = np.arange(36) % 3
vectors = (3 * np.eye(3, 6)[kinds] + np.random.default_rng(0).normal(size=(36, 6))).astype(np.float32)
labels = np.where(np.arange(36) < 12, kinds, -1)


def save(name, tensors):
    save_file({key: one.contiguous() for key, one in tensors.items()}, FOLDER / f"{name}-{RANK}.safetensors")


def steps():
    """What each step computes."""
    exact = [(case, torch.float64) for case in rank_steps.CASES]
    for case, dtype in exact + [(case, torch.float32) for case in rank_steps.SINGLE]:
        with joined() as ranks:
            save(f"{case}, {dtype}", rank_steps.run(case, ranks, dtype))


def stopping_and_going_on():
    """A run of two ranks; one that rank 1 stops and two go on with; one that one process began."""

    def told(step):
        if step.number == STOP and RANK == 1:
            os.kill(os.getpid(), signal.SIGTERM)

    found = {}
    with joined() as ranks:
        whole = replace(make_run(), ranks=ranks)
        train(whole)
        save("whole", weights(whole))
        for name in ("stopped", "kept"):
            run = replace(make_run(FOLDER / name), ranks=ranks)
            try:
                train(replace(run, objective=Watched(run.objective, told)))
            except pts3h.Interrupted as error:
                found[name] = str(error)
        for name in ("stopped", "begun"):
            run = replace(make_run(FOLDER / name), ranks=ranks)
            train(run, resume=True)
            save(name, weights(run))
    return found


def fitting():
    """A fit of vectors: who is told, who writes, and whether all have the same model."""
    told, judged = [], []
    hasher = pts3h.Hasher(**FAST)
    hasher.fit(
        vectors,
        labels=labels,
        out=FOLDER / "model",
        watch=told.append,
        judge=lambda outputs: judged.append(outputs(np.arange(3)).shape) or {"mine": 1.0},
        grid={"eta": [0.0, 0.01]},
        tensorboard=FOLDER / "curves",
        progress=False,
    )
    with joined() as ranks:
        own = torch.tensor(list(bytes.fromhex(hasher.fingerprint)), dtype=torch.uint8)
        ranks.take_from_first([first := own.clone()])
    return {
        "told": len(told),
        "judged": len(judged),
        "trials": [trial.score for trial in hasher.trials],
        "same": torch.equal(first, own),
    }


def pictures():
    """Features of pictures in files, one of them broken: who computes how many, and who warns."""
    computed, original = [], FrozenBackbone._versions

    def counted(self, wanted, positions, *rest):
        computed.extend(positions.tolist())
        return original(self, wanted, positions, *rest)

    FrozenBackbone._versions = counted
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        hasher = pts3h.Hasher(**FAST, backbone="small", freeze=True, image_size=16, views=1)
        hasher.fit(FOLDER / "photos", pairs=FOLDER / "pairs.csv", progress=False)
    FrozenBackbone._versions = original
    return {
        "computed": len(computed),
        "warned": [str(one.message) for one in caught],
        "skipped": list(hasher.skipped),
        "fingerprint": hasher.fingerprint,
    }


def mistakes():
    """What each rank says of a mistake that all of them make, or only one; and that the next fit works."""

    def message(items, **settings):
        try:
            pts3h.Hasher(**FAST | settings).fit(items, labels=labels, progress=False, check=False)
        except pts3h.UserError as error:
            return [type(error).__name__, str(error)]
        return None

    def by_vat(ranks):
        run = make_run(neighbours=0.0, classes=0.0)
        settings = {"pairwise": run.objective.pairwise, "omega": 0.5, "eta": 0.1}
        train(replace(run, objective=vat.VAT(**settings), ranks=ranks))

    found = {
        "all": message(vectors, mirror=True),
        "one": message(vectors if RANK == 0 else "nowhere.npy"),
        "first": message(vectors if RANK == 1 else "nowhere.npy"),
        "other vectors": message(vectors + RANK),
        "other settings": message(vectors, eta=0.1 + RANK),
        "device": message(vectors, device="cuda:0"),
    }
    try:
        with joined() as ranks:
            by_vat(ranks)
    except pts3h.UserError as error:
        found["whole batches"] = [type(error).__name__, str(error)]
    return found | {"none": message(vectors)}


def meeting():
    """Whether all ranks are connected when the first one goes on, and perhaps away."""

    def slow(*given, **named):
        original(*given, **named)
        if RANK == 0:
            time.sleep(0.5)
            shared_store().set("slow rank is connected", "")

    original, dist.init_process_group = dist.init_process_group, slow
    with joined():
        connected = shared_store().check(["slow rank is connected"])
    dist.init_process_group = original
    return {"all connected": connected}


def own_group():
    """A script that talks to its other processes itself goes on doing so."""
    dist.init_process_group("gloo")
    hasher = pts3h.Hasher(**FAST).fit(vectors, labels=labels, progress=False, check=False)
    count = torch.ones(1)
    dist.all_reduce(count)
    dist.destroy_process_group()
    return {"count": int(count), "steps": len(hasher.history)}


SCENARIOS = (steps, stopping_and_going_on, fitting, pictures, mistakes, meeting, own_group)

if __name__ == "__main__":
    warnings.simplefilter("error")
    found = {scenario.__name__: scenario() for scenario in SCENARIOS}
    (FOLDER / f"{RANK}.json").write_text(json.dumps(found))
