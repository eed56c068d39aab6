"""The compiled kernel. Without a compiler the package installs too, and searches with faiss or numpy."""

import sys
from pathlib import Path

from setuptools import Extension, setup

FOLDER = Path("src/pts3h/kernel/c")
FLAGS = ["/O2"] if sys.platform == "win32" else ["-O3", "-std=c11", "-fvisibility=hidden"]

setup(
    ext_modules=[
        Extension(
            "pts3h.kernel._kernel",
            sorted(str(path) for path in FOLDER.glob("*.c")),
            depends=[str(path) for path in FOLDER.glob("*.h")],
            extra_compile_args=FLAGS,
            optional=True,
        )
    ]
)
