"""Charts as inline SVG: they take their colours from the page, in the light and in the dark."""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

LEFT, RIGHT, TOP, BOTTOM = 52, 20, 12, 40  # room for the numbers and the names of the axes
TICKS = 5


@dataclass(frozen=True)
class Line:
    """A line of a chart.

    Attributes:
        style: its class in the style sheet.
        x: places along the axis.
        y: heights there.
        filled: whether the area below it is tinted.
    """

    style: str
    x: Sequence[float]
    y: Sequence[float]
    filled: bool = False


@dataclass(frozen=True)
class Chart:
    """Lines over two axes.

    Attributes:
        says: what a person who does not see it is told.
        lines: what is drawn.
        across: name of the horizontal axis.
        up: name of the vertical axis.
        width: in units of which a letter has 12.
        height: in the same.
        mark: a place on the horizontal axis with a name, such as a threshold.
        from_zero: whether the vertical axis starts at zero.
    """

    says: str
    lines: Sequence[Line]
    across: str
    up: str
    width: int = 420
    height: int = 240
    mark: tuple[float, str] | None = None
    from_zero: bool = True

    def svg(self) -> str:
        """The chart as an element of a page."""
        places = [x for line in self.lines for x in line.x]
        heights = [y for line in self.lines for y in line.y]
        up = ticks([*heights, 0.0] if self.from_zero else heights)
        x = Axis(min(places), max(places), LEFT, self.width - RIGHT)
        y = Axis(up[0], up[-1], self.height - BOTTOM, TOP)
        across = [place for place in ticks(places) if x.low <= place <= x.high]
        parts = [
            *(f'<path class="grid" d="M{LEFT} {y(v):.1f}H{self.width - RIGHT}"/>' for v in up),
            *(text(LEFT - 6, y(v) + 4, f"{v:,.6g}", "end") for v in up),
            *(text(x(v), self.height - BOTTOM + 16, f"{v:,.6g}") for v in across),
            *(drawn(line, x, y, self.height - BOTTOM) for line in self.lines),
            text((LEFT + self.width - RIGHT) / 2, self.height - 6, self.across),
            f'<text transform="translate(12 {(self.height - BOTTOM + TOP) / 2:.1f}) rotate(-90)" '
            f'text-anchor="middle">{html.escape(self.up)}</text>',
            *self._marked(x),
        ]
        return (
            f'<svg role="img" aria-label="{html.escape(self.says)}" '
            f'viewBox="0 0 {self.width} {self.height}">{"".join(parts)}</svg>'
        )

    def _marked(self, x: "Axis") -> list[str]:
        if self.mark is None or not x.low <= self.mark[0] <= x.high:
            return []
        at = x(self.mark[0])
        is_left = at < self.width / 2
        name = text(at + (5 if is_left else -5), TOP + 10, self.mark[1], "start" if is_left else "end")
        return [f'<path class="mark" d="M{at:.1f} {TOP}V{self.height - BOTTOM}"/>', name]


@dataclass(frozen=True)
class Axis:
    """Values → places: ``low`` is at ``start``, ``high`` at ``end``."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of a value."""
        return self.start + (value - self.low) / (self.high - self.low or 1.0) * (self.end - self.start)


def ticks(values: Sequence[float]) -> list[float]:
    """About five round numbers that enclose all values."""
    low, high = min(values), max(values)
    rough = (high - low or abs(high) or 1.0) / TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    # twelve digits: 3 * 0.1 is 0.30000000000000004
    return [float(f"{step * place:.12g}") for place in range(first, max(last, first + 1) + 1)]


def drawn(line: Line, x: Axis, y: Axis, floor: float) -> str:
    """A line, with the area below it where it is filled."""
    points = [f"{x(a):.1f} {y(b):.1f}" for a, b in zip(line.x, line.y, strict=True)]
    way = f"M{'L'.join(points)}"
    area = f"{way}V{floor}H{x(line.x[0]):.1f}Z"
    tint = f'<path class="{line.style} area" d="{area}"/>' if line.filled else ""
    return f'{tint}<path class="{line.style} line" d="{way}"/>'


def text(x: float, y: float, content: str, anchor: str = "middle") -> str:
    """A word on a chart."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(content)}</text>'
