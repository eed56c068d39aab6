"""Install a wheel into empty environments and use it there as a user would, far from the source tree.

    python tools/try_wheel.py dist/pts3h-*.whl

One environment trains and exports. The other has no torch: it grows from the wheel alone to what searches
pictures and serves them, and the size of each step is printed. Beside a wheel that works it writes what came
with it, an SBOM (CycloneDX). That needs cyclonedx-bom.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
MOST_MEGABYTES = {"": 200, "onnx": 350}  # of the wheel and what it brings, by extras

# Three clouds of vectors, some pairs of which are known, and which of all items belong together; pictures.
WORLD = """
import numpy as np
from pathlib import Path
from PIL import Image
rng = np.random.default_rng(0)
kinds = np.arange(90) % 3
np.save("vectors.npy", (3 * np.eye(3, 16)[kinds] + rng.normal(size=(90, 16))).astype(np.float32))
np.save("relevant.npy", kinds[:, None] == kinds)
pairs = np.array([(a, b, kinds[a] == kinds[b]) for a, b in rng.integers(0, 90, (200, 2)) if a != b], int)
np.savetxt("pairs.csv", pairs, "%d", ",", header="a,b,similar", comments="")
Path("photos").mkdir()
for number, kind in enumerate(kinds):
    pixels = rng.integers(0, 80, (40, 48, 3)) + 150 * np.eye(3, dtype=int)[kind]
    Image.fromarray(pixels.astype(np.uint8)).save(f"photos/{number:02}.png")
"""

MODULES = """
import json
from pathlib import Path
import pts3h
home = Path(pts3h.__file__).parent
kinds = (".py", ".pyi", ".typed")
print(json.dumps([str(path.relative_to(home)) for path in home.rglob("*") if path.suffix in kinds]))
"""

DIFFERING = """
import sys
import numpy as np
print(int(np.unpackbits(np.load(sys.argv[1]) ^ np.load(sys.argv[2])).sum()))
"""


class Sandbox:
    """An environment, and a folder to work in, which others share.

    Args:
        folder: where all of it lies.
        name: of the environment.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.place, self.work = folder / name, folder / "work"
        self.work.mkdir(exist_ok=True)
        venv.create(self.place, with_pip=True)
        self.bin = self.place / ("Scripts" if os.name == "nt" else "bin")
        # else the source tree, or a cache with another model in it, could answer in the place of the wheel
        self.environment = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
        self.environment["PTS3H_CACHE"] = str(folder / "cache")
        self.empty = self._bytes()

    def install(self, wheel: Path, extras: str = "") -> None:
        """Install the wheel with some extras; say how much is there now."""
        wanted = f"{wheel}[{extras}]" if extras else str(wheel)
        constraints = str(PROJECT / "constraints.txt")
        self.run("python", "-m", "pip", "install", "--quiet", "--constraint", constraints, wanted)
        self.run("python", "-m", "pip", "check")
        megabytes = (self._bytes() - self.empty) / 1e6
        print(f"pts3h{f'[{extras}]' if extras else ''}: {megabytes:.0f} MB installed")
        assert megabytes <= MOST_MEGABYTES.get(extras, megabytes), f"at most {MOST_MEGABYTES[extras]} MB"

    def _bytes(self) -> int:
        return sum(path.lstat().st_size for path in self.place.rglob("*") if path.is_file())

    def run(self, program: str, *arguments: str) -> str:
        """What a program of the environment prints; its failure ends the trial."""
        done = self._done(program, *arguments)
        if done.returncode:
            said = done.stdout + done.stderr
            sys.exit(f"{program} {arguments[0]} failed with exit code {done.returncode}\n{said}")
        return done.stdout

    def refuses(self, *arguments: str, says: str) -> None:
        """A command that ends with one clear line."""
        done = self._done("pts3h", *arguments)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and says in done.stderr, done.stderr
        print(done.stderr, end="")

    def _done(self, program: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        if program != "python" or arguments[0] != "-c":
            print("$", program, *arguments, flush=True)
        command = [self.path(program), *arguments]
        return subprocess.run(command, cwd=self.work, env=self.environment, capture_output=True, text=True)

    def path(self, program: str) -> str:
        """Where a program of the environment is."""
        return str(shutil.which(program, path=str(self.bin)))

    def bill(self, file: Path) -> None:
        """Write the SBOM: all that was installed for the wheel, which is taken away: it is the subject."""
        self.run("python", "-m", "pip", "uninstall", "--quiet", "--yes", "pts3h")
        command = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible"]
        command += ["--pyproject", str(PROJECT / "pyproject.toml"), "--mc-type", "library", "-o", str(file)]
        subprocess.run([*command, self.path("python")], check=True)
        bill = json.loads(file.read_text())
        names = {part["name"].lower() for part in bill["components"]}
        assert bill["metadata"]["component"]["name"] == "pts3h" and {"torch", "numpy", "pillow"} <= names
        print(f"{file.name} lists what it brings: {len(names)} packages")


def try_whole(sandbox: Sandbox) -> None:
    """Everything a first user does; an assertion says what is wrong with the wheel."""
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
    sandbox.run("pts3h", "fit", "vectors.npy", "--pairs", "pairs.csv", "--out", "vectors.model", *small)
    sandbox.run("pts3h", "encode", "vectors.model", "vectors.npy", "--out", "codes.npy")
    sandbox.run("pts3h", "index", "vectors.model", "vectors.npy", "--to", "vectors.index")
    answers = json.loads(sandbox.run("pts3h", "search", "vectors.index", "vectors.npy", "-k", "5", "--json"))
    assert len(answers) == 90 and all(len(answer["hits"]) == 5 for answer in answers)
    assert all(answer["hits"][0]["distance"] == 0 for answer in answers), "an item is nearest to itself"
    judged = ("--relevant", "relevant.npy", "--json")
    figures = json.loads(sandbox.run("pts3h", "evaluate", "codes.npy", "codes.npy", "--bits", "32", *judged))
    assert figures["map"] > 0.8, f"three clouds apart should be told apart, got MAP {figures['map']:.3f}"
    print(f"the wheel works: {doctor['search']['level']} kernel, MAP {figures['map']:.3f}")

    of_pictures = ("--backbone", "small", "--freeze", "--image-size", "32", "--look-bits", "32", *small)
    sandbox.run("pts3h", "fit", "photos", "--out", "photos.model", "--no-check", "--no-report", *of_pictures)
    sandbox.run("pts3h", "encode", "photos.model", "photos", "--out", "photos.npy")
    missing = "exporting to ONNX needs onnxscript: pip install 'pts3h[onnx-export]'"
    sandbox.refuses("export", "photos.model", "--onnx", says=missing)


def try_light(sandbox: Sandbox, wheel: Path) -> None:
    """What a machine without torch does with what the other one made."""
    sandbox.install(wheel)
    sandbox.run("pts3h", "dedup", "vectors.index")
    sandbox.run("pts3h", "evaluate", "codes.npy", "codes.npy", "--bits", "32", "--relevant", "relevant.npy")
    sandbox.refuses("fit", "photos", "--out", "more", says="training needs torch: pip install 'pts3h[train]'")
    sandbox.refuses(
        "encode", "photos.model", "photos", "--out", "light.npy", says="pip install 'pts3h[onnx]'"
    )

    sandbox.install(wheel, "onnx")
    (sandbox.work / "photos.model" / "model.safetensors").unlink()
    sandbox.run("pts3h", "encode", "photos.model", "photos", "--out", "light.npy")
    differing = int(sandbox.run("python", "-c", DIFFERING, "photos.npy", "light.npy"))
    assert differing <= 3, f"{differing} of 5,760 bits are not torch's"
    sandbox.run("pts3h", "index", "photos.model", "photos", "--to", "photos.index")
    begun = time.perf_counter()
    found = json.loads(sandbox.run("pts3h", "search", "photos.index", "photos/07.png", "-k", "3", "--json"))
    print(
        f"a search from the shell took {time.perf_counter() - begun:.2f} s; {differing} bits are not torch's"
    )
    assert found[0]["hits"][0]["distance"] == 0

    sandbox.install(wheel, "onnx,web")
    serve(sandbox)
    installed = sandbox.run("python", "-m", "pip", "list", "--format", "freeze")
    assert "torch" not in installed


def serve(sandbox: Sandbox) -> None:
    """Search with a picture over HTTP."""
    command = [sandbox.path("pts3h"), "serve", "photos.index", "--model", "photos.model", "--port", "0"]
    print("$ pts3h", *command[1:], flush=True)
    with subprocess.Popen(
        command, cwd=sandbox.work, env=sandbox.environment, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        said = iter(server.stderr)
        try:
            url = next(found[1] for line in said if (found := re.search(r"at (http://\S+?)/?;", line)))
            picture = (sandbox.work / "photos" / "07.png").read_bytes()
            request = urllib.request.Request(
                f"{url}/api/search/picture", picture, {"Content-Type": "image/png"}
            )
            with urllib.request.urlopen(request, timeout=60) as answer:
                hits = json.load(answer)["hits"]
        finally:
            server.terminate()
    assert hits[0]["distance"] == 0
    print(f"the server found {len(hits)} pictures")


def main() -> None:
    """Try the wheel named on the command line, or the only one in the folder named there."""
    named = Path(sys.argv[1] if len(sys.argv) == 2 else "dist").resolve()
    wheels = sorted(named.glob("*.whl")) if named.is_dir() else [named]
    if len(wheels) != 1:
        sys.exit(f"there must be one wheel in {named}, found {len(wheels)}")
    with tempfile.TemporaryDirectory(prefix="pts3h-wheel-") as folder:
        whole, light = (Sandbox(Path(folder), name) for name in ("whole", "light"))
        whole.install(wheels[0], "train")
        try_whole(whole)
        whole.install(wheels[0], "onnx-export")
        whole.run("pts3h", "export", "photos.model", "--onnx")
        try_light(light, wheels[0])
        whole.bill(wheels[0].with_suffix(".cdx.json"))


if __name__ == "__main__":
    main()
