"""What torchrun says in the environment."""

import pytest

from pts3h.util.torchrun import own_rank, several_processes


@pytest.mark.parametrize(
    ("environment", "several"),
    [
        ({}, False),
        ({"WORLD_SIZE": "2"}, False),  # another launcher's
        ({"TORCHELASTIC_RUN_ID": "1", "WORLD_SIZE": "1"}, False),
        ({"TORCHELASTIC_RUN_ID": "1", "WORLD_SIZE": "2"}, True),
    ],
)
def test_several_processes(monkeypatch, environment, several):
    for name in ("TORCHELASTIC_RUN_ID", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert several_processes() is several


def test_own_rank(monkeypatch):
    monkeypatch.setenv("RANK", "3")
    assert own_rank() == 3
