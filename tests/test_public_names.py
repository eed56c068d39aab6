"""The public names are few, and stay."""

import inspect
import subprocess
import sys

import pytest

import pts3h

NAMES = ["Hasher", "Report", "UserError", "evaluate", "hamming", "open_index", "pack", "unpack"]


def test_pinned():
    assert pts3h.__all__ == NAMES
    assert dir(pts3h) == sorted([*NAMES, "__version__"])
    assert all(getattr(pts3h, name).__module__.startswith("pts3h.") for name in NAMES)


def test_every_public_name_is_explained():
    assert all(inspect.getdoc(getattr(pts3h, name)) for name in NAMES)


def test_a_hasher_has_these():
    public = {name for name in vars(pts3h.Hasher) if not name.startswith("_")}
    assert public == {"bits", "encode", "fingerprint", "fit", "history", "load", "model", "outputs", "save"}


@pytest.mark.parametrize(
    ("function", "keywords"),
    [
        (
            "Hasher.fit",
            "pairs labels unlabelled validation grid out resume overwrite tensorboard progress",
        ),
        ("Hasher.encode", "network progress"),
        ("Hasher.save", "overwrite"),
    ],
)
def test_keywords(function, keywords):
    name, method = function.split(".")
    parameters = inspect.signature(getattr(getattr(pts3h, name), method)).parameters.values()
    assert [p.name for p in parameters if p.kind is p.KEYWORD_ONLY] == keywords.split()


def test_unknown_names():
    with pytest.raises(AttributeError, match="no attribute 'Hash'"):
        pts3h.Hash  # noqa: B018


@pytest.mark.parametrize(
    "code",
    [
        "import pts3h",
        "import pts3h; pts3h.pack([[1, -1]]); pts3h.hamming; pts3h.evaluate",
        "from pts3h.cli.app import main\ntry: main()\nexcept SystemExit: pass",
    ],
    ids=["import", "codes", "help"],
)
def test_no_torch_where_it_is_not_needed(code):
    heavy = ("torch", "faiss", "pymilvus", "matplotlib", "PIL", "sklearn")
    check = f"{code}\nimport sys; print([name for name in {heavy} if name in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
