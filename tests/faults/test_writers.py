"""Every writer, killed at any moment and on disks that fill up, turn read-only or fail.

A fault strikes at the n-th call that changes something, for every n (or many of them, where there are
thousands); kill -9 strikes at random moments too. What was acknowledged is there, what is there is right,
the next run works, and nothing is left over.
"""

import pytest

from tests.faults.shim import FAILING, FULL, KILL, READ_ONLY
from tests.faults.writers import WRITERS, Download
from tests.pictures import serving


@pytest.fixture(params=WRITERS, ids=lambda writer: writer.name)
def writer(request, zygote, place):
    made = request.param(zygote, place)
    if not isinstance(made, Download):
        yield made
        return
    (place / "www").mkdir()
    (place / "www" / "data.bin").write_bytes(made.content)
    with serving(place / "www") as address:
        yield made.serve(address)


def spread(rng, count, most):
    """The numbers from 1 to ``count``, or ``most`` of them."""
    numbers = range(1, count + 1)
    return numbers if count <= most else sorted(rng.sample(numbers, most))


def endure(writer, **how):
    """One try: the state before, a fault, what must hold, and the next run."""
    writer.begin()
    outcome = writer.disturbed(**how)
    writer.check(outcome)
    writer.age()
    writer.again()
    writer.check_end()
    return outcome


@pytest.mark.parametrize("fault", [KILL, FULL, READ_ONLY, FAILING], ids=lambda fault: fault.name)
def test_at_every_call(writer, fault, full, rng, tally):
    writer.begin()
    undisturbed = writer.disturbed(fault=fault)
    assert undisturbed.finished, undisturbed
    counted = tally(f"{fault.name}, at each call: {writer.name}")
    for number in spread(rng, undisturbed.seen, writer.tries if full else 2):
        with counted.trying(f"call {number} of {undisturbed.seen}"):
            outcome = endure(writer, fault=fault.at(number))
            if fault is KILL:
                assert outcome.killed or outcome.finished, outcome
            else:
                assert_said(outcome)


def assert_said(outcome):
    """The trouble was overcome, or said in one line: by an error of the library, or by the command line."""
    assert outcome.raised is None, outcome.raised
    if outcome.refused is not None:
        assert len(outcome.refused.splitlines()) == 1
    elif isinstance(outcome.returned, list) and outcome.returned and outcome.returned[0] == 2:
        lines = outcome.returned[1].splitlines()
        assert lines[-1].startswith("pts3h: ") and "Traceback" not in outcome.returned[1]


def test_at_random_moments(writer, full, rng, tally):
    writer.begin()
    seconds = writer.disturbed().seconds
    counted = tally(f"kill -9, at random moments: {writer.name}")
    for _ in range(min(writer.tries, 50) if full else 2):
        moment = rng.uniform(0, 1.05 * seconds)
        with counted.trying(f"after {moment:.4f} s"):
            outcome = endure(writer, kill_after=moment)
            assert outcome.killed or outcome.finished, outcome
