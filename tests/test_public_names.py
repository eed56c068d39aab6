"""The public names are few, and stay."""

import inspect
import subprocess
import sys

import pytest

import pts3h

NAMES = [
    "BrokenImage",
    "CollapseWarning",
    "Diverged",
    "Hasher",
    "Hits",
    "Index",
    "Interrupted",
    "Model",
    "Report",
    "SkippedWarning",
    "UserError",
    "evaluate",
    "export_index",
    "hamming",
    "import_index",
    "load_model",
    "open_index",
    "pack",
    "unpack",
]

SETTINGS = """
bits look_bits loss seed omega gamma eta consistency alpha similar_share neighbours fade classes pseudo
divide labelled_per_batch unlabelled_per_batch steps epochs optimizer learning_rate backbone_rate
momentum weight_decay clip warmup lead ramp
backbone weights freeze warm_start fixed_blocks fixed_norm hidden dropout image_size code_size mirror views
crop flip jitter noise drop device precision compile
"""


def test_pinned():
    assert pts3h.__all__ == NAMES
    assert dir(pts3h) == sorted([*NAMES, "__version__"])
    assert all(getattr(pts3h, name).__module__.startswith("pts3h.") for name in NAMES)


def test_every_public_name_is_explained():
    assert all(inspect.getdoc(getattr(pts3h, name)) for name in NAMES)


def test_a_hasher_has_these():
    public = {name for name in vars(pts3h.Hasher) if not name.startswith("_")}
    methods = "encode fit from_settings load outputs save"
    properties = "bits fingerprint history model used"
    assert public == {*methods.split(), *properties.split()}
    assert {"settings", "skipped", "trials"} <= set(vars(pts3h.Hasher()))


def test_a_model_has_these():
    public = {name for name in dir(pts3h.Model) if not name.startswith("_")}
    assert public == {"bits", "encode", "fingerprint", "layout", "networks", "outputs", "used", "width"}


@pytest.mark.parametrize(
    ("function", "keywords"),
    [
        (
            "Hasher.fit",
            "pairs labels transitive check unlabelled validation grid out resume overwrite tensorboard "
            "watch judge progress",
        ),
        ("Hasher.encode", "network progress"),
        ("Hasher.outputs", "network progress"),
        ("Hasher.save", "overwrite"),
        ("Hasher.load", "backbone loss"),
        ("Model.encode", "network keep progress"),
        ("Model.outputs", "network progress"),
    ],
)
def test_keywords(function, keywords):
    name, method = function.split(".")
    parameters = inspect.signature(getattr(getattr(pts3h, name), method)).parameters.values()
    assert [p.name for p in parameters if p.kind is p.KEYWORD_ONLY] == keywords.split()


def test_settings_are_the_keywords_of_a_hasher():
    parameters = inspect.signature(pts3h.Hasher).parameters.values()
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters)
    assert [parameter.name for parameter in parameters] == SETTINGS.split()


def test_unknown_names():
    with pytest.raises(AttributeError, match="no attribute 'Hash'"):
        pts3h.Hash  # noqa: B018


@pytest.mark.parametrize(
    "code",
    [
        "import pts3h",
        "import pts3h; pts3h.pack([[1, -1]]); pts3h.hamming; pts3h.evaluate",
        "import pts3h; pts3h.open_index; pts3h.export_index; pts3h.import_index",
        "from pts3h.cli.app import main\ntry: main()\nexcept SystemExit: pass",
    ],
    ids=["import", "codes", "indexes", "help"],
)
def test_no_torch_where_it_is_not_needed(code):
    heavy = (
        "torch",
        "faiss",
        "pymilvus",
        "psycopg",
        "matplotlib",
        "PIL",
        "sklearn",
        "pyarrow",
        "apsw",
        "pandas",
    )
    check = f"{code}\nimport sys; print([name for name in {heavy} if name in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
