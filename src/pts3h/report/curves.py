"""The course of training as small charts, one per figure: their scales have nothing in common."""

import html
from collections.abc import Sequence

from ..util.markup import paragraph
from .chart import Chart, Line
from .course import THRESHOLD, Course

MEANINGS = {
    "loss": "what is minimised",
    "supervised": "the loss on known pairs",
    "consistent": "how far the student's similarities are from the teacher's",
    "quantized": "the loss on pairs as the teacher sees them",
    "classes": "how badly the codes tell the known classes",
    "guessed": "the same of the classes that the teacher is sure of",
    "quantization": "how far outputs are from -1 and +1",
    THRESHOLD: "thr: the cosine from which the teacher takes a pair for alike",
}


def curves(courses: Sequence[Course]) -> str:
    """One small chart per figure of the history."""
    if not courses:
        return paragraph("Nothing is stored of the course of training.")
    return (
        paragraph("Each point is the mean of neighbouring steps.")
        + f'<div class="curves">{"".join(map(curve, courses))}</div>'
    )


def curve(course: Course) -> str:
    """A chart with its caption."""
    first, last = course.values[0], course.values[-1]
    chart = Chart(
        f"{course.name} by step: from {first:.4g} to {last:.4g}",
        [Line("course", course.steps, course.values)],
        "step",
        "cosine" if course.name == THRESHOLD else "",
        width=300,
        height=190,
        from_zero=course.name != THRESHOLD,
    )
    meaning = MEANINGS.get(course.name)
    caption = html.escape(f", {meaning}" if meaning else "")
    return (
        f"<figure>{chart.svg()}<figcaption><b>{html.escape(course.name)}</b>{caption}</figcaption></figure>"
    )
