"""Install a wheel into an empty environment and use it there as a user would, far from the source tree.

    python tools/try_wheel.py dist/pts3h-*.whl

Beside a wheel that works it writes what came with it, an SBOM (CycloneDX). That needs cyclonedx-bom.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]

# Three clouds of vectors, some pairs of which are known, and which of all items belong together.
WORLD = """
import numpy as np
rng = np.random.default_rng(0)
kinds = np.arange(90) % 3
np.save("vectors.npy", (3 * np.eye(3, 16)[kinds] + rng.normal(size=(90, 16))).astype(np.float32))
np.save("relevant.npy", kinds[:, None] == kinds)
pairs = np.array([(a, b, kinds[a] == kinds[b]) for a, b in rng.integers(0, 90, (200, 2)) if a != b], int)
np.savetxt("pairs.csv", pairs, "%d", ",", header="a,b,similar", comments="")
"""

MODULES = """
import json
from pathlib import Path
import pts3h
home = Path(pts3h.__file__).parent
kinds = (".py", ".pyi", ".typed")
print(json.dumps([str(path.relative_to(home)) for path in home.rglob("*") if path.suffix in kinds]))
"""


class Sandbox:
    """An environment that holds the wheel and what it needs, and a folder to work in."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.work = folder / "work"
        self.work.mkdir()
        venv.create(folder / "venv", with_pip=True)
        self.bin = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        # else the source tree, or a cache with another model in it, could answer in the place of the wheel
        self.environment = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
        self.environment["PTS3H_CACHE"] = str(folder / "cache")
        constraints = str(PROJECT / "constraints.txt")
        self.run("python", "-m", "pip", "install", "--quiet", "--constraint", constraints, str(wheel))

    def run(self, program: str, *arguments: str) -> str:
        """What a program of the environment prints; its failure ends the trial."""
        if program != "python" or arguments[0] != "-c":
            print("$", program, *arguments, flush=True)
        command = [str(shutil.which(program, path=str(self.bin))), *arguments]
        done = subprocess.run(command, cwd=self.work, env=self.environment, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"{program} {arguments[0]} failed with exit code {done.returncode}\n{done.stdout}")
        return done.stdout

    def bill(self, file: Path) -> None:
        """Write the SBOM: all that was installed for the wheel, which is taken away: it is the subject."""
        self.run("python", "-m", "pip", "uninstall", "--quiet", "--yes", "pts3h")
        command = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible"]
        command += ["--pyproject", str(PROJECT / "pyproject.toml"), "--mc-type", "library", "-o", str(file)]
        subprocess.run([*command, str(shutil.which("python", path=str(self.bin)))], check=True)
        bill = json.loads(file.read_text())
        names = {part["name"].lower() for part in bill["components"]}
        assert bill["metadata"]["component"]["name"] == "pts3h" and {"torch", "numpy", "pillow"} <= names
        print(f"{file.name} lists what it brings: {len(names)} packages")


def try_wheel(sandbox: Sandbox, wheel: Path) -> None:
    """Everything a first user does; an assertion says what is wrong with the wheel."""
    sandbox.run("python", "-m", "pip", "check")

    source = PROJECT / "src" / "pts3h"
    kinds = (".py", ".pyi", ".typed")
    wanted = {str(path.relative_to(source)) for path in source.rglob("*") if path.suffix in kinds}
    there = set(json.loads(sandbox.run("python", "-c", MODULES)))
    assert "py.typed" in there and wanted <= there, f"the wheel lacks {sorted(wanted - there)}"
    assert there == wanted, f"the wheel has files of an older build: {sorted(there - wanted)}"

    doctor = json.loads(sandbox.run("pts3h", "doctor", "--json"))
    assert doctor["search"]["active"] == "kernel", doctor["search"]["why"]

    sandbox.run("python", "-c", WORLD)
    small = ("--bits", "32", "--steps", "200")
    sandbox.run("pts3h", "fit", "vectors.npy", "--pairs", "pairs.csv", "--out", "model", *small)
    sandbox.run("pts3h", "encode", "model", "vectors.npy", "--out", "codes.npy")
    sandbox.run("pts3h", "index", "model", "vectors.npy", "--to", "vectors.index")
    answers = json.loads(sandbox.run("pts3h", "search", "vectors.index", "vectors.npy", "-k", "5", "--json"))
    assert len(answers) == 90 and all(len(answer["hits"]) == 5 for answer in answers)
    assert all(answer["hits"][0]["distance"] == 0 for answer in answers), "an item is nearest to itself"
    judged = ("--relevant", "relevant.npy", "--json")
    figures = json.loads(sandbox.run("pts3h", "evaluate", "codes.npy", "codes.npy", "--bits", "32", *judged))
    assert figures["map"] > 0.8, f"three clouds apart should be told apart, got MAP {figures['map']:.3f}"
    print(f"{wheel.name} works: {doctor['search']['level']} kernel, MAP {figures['map']:.3f}")


def main() -> None:
    """Try the wheel named on the command line, or the only one in the folder named there."""
    named = Path(sys.argv[1] if len(sys.argv) == 2 else "dist").resolve()
    wheels = sorted(named.glob("*.whl")) if named.is_dir() else [named]
    if len(wheels) != 1:
        sys.exit(f"there must be one wheel in {named}, found {len(wheels)}")
    with tempfile.TemporaryDirectory(prefix="pts3h-wheel-") as folder:
        sandbox = Sandbox(Path(folder), wheels[0])
        try_wheel(sandbox, wheels[0])
        sandbox.bill(wheels[0].with_suffix(".cdx.json"))


if __name__ == "__main__":
    main()
