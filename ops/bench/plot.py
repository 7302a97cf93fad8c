"""Curves over one common axis, one panel above the other, as a self-contained SVG."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

WIDTH, HEIGHTS = 720, 110  # of a panel, from zero to its highest point
LEFT, RIGHT, TOP, GAP, BOTTOM = 16, 64, 44, 44, 40
TICKS_MAX = 12


class Panel(NamedTuple):
    """A curve, and the meaning of its heights."""

    what: str
    points: Sequence[tuple[float, float]]


def draw_plot(title: str, axis: str, panels: Sequence[Panel]) -> str:
    """The picture: every panel from zero to its highest point, the last height beside it."""
    longest = max(at for panel in panels for at, _ in panel.points)
    height = TOP + len(panels) * (HEIGHTS + GAP) + BOTTOM
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        draw_label(LEFT, 20, title, weight="bold"),
    ]
    for number, panel in enumerate(panels):
        drawn += draw_panel(panel, TOP + number * (HEIGHTS + GAP) + GAP // 2, longest)
    drawn += draw_axis(axis, height - BOTTOM, longest)
    return "\n".join([*drawn, "</svg>"]) + "\n"


def draw_panel(panel: Panel, top: float, longest: float) -> Iterator[str]:
    highest = max(height for _, height in panel.points)
    bottom, right = top + HEIGHTS, WIDTH - RIGHT
    places = " ".join(
        f"{place_across(at, longest):.1f},{bottom - HEIGHTS * height / (highest or 1):.1f}"
        for at, height in panel.points
    )
    yield draw_label(LEFT, top - 6, f"{panel.what}; {render_number(highest)} at the most")
    yield f'<path d="M{LEFT} {bottom}H{right}" stroke="#999" fill="none"/>'
    yield f'<polyline points="{places}" stroke="#06c" stroke-width="1.5" fill="none"/>'
    yield draw_label(right + 6, bottom, render_number(panel.points[-1][1]))


def draw_axis(axis: str, top: float, longest: float) -> Iterator[str]:
    step = max(1, -(-int(longest) // TICKS_MAX))
    for at in range(0, int(longest) + 1, step):
        yield draw_label(place_across(at, longest), top + 14, str(at))
    yield draw_label(LEFT, top + 32, axis)


def place_across(at: float, longest: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * at / (longest or 1)


def draw_label(x: float, y: float, text: str, weight: str = "normal") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-weight="{weight}">{escape(text)}</text>'


def render_number(height: float) -> str:
    return f"{height:,.0f}" if height >= 100 or height == int(height) else f"{height:.3g}"
