"""A collection of made-up pictures: as many as asked for, at once, and faults on demand."""

import functools
import io
import threading

import numpy as np
from PIL import Image, ImageDraw

KINDS = ["birds", "boats", "cats", "flowers", "houses", "mountains", "trains", "trees"]
BITS = 64
FIGURES = {
    "before": {"auc": 0.812, "error": 0.03, "pairs": 240, "items": 24},
    "after": {"auc": 0.903, "error": 0.02, "pairs": 240, "items": 24},
    "gain": 0.091,
    "error": 0.02,
}


class Stub:
    """What the made-up server knows."""

    def __init__(self, items, token=None):
        self.count, self.token = items, token
        rng = np.random.default_rng(0)
        self.kinds = rng.integers(len(KINDS), size=items)
        centres = rng.integers(0, 2, size=(len(KINDS), 2 * BITS))
        noise = rng.random((items, 2 * BITS)) < 0.12
        self.codes = centres[self.kinds] ^ noise
        self.ids = [f"{KINDS[kind]}/2026/IMG_{at:06}.jpg" for at, kind in enumerate(self.kinds)]
        self.place = {one: at for at, one in enumerate(self.ids)}
        self.events, self.groups, self.names = [], {}, {}
        self.overruled = []  # answers that newer ones contradict
        self.job, self.generation, self.lock = None, 0, threading.RLock()
        self.broken = {}  # path to (status, body): faults that a test asks for

    def item(self, at):
        at = int(at)
        return {
            "id": self.ids[at],
            "meta": {"kind": KINDS[self.kinds[at]], "year": 2000 + at % 26},
            "picture": True,
        }

    def counts(self):
        pairs = [event for event in self.events if event["kind"] == "pair"]
        unsure = sum(event.get("similar", event.get("group")) is None for event in self.events)
        return {
            "answers": len(self.events),
            "pairs": len(pairs),
            "alike": sum(event["similar"] is True for event in pairs),
            "not_alike": sum(event["similar"] is False for event in pairs),
            "unsure": unsure,
            "placed": sum(event["kind"] == "place" for event in self.events),
            "groups": len(self.groups),
        }

    def status(self):
        return {
            "name": "holiday",
            "version": "0",
            "items": self.count,
            "bits": BITS,
            "look_bits": BITS,
            "pictures": True,
            "by": ["both", "meaning", "look"],
            "generation": self.generation,
            "previous": self.generation > 0,
            "model": {"fingerprint": "0" * 16, "trained_at": None, "pairs": None, "check": []},
            "teach": True,
            "writes": "token" if self.token else "open",
            "counts": self.counts(),
            "limits": {
                "k": 1000,
                "window": 5000,
                "radius": 3 * BITS + BITS,
                "upload_bytes": 20_000_000,
                "queries": 32,
                "pixels": 50_000_000,
            },
            "job": self.job,
        }

    def distances(self, code, by):
        differ = self.codes != code
        meaning, look = differ[:, :BITS].sum(1), differ[:, BITS:].sum(1)
        return {"both": 3 * meaning + look, "meaning": meaning, "look": look}[by]

    def hits(self, code, asked):
        far = self.distances(code, asked.get("by", "both"))
        order = np.argsort(far, kind="stable")
        if (radius := asked.get("radius")) is not None:
            order = order[far[order] <= radius]
        if asked.get("where"):
            (condition,) = asked["where"]["and"]
            order = [
                at for at in order if self.item(at)["meta"].get(*condition) == next(iter(condition.values()))
            ]
        start, k = asked.get("offset", 0), asked.get("k", 24)
        page = order[start : start + k]
        hits = [{**self.item(at), "distance": int(far[at]), "code": self.hex(at)} for at in page]
        ended = start + k >= len(order)
        return {"took_ms": 1.2, "total": len(order) if ended else None, "hits": hits}

    def hex(self, at):
        return np.packbits(self.codes[at]).tobytes().hex()

    def bits_of(self, text):
        return np.unpackbits(np.frombuffer(bytes.fromhex(text), np.uint8))

    def explain(self, asked):
        mine = self.codes[self.place[asked["id"]]]
        theirs = self.bits_of(asked["code"]) if "code" in asked else self.codes[self.place[asked["other"]]]
        differ = np.flatnonzero(mine != theirs).tolist()
        far = {
            by: int(self.distances(theirs, by)[self.place[asked["id"]]]) for by in ("both", "meaning", "look")
        }
        near = [{"group": n, "name": self.names.get(n, ""), "similarity": 0.9} for n in list(self.groups)[:2]]
        return {
            "distance": far["both"],
            "by": far,
            "bits": [
                {
                    "bit": b,
                    "part": "meaning" if b < BITS else "look",
                    "mine": int(mine[b]),
                    "theirs": int(theirs[b]),
                }
                for b in differ
            ],
            "groups": near,
            "other_groups": near[:1],
        }

    def duplicates(self, asked):
        radius, offset, limit = (int(asked[name]) for name in ("radius", "offset", "limit"))
        total = 12 * (radius + 1) if radius < 16 else 0
        groups = []
        for at in range(offset, min(offset + limit, total)):
            ids = [self.ids[(at * 7 + copy * 3) % self.count] for copy in range(2 + at % 3)]
            facts = [
                {"id": one, "distance": place, "width": 4000 >> place, "height": 3000 >> place}
                | {"bytes": 3_200_000 >> place, "modified": 1768384800 + 2_678_400 * place}
                for place, one in enumerate(ids)
            ]
            groups.append(
                {"items": facts, "count": len(facts), "keep": ids[0 if asked["keep"] == "largest" else -1]}
            )
        return {"total": total, "by": "look", "radius": int(asked["radius"]), "groups": groups}

    def question(self, mode, skip):
        seen = {one for event in self.events for one in (event.get("item"), event.get("a"), event.get("b"))}
        free = (one for one in self.ids if one not in seen and one not in skip)
        helping = {"text": "Every answer still helps: go on.", "figure": None, "error": None, "stop": False}
        more = {"helping": helping, "why": "it stands for many items like it"}
        if mode == "pairs":
            a, b = next(free), next(free)
            ends = {name: self.item(self.place[one]) for name, one in (("a", a), ("b", b))}
            return {"mode": "pairs", **ends, "similarity": 0.5, **more}
        one = next(free, None)
        if one is None or len(self.events) >= 200:
            return {"done": True, "why": "Everything was asked. Train now."}
        groups = [
            {"group": n, "name": self.names.get(n, ""), "similarity": 0.5}
            | {"examples": [self.item(self.place[i]) for i in items[:6]]}
            for n, items in list(self.groups.items())[:9]
        ]
        return {
            "mode": "groups",
            "item": self.item(self.place[one]),
            "groups": groups,
            **more,
        }

    def answer(self, said):
        event = {"number": len(self.events) + 1, **said}
        if said["kind"] == "place":
            if said.get("new"):
                event["group"] = max(self.groups, default=0) + 1
            if event["group"] is not None:
                self.groups.setdefault(event["group"], []).append(said["item"])
        self.events.append(event)
        return event

    def undo(self):
        event = self.events.pop()
        if event["kind"] == "place" and event["group"] is not None:
            self.groups[event["group"]].remove(event["item"])
            if not self.groups[event["group"]]:
                del self.groups[event["group"]]
        return event

    def group_list(self):
        groups = [
            {"group": n, "name": self.names.get(n, ""), "items": items} for n, items in self.groups.items()
        ]
        return {"groups": groups, "counts": self.counts(), "overruled": self.overruled}

    def new_job(self):
        number = 1 if self.job is None else self.job["number"] + 1
        self.job = {
            "number": number,
            "state": "training",
            "step": 0,
            "steps": 200,
            "seconds_left": 8,
            "started": 1_768_384_800.0,
            "phase": "training",
            "error": None,
            "figures": None,
            "trained_on": {"answers": len(self.events), "items": 30, "pairs": 300},
        }
        return self.job

    def compare(self):
        queries = []
        for at in range(0, 8 * 5, 5):
            far = self.distances(self.codes[at], "both")
            before = [
                {**self.item(i), "distance": int(far[i])} for i in np.argsort(far, kind="stable")[1:17:2]
            ]
            after = [{**self.item(i), "distance": int(far[i])} for i in np.argsort(far, kind="stable")[1:9]]
            queries.append({"id": self.ids[at], "before": before, "after": after})
        return {"figures": FIGURES, "queries": queries}


@functools.lru_cache(4096)
def picture(kind, variant, size):
    """A made-up picture: kinds differ in colour and shape, variants in place and size."""
    rng = np.random.default_rng([kind, variant])
    hue = (kind * 255 // len(KINDS) + int(rng.integers(-8, 8))) % 256
    image = Image.new("HSV", (size, size), (hue, 70, 215))
    draw = ImageDraw.Draw(image)
    for part in range(3):
        x, y, r = (rng.random(3) * [0.8, 0.8, 0.25] + [0.1, 0.1, 0.12]) * size
        colour = ((hue + 20 * part + 10) % 256, 150, 120 + 40 * part)
        if kind % 2:
            draw.ellipse((x - r, y - r, x + r, y + r), fill=colour)
        else:
            draw.rectangle((x - r, y - r, x + r, y + r), fill=colour)
    out = io.BytesIO()
    image.convert("RGB").save(out, "JPEG", quality=80)
    return out.getvalue()
