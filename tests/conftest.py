"""What all tests share."""

import errno
import os
import signal
import subprocess

import hypothesis
import pytest

from tests.faults.tally import (  # noqa: F401  (hooks: the table of faults at the end of a run)
    pytest_addoption,
    pytest_configure,
    pytest_runtest_logreport,
    pytest_terminal_summary,
)

# Nothing here depends on a quick machine. Every machine tries the same examples; make fuzz tries new ones.
hypothesis.settings.register_profile("unhurried", deadline=None, derandomize=True)
hypothesis.settings.load_profile("unhurried")

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # tests import onnxruntime themselves, too

if "PYTEST_XDIST_WORKER" in os.environ:  # one core each: more threads only wait for each other
    os.environ.setdefault("OMP_NUM_THREADS", "1")

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # as a shell starts jobs in the background; children inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)  # before xdist looks at the groups
def pytest_collection_modifyitems(items):
    """All that talks to one server runs in one process, and so does all that needs exported models."""
    for item in items:
        for fixture in {"milvus_server", "postgres_server", "exported"} & {*item.fixturenames}:
            item.add_marker(pytest.mark.xdist_group(fixture))


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """Every test has an empty cache of its own, and leaves the user's alone."""
    monkeypatch.setenv("PTS3H_CACHE", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setenv("TORCH_HOME", str(tmp_path_factory.mktemp("torch")))


@pytest.fixture
def exported(tmp_path):
    """Makes a model folder with its ONNX file, of one of the kinds in tests/model/exported.py."""
    from tests.model.exported import copied

    return lambda kind: copied(kind, tmp_path / "model")


@pytest.fixture
def small_disk(tmp_path, monkeypatch):
    """A folder on a disk of 64 KiB; where nothing may be mounted, system calls that find the disk full."""
    folder = tmp_path / "small disk"
    folder.mkdir()
    try:
        mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):

        def full_if_used(call):
            def act(*arguments):
                if any(folder.iterdir()):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                return call(*arguments)

            return act

        for name in ("fsync", "posix_fallocate"):
            monkeypatch.setattr(os, name, full_if_used(getattr(os, name)))
        yield folder
    else:
        yield folder
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
