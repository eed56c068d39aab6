"""Models that the tests of this room share: made once, never changed."""

import pytest

from pts3h import load_model
from tests.model.models import SMALL, fitted
from tests.pictures import pictures


@pytest.fixture(scope="session")
def vector_model(tmp_path_factory):
    """Folder and model, of vectors of 6 numbers."""
    folder = tmp_path_factory.mktemp("vectors") / "model"
    fitted(look_bits=4).save(folder)
    return folder, load_model(folder)


@pytest.fixture(scope="session")
def picture_model(tmp_path_factory):
    """Folder and model, of pictures."""
    folder = tmp_path_factory.mktemp("pictures") / "model"
    fitted(pictures(40, side=20)[0], **SMALL).save(folder)
    return folder, load_model(folder)
