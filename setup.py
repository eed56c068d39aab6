"""The compiled kernel. Without a compiler the package installs too, and searches with faiss or numpy."""

import sys

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "pts3h.kernel._kernel",
            ["src/pts3h/kernel/_kernel.c"],
            depends=["src/pts3h/kernel/scan.h"],
            extra_compile_args=["/O2"] if sys.platform == "win32" else ["-O3", "-std=c11"],
            optional=True,
        )
    ]
)
