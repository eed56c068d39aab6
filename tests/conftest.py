"""What all tests share."""

import pytest


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """Every test has an empty cache of its own, and leaves the user's alone."""
    monkeypatch.setenv("PTS3H_CACHE", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setenv("TORCH_HOME", str(tmp_path_factory.mktemp("torch")))
