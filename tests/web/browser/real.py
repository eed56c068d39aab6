"""The real server, in a process of its own, on a small collection; and a person who knows each picture."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
from PIL import Image
from playwright.sync_api import expect

import pts3h
from pts3h.data.items import read_items
from pts3h.indexing import index_items
from tests.pictures import KINDS, picture
from tests.web.browser.conftest import of

QUICK = {"steps": 300, "hidden": 16, "views": 1, "image_size": 32}
SECONDS = 120  # that a process may take to begin


def make_collection(folder: Path, count: int) -> Path:
    """Pictures in a folder per kind, a model that was fitted without pairs, an index; returns its address."""
    rng = np.random.default_rng(0)
    for number in range(count):
        kind = number % len(KINDS)
        (folder / "photos" / KINDS[kind]).mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture(kind, rng, 96)).save(folder / "photos" / KINDS[kind] / f"{number:03}.png")
    hasher = pts3h.Hasher(bits=16, look_bits=16, **QUICK)
    hasher.fit(folder / "photos", out=folder / "model", check=False, progress=False)
    with pts3h.open_index(folder / "photos.index", 16, look_bits=16, model=hasher.fingerprint) as index:
        index_items(hasher.model, read_items(folder / "photos"), index, progress=False)
    return folder / "photos.index"


class RealServer:
    """``pts3h serve`` on an index."""

    def __init__(self, index: Path, model: Path) -> None:
        self.index, self.model, self.port = index, model, 0
        self.start()

    def start(self) -> None:
        """Again at the same address, if there was one."""
        command = [sys.executable, "-m", "pts3h", "serve", str(self.index), "--model", str(self.model)]
        log = self.index.parent / "serve.log"
        with log.open("ab") as out:
            begun = out.tell()
            self.process = subprocess.Popen(
                [*command, "--port", str(self.port)], stdout=out, stderr=out, start_new_session=True
            )
        until = time.monotonic() + SECONDS
        while time.monotonic() < until and self.process.poll() is None:
            text = log.read_bytes()[begun:].decode()
            if said := re.search(r"at (http://127\.0\.0\.1:(\d+)/)", text):
                self.url, self.port = said[1], int(said[2])
                return
            time.sleep(0.05)
        raise AssertionError(f"the server did not start: {text}")

    def kill(self) -> None:
        """As if the power went."""
        self.process.kill()
        self.process.wait()

    def job(self) -> int:
        """The process that trains."""
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            for entry in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    words = entry.read_bytes().decode().split("\0")
                except OSError:
                    continue
                if "pts3h.web.job" in words and any(str(self.index) in word for word in words):
                    return int(entry.parent.name)
            time.sleep(0.05)
        raise AssertionError("no job is running")

    def stop(self) -> None:
        """In order; the server ends its job."""
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(60)
        finally:
            self.process.kill()
            self.process.wait()


def kill_now(process: int) -> None:
    """Kill a process of ours."""
    os.kill(process, signal.SIGKILL)


def kind_of(name: str) -> str:
    """The folder says what is in the picture."""
    return name.split("/")[0]


def shown_in(source: str) -> str:
    """The item that an address of a picture is about."""
    return parse_qs(urlsplit(source).query)["id"][0]


def answer_by_key(page, most: int, kind_of: Callable[[str], str] = kind_of) -> int:
    """Answers up to ``most`` questions by key, as one who knows every kind; returns how many were asked."""
    for number in range(most):
        question = of(page, "question")
        if of(page, "done").count():
            return number
        asked = question.get_attribute("data-item")
        sources = page.locator(".card").evaluate_all(
            "cards => cards.map((card) => card.querySelector('img').src)"
        )
        kinds = [kind_of(shown_in(source)) for source in sources]
        kind = kind_of(asked)
        page.keyboard.press(str(kinds.index(kind) + 1) if kind in kinds else "0")
        page.wait_for_function(
            "asked => document.querySelector('[data-test=question]')?.dataset.item !== asked", arg=asked
        )
    return most


def train_to_the_end(page, seconds: int = SECONDS) -> None:
    """From the first button to the comparison."""
    page.get_by_role("link", name="Train", exact=True).click()
    of(page, "start").click()
    expect(of(page, "compare")).to_be_visible(timeout=seconds * 1000)
