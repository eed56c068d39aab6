"""What a fit says of its own model."""

import pytest

from pts3h.model.verdict import verdict

CHECK = {"by": "pairs", "pairs": 28, "trained": 0.91, "untrained": 0.74, "kept": "trained"}
CROWD = {"items": 1000, "distinct": 900, "largest": 4}


def said(**summary):
    return " ".join(verdict(summary))


def test_what_was_assumed():
    shared = {"estimated_share": 0.1}
    assert "learned from neighbours alone" in said(known_pairs=0, similar_share=0.0, **shared)
    assert "All 9 pairs are alike" in said(known_pairs=9, similar_share=1.0, **shared)
    assert "All 9 pairs are not alike" in said(known_pairs=9, similar_share=0.0, **shared)
    assert "10% were taken for alike, as the known" in said(known_pairs=9, similar_share=0.5, **shared)
    assert "taken for alike" not in said(labelled_items=9, similar_share=0.5)


def test_what_was_measured():
    assert said(check=CHECK) == (
        "On 28 known pairs that were kept back: an alike pair is nearer than another in 91% of cases, in 74% "
        "without training."
    )
    assert "a pair of neighbours is nearer" in said(check={**CHECK, "by": "neighbours"})
    assert "Training did not help" in said(check={**CHECK, "kept": "untrained"})
    assert "900 distinct codes for 1,000 items; the commonest stands for 4." in said(check=CROWD)
    assert verdict({"check": CROWD}, counts=False) == []


@pytest.mark.parametrize(
    ("summary", "advice"),
    [
        ({"known_pairs": 99, "check": CROWD}, "More pairs would help"),
        ({"known_pairs": 100, "check": CROWD}, None),
        ({"known_pairs": 100, "check": {**CHECK, "kept": "untrained"}}, "More alike pairs would help"),
        ({"known_pairs": 100, "check": {**CROWD, "distinct": 499}}, "--look-bits"),
        ({"known_pairs": 100, "look_bits": 32, "check": {**CROWD, "distinct": 499}}, None),
        ({"labelled_items": 50}, None),
    ],
)
def test_what_would_help(summary, advice):
    text = said(**summary)
    assert (
        advice in text
        if advice
        else ("help" not in text.replace("did not help", "") and "--look" not in text)
    )
