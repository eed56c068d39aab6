"""Write requirements.lock: every version of constraints.txt with the sha256 of all its published files.

    python tools/lock.py [--check]

``pip install --require-hashes`` then takes these files and no others, on every platform. ``--check`` writes
nothing, needs no network, and says whether the versions in the two files are the same.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
VERSIONS, LOCK = PROJECT / "constraints.txt", PROJECT / "requirements.lock"
HEADER = """\
# Made from constraints.txt by `make lock`: the sha256 of every published file of each version.
# torch has one more, of its CPU build for Python 3.11 on Linux, x86-64, which the registry does not have.
"""
# From another place than the registry, so that no tool finds its digest.
CPU_TORCH = "6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"
COMPILE = ["--no-deps", "--universal", "--python-version=3.11", "--generate-hashes", "--no-header"]


def published() -> str:
    """What uv finds in the registry: each version and the digests of its files."""
    # --no-config and the default index: what is written must not depend on this machine
    command = [sys.executable, "-m", "uv", "--no-config", "--quiet", "pip", "compile", str(VERSIONS)]
    done = subprocess.run([*command, *COMPILE, "--no-annotate"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"uv found no files for some version of {VERSIONS.name}:\n{done.stderr}")
    return done.stdout


def versions(text: str) -> set[str]:
    """``name==version`` of every line that has one, names as the registry compares them."""
    found = re.findall(r"^([\w.-]+)==([^\s;\\]+)", text, re.MULTILINE)
    return {f"{re.sub('[-_.]+', '-', name).lower()}=={version}" for name, version in found}


def differences() -> list[str]:
    """Versions that only one of the two files has."""
    return sorted(versions(VERSIONS.read_text()) ^ versions(LOCK.read_text()))


def main() -> None:
    """Write the file, or compare."""
    parser = argparse.ArgumentParser(description="Write requirements.lock, or check it.")
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        text = published()
        first = re.search(r"^torch==\S+.*\n", text, re.MULTILINE)
        if first is None:
            sys.exit(f"{VERSIONS.name} names no torch")
        text = text.replace(first[0], f"{first[0]}    --hash=sha256:{CPU_TORCH} \\\n")
        LOCK.write_text(HEADER + text)
    if wrong := differences():
        sys.exit(f"{VERSIONS.name} and {LOCK.name} differ, run make lock: {', '.join(wrong)}")
    print(f"{LOCK.name} has the digests of every version in {VERSIONS.name}")


if __name__ == "__main__":
    main()
