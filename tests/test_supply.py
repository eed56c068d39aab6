"""What is installed is what was tested: versions and digests are in step, and CI goes by them."""

import re
import subprocess
import sys

import pytest
import yaml
from tools import lock


def test_every_version_has_the_digests_of_its_files():
    assert lock.differences() == []
    text = (lock.LOCK.read_text() + lock.TORCH.read_text()).replace(lock.HEADER, "")
    entries = re.split(r"\n(?=\S)", text.strip())
    assert len(entries) == len(lock.versions(lock.VERSIONS.read_text()))
    for entry in entries:
        assert re.fullmatch(r"[\w.-]+==[\w.+]+(?: \\\n    --hash=sha256:[0-9a-f]{64})+", entry), entry[:80]


def test_a_version_that_was_changed_in_one_file_alone_is_named(tmp_path, monkeypatch, capsys):
    other = tmp_path / "constraints.txt"
    other.write_text(re.sub(r"(?m)^numpy==.*$", "numpy==0.0.1", lock.VERSIONS.read_text()))
    monkeypatch.setattr(lock, "VERSIONS", other)
    monkeypatch.setattr(sys, "argv", ["lock.py", "--check"])
    with pytest.raises(SystemExit, match=r"differ, run make lock: numpy==0\.0\.1, numpy=="):
        lock.main()


def test_pip_refuses_a_file_with_another_digest(tmp_path):
    (tmp_path / "pts3h_nothing-1.0-py3-none-any.whl").write_bytes(b"not the file that was tested")
    wanted = tmp_path / "wanted.txt"
    wanted.write_text(f"pts3h-nothing==1.0 --hash=sha256:{'0' * 64}\n")
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--no-index",
        "--find-links",
        str(tmp_path),
        "--dry-run",
    ]
    command += ["--require-hashes", "--no-deps", "--requirement", str(wanted)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode and "DO NOT MATCH THE HASHES" in done.stderr


def test_ci_installs_by_digest_and_audits():
    jobs = yaml.safe_load((lock.PROJECT / ".github/workflows/ci.yml").read_text())["jobs"]
    steps = {name: [step.get("run", "") for step in job["steps"]] for name, job in jobs.items()}
    assert any("--require-hashes" in step for step in steps["tests"])
    assert any(step.startswith("make audit") for step in steps["audit"])
    recipe = (lock.PROJECT / "Makefile").read_text()
    assert "--require-hashes --no-deps --requirement requirements.lock" in recipe
    assert "bandit" in recipe and "pip-audit --strict" in recipe
