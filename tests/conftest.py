"""What all tests share."""

import errno
import os
import subprocess

import pytest


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """Every test has an empty cache of its own, and leaves the user's alone."""
    monkeypatch.setenv("PTS3H_CACHE", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setenv("TORCH_HOME", str(tmp_path_factory.mktemp("torch")))


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
