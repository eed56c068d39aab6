"""The browser that the tests of the page drive: Chromium of the system, found or installed.

    python tools/browser.py

As root on Debian or Ubuntu, it is installed if it is missing. Elsewhere it says what to do.
"""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = (
    "the tests of the page need Chromium: run `apt-get install chromium` as root, or set "
    "CHROMIUM to the path of a Chromium or Chrome"
)


def chromium() -> str | None:
    """The path of a Chromium, if there is one."""
    if path := os.environ.get("CHROMIUM"):
        return path
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def install() -> None:
    """Install it by the system's own package manager."""
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (["update"], ["install", "--yes", "--no-install-recommends", "chromium", "fonts-liberation"]):
        subprocess.run(["apt-get", "--quiet", "--quiet", *step], check=True, env=quiet)


def main() -> None:
    """Find it, or install it, or say how to."""
    if chromium() is None and os.name == "posix" and os.geteuid() == 0 and shutil.which("apt-get"):
        install()
    if (path := chromium()) is None:
        sys.exit(MISSING)
    print(f"the tests of the page drive {path}")


if __name__ == "__main__":
    main()
