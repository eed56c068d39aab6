"""What the tests of faults share: a place on a quick disk, the tally, a process that starts victims."""

import random
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.faults.shim import build
from tests.faults.tally import Tally
from tests.faults.zygote import Zygote

IN_MEMORY = Path("/dev/shm")


@pytest.hookimpl(tryfirst=True)  # before xdist looks at the groups
def pytest_collection_modifyitems(items, config):
    """A few tries are no work for several zygotes, each of which takes seconds to begin."""
    if config.getoption("--faults") == "short":
        for item in items:
            if "zygote" in item.fixturenames:
                item.add_marker(pytest.mark.xdist_group("faults"))


@pytest.fixture(scope="session")
def full(request):
    """Whether all faults are tried, or a part of them."""
    return request.config.getoption("--faults") == "full"


@pytest.fixture
def rng(request):
    """Random moments: the same for the same test and seed."""
    return random.Random(f"{request.node.name} {request.config.getoption('--seed')}")


@pytest.fixture
def tally(request):
    """Begins the tally of a fault. In the end, all its tries must have survived."""
    begun = []

    def begin(fault):
        begun.append(Tally(fault))
        return begun[-1]

    yield begin
    request.node.user_properties += [("fault", one.row()) for one in begun]
    failed = [what for one in begun for _, what in one.failed]
    if failed:
        pytest.fail(f"{len(failed)} tries ended badly, the first:\n" + "\n".join(failed[:9]), pytrace=False)


@pytest.fixture
def place():
    """A folder in memory where there is one: thousands of writes are synced in no time."""
    folder = Path(tempfile.mkdtemp(prefix="faults-", dir=IN_MEMORY if IN_MEMORY.is_dir() else None))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def zygote(tmp_path_factory):
    """A process that has everything imported, and forks victims."""
    library = build(tmp_path_factory.mktemp("shim"))
    with Zygote(library) as running:
        yield running
