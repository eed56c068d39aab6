"""What a fit found out about its own model, in plain words."""

from collections.abc import Mapping
from typing import Any

FEW_PAIRS = 100
CROWDED = 0.5  # distinct codes per item, below which look bits are worth a word


def verdict(summary: Mapping[str, Any], *, counts: bool = True) -> list[str]:
    """Sentences from a model's summary: what was assumed, what was measured, what would help.

    Args:
        summary: of the model.
        counts: say how many codes are distinct, too.
    """
    check: Mapping[str, Any] = summary.get("check", {})
    lines = [assumed(summary)] if "estimated_share" in summary else []
    if "trained" in check:
        lines.append(measured(check))
    if check.get("kept") == "untrained":
        lines.append("Training did not help, so the model makes codes without training.")
    if counts and "distinct" in check:
        lines.append(
            f"{check['distinct']:,} distinct codes for {check['items']:,} items; "
            f"the commonest stands for {check['largest']:,}."
        )
    return lines + advice(summary)


def assumed(summary: Mapping[str, Any]) -> str:
    """What was taken for granted of pairs that nobody marked."""
    pairs, share = summary.get("known_pairs", 0), summary["estimated_share"]
    if not pairs:
        return "No pair is known: it learned from neighbours alone."
    kind = {0.0: "not alike", 1.0: "alike"}.get(summary["similar_share"])
    if kind is not None:
        return f"All {pairs:,} pairs are {kind}: of all other pairs, {share:.0%} were taken for alike."
    return f"Of all other pairs, {share:.0%} were taken for alike, as the known ones suggest."


def measured(check: Mapping[str, Any]) -> str:
    """How training did on what it had not seen."""
    on, what = {
        "pairs": ("known pairs that were kept back", "an alike pair"),
        "neighbours": ("pairs of items that it had not seen", "a pair of neighbours"),
    }[check["by"]]
    return (
        f"On {check['pairs']:,} {on}: {what} is nearer than another in {check['trained']:.0%} of cases, "
        f"in {check['untrained']:.0%} without training."
    )


def advice(summary: Mapping[str, Any]) -> list[str]:
    """What would help, if anything."""
    check, pairs = summary.get("check", {}), summary.get("known_pairs")
    lines = []
    if pairs is not None and pairs < FEW_PAIRS:
        lines.append("More pairs would help: some dozen alike ones of every kind that you tell apart.")
    elif check.get("kept") == "untrained":
        lines.append("More alike pairs would help, if kinds can be told apart by these items at all.")
    if not summary.get("look_bits") and check.get("distinct", 0) < CROWDED * check.get("items", 0):
        lines.append("Many items share a code: with --look-bits 64 their look tells them apart.")
    return lines
