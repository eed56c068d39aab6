"""docs/recipes/system.md, carried out: a system from outside the package, in a benchmark."""

import csv
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from pts3h import UserError
from pts3h.bench.cells import read_results
from pts3h.bench.matrix import run_matrix
from pts3h.bench.plan import Plan, Setup
from pts3h.bench.report import write_report
from pts3h.bench.sources import load_data, split_of
from pts3h.codes import pack
from pts3h.data.items import from_array
from pts3h.evaluation import evaluate
from pts3h.systems.system import Encoder, System, Task
from pts3h.systems.table import SYSTEMS
from tests.docs.world import make_world
from tests.recipes.own_system import MINE
from tests.recipes.pages import python_blocks, run_blocks
from tests.systems import problems


@pytest.fixture(autouse=True)
def ours_alone(monkeypatch):
    """Rows that a test introduces are gone after it."""
    monkeypatch.setattr(SYSTEMS, "_rows", dict(SYSTEMS._rows))


def random_signs(vectors, trained, bits, seed):
    """What the system should say, in double precision."""
    directions = np.random.default_rng(seed).normal(size=(vectors.shape[1], bits))
    return (vectors.astype(float) - vectors[trained].astype(float).mean(axis=0)) @ directions


def own_setup(folder, **changes):
    """The small problem as two files."""
    np.save(folder / "vectors.npy", problems.make_vectors())
    np.save(folder / "labels.npy", problems.TRUTH)
    return Setup(str(folder / "vectors.npy"), labels=str(folder / "labels.npy"), **changes)


def test_fitted_alone():
    training = problems.make_label_training()
    outputs, broken = MINE.fit(Task(training, bits=12, seed=3)).outputs(training.items)
    expected = random_signs(problems.make_vectors(), np.arange(problems.TRAINED), 12, 3)
    np.testing.assert_allclose(outputs, expected, rtol=1e-3, atol=1e-3)
    assert outputs.dtype == np.float32 and broken == {}


def test_compared_in_processes(tmp_path):
    with pytest.raises(UserError, match="there is no system 'random-signs'"):
        SYSTEMS.find("random-signs")
    plan = Plan(own_setup(tmp_path), methods=[MINE, "lsh"], bits=[12], label_counts=[50], runs=2)
    assert plan.names == ["random-signs", "lsh"] and SYSTEMS.own() == [MINE]
    folder = tmp_path / "results"
    assert run_matrix(plan, folder, workers=2, progress=False) == 0

    results = {(result["cell"].method, result["cell"].seed): result for result in read_results(folder)}
    assert {*results} == {(name, seed) for name in ("random-signs", "lsh") for seed in (0, 1)}
    setup = plan.setup
    data = load_data(setup.data_name, setup.place, setup.labels, setup.images)
    for seed in (0, 1):
        split = split_of(data, 50, seed)
        codes = pack(random_signs(problems.make_vectors(), split.database, 12, seed).astype(np.float32))
        labels = problems.TRUTH[split.queries], problems.TRUTH[split.database]
        report = evaluate(codes[split.queries], codes[split.database], labels=labels, bits=12)
        ours, theirs = results["random-signs", seed], results["lsh", seed]
        assert ours["split"] == theirs["split"] == split.digest(), "all systems see the same split"
        assert ours["map"] == pytest.approx(report.map, abs=1e-3)

    write_report(folder)
    for name in ("table.md", "table.tex", "report.html"):
        assert "Random signs" in (folder / name).read_text()
    rows = list(csv.DictReader((folder / "table.csv").read_text().splitlines()))
    means = {row["method"]: float(row["map"]) for row in rows}
    for name, mean in means.items():
        assert mean == pytest.approx(np.mean([results[name, seed]["map"] for seed in (0, 1)]), abs=1e-4)


def test_another_setup_is_refused_in_the_same_folder(tmp_path):
    asked = {"methods": [MINE], "bits": [12], "label_counts": [50], "runs": 1}
    run_matrix(Plan(own_setup(tmp_path), **asked), tmp_path / "results", workers=1, progress=False)
    with pytest.raises(UserError, match="holds runs with other images"):
        run_matrix(Plan(own_setup(tmp_path, images=200), **asked), tmp_path / "results", progress=False)


def test_a_class_of_its_own_but_no_name_of_ours():
    @dataclass(frozen=True, kw_only=True)
    class Signs(System):
        """A system without a function to learn: it does everything itself."""

        def fit(self, task):
            return Encoder(lambda items: (np.asarray(items.content)[:, : task.bits], {}))

    own = SYSTEMS.find(Signs(name="signs", label="Signs", kind="unsupervised"))
    training = problems.make_label_training()
    outputs, _ = SYSTEMS.find("signs").fit(Task(training, 8)).outputs(from_array(problems.make_vectors()))
    np.testing.assert_array_equal(outputs, problems.make_vectors()[:, :8])
    assert own.used(Task(training, 8)) is None
    with pytest.raises(UserError, match="there is a system called lsh already"):
        SYSTEMS.find(Signs(name="lsh", label="LSH", kind="unsupervised"))


def test_the_page_as_it_stands(tmp_path, capsys):
    module, alone, script = python_blocks("system.md")
    run_blocks("system.md", [module, alone])
    assert capsys.readouterr().out == "(100, 2)\n"
    make_world(tmp_path)
    (tmp_path / "own_system.py").write_text(module)
    (tmp_path / "compare.py").write_text(script)
    done = subprocess.run(
        [sys.executable, "compare.py"], cwd=tmp_path, capture_output=True, text=True, env=os.environ
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("MAP")
    assert len(list((tmp_path / "results" / "own").glob("*-seed*.json"))) == 4
    assert "Random signs" in (tmp_path / "results" / "own" / "report.html").read_text()


def test_the_page_shows_the_module_of_this_test():
    own = Path(__file__).with_name("own_system.py").read_text()
    assert own.partition("import numpy")[2] == python_blocks("system.md")[0].partition("import numpy")[2]
