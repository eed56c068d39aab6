"""Features of pictures with freed memory kept and given back, each in a process of its own, best of several.

python benchmarks/features.py
"""

import json
import os
import resource
import subprocess
import sys
import time

import numpy as np

PICTURES, SIZE, ROUNDS = 640, 96, 3


def measure() -> dict[str, float]:
    from pts3h.data.images import ImageArray
    from pts3h.nets.backbones.build import build_backbone
    from pts3h.nets.feature_cache import FrozenBackbone

    pixels = np.random.default_rng(0).integers(0, 256, (PICTURES, 32, 32, 3), np.uint8)
    backbone = FrozenBackbone(build_backbone("efficientnet-lite0")[0], name="efficientnet-lite0")
    backbone.clean(ImageArray(pixels[:64]), size=SIZE, progress=False)
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    backbone.clean(ImageArray(pixels), size=SIZE, progress=False)
    after = resource.getrusage(resource.RUSAGE_SELF)
    return {"wall": time.perf_counter() - start, "system": after.ru_stime - before.ru_stime}


def main() -> None:
    runs: dict[str, list[dict[str, float]]] = {"given back": [], "kept": []}
    for _ in range(ROUNDS):
        for name, switch in (("given back", "0"), ("kept", "1")):
            environment = os.environ | {"PTS3H_KEEP_MEMORY": switch}
            output = subprocess.run(
                [sys.executable, __file__, "once"], env=environment, check=True, stdout=-1
            )
            runs[name].append(json.loads(output.stdout))
    best = {name: min(found, key=lambda run: run["wall"]) for name, found in runs.items()}
    for name, run in best.items():
        print(f"{name:<12} {PICTURES / run['wall']:6.0f} pictures/s, {run['system']:5.2f} s in the system")
    print(f"ratio {best['given back']['wall'] / best['kept']['wall']:.2f}x")


if __name__ == "__main__":
    if sys.argv[1:] == ["once"]:
        print(json.dumps(measure()))
    else:
        main()
