"""The compiled kernel. Without a compiler the package installs too, and searches with faiss or numpy."""

import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup

FOLDER = Path("src/pts3h/kernel/c")
FLAGS = ["/O2"] if sys.platform == "win32" else ["-O3", "-std=c11", "-fvisibility=hidden"]
# One wheel serves Python 3.11 and later. Only a Python without the interpreter lock has no stable ABI.
STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")

setup(
    ext_modules=[
        Extension(
            "pts3h.kernel._kernel",
            sorted(str(path) for path in FOLDER.glob("*.c")),
            depends=[str(path) for path in FOLDER.glob("*.h")],
            define_macros=[("Py_LIMITED_API", "0x030B0000")] if STABLE else [],
            extra_compile_args=FLAGS,
            optional=True,
            py_limited_api=STABLE,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {},
)
