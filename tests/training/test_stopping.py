"""Ctrl-C lets the step at hand finish."""

import os
import signal
import threading

import pytest

from pts3h.training.stopping import stop_signal


def press_ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


def test_the_first_is_noted_and_the_second_stops_at_once():
    with stop_signal() as stopping:
        assert not stopping.is_set()
        press_ctrl_c()
        assert stopping.is_set()
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()


@pytest.mark.parametrize("error", [None, RuntimeError])
def test_whoever_listened_before_does_so_again(error):
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append("mine"))
    try:
        if error is None:
            with stop_signal():
                press_ctrl_c()
        else:
            with pytest.raises(error), stop_signal():
                raise error
        assert heard == []
        press_ctrl_c()
        assert heard == ["mine"]
    finally:
        signal.signal(signal.SIGINT, before)


def test_another_thread_leaves_signals_alone():
    """Only the main thread may listen to them; training elsewhere works all the same."""
    before, found = signal.getsignal(signal.SIGINT), []

    def work():
        with stop_signal() as stopping:
            found.append((stopping.is_set(), signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [(False, before)]


def test_torchrun_says_it_twice_and_by_another_signal():
    """A terminal tells all processes, and torchrun tells them again: the step is finished all the same."""
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    for number in (signal.SIGTERM, signal.SIGINT):
        with stop_signal(by_torchrun=True) as stopping:
            assert not stopping.is_set()
            for _ in range(3):
                os.kill(os.getpid(), number)
                assert stopping.is_set()
    assert before == (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT))


def test_sigterm_is_left_alone_without_torchrun():
    before = signal.getsignal(signal.SIGTERM)
    with stop_signal():
        assert signal.getsignal(signal.SIGTERM) is before
