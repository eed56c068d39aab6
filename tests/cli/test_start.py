"""Where the command line starts."""

import subprocess
import sys

import pytest

TELL = (
    "import gc, os, sys; from pts3h.cli.start import main\n"
    "told = ['numpy' in sys.modules]\n"
    "sys.argv = ['pts3h', *{arguments!r}]\n"
    "try: main()\n"
    "except SystemExit: told += [gc.isenabled(), os.environ['OPENBLAS_THREAD_TIMEOUT']]\n"
    "sys.stderr.write(repr(told))"
)


def told(monkeypatch, *arguments, timeout=None):
    """Whether numpy came too early, whether garbage is looked for, and what threads of numpy are told."""
    monkeypatch.delenv("OPENBLAS_THREAD_TIMEOUT", raising=False)
    if timeout is not None:
        monkeypatch.setenv("OPENBLAS_THREAD_TIMEOUT", timeout)
    code = TELL.format(arguments=arguments)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr


def test_a_command_runs_with_garbage_collection(monkeypatch):
    assert told(monkeypatch, "cache") == "[False, True, '20']"


@pytest.mark.parametrize("timeout", ["26", ""])
def test_what_the_user_set_stays(monkeypatch, timeout):
    assert told(monkeypatch, "--version", timeout=timeout) == f"[False, False, {timeout!r}]"
