from xml.etree import ElementTree as ET

from ops.bench.plot import HEIGHTS, Panel, draw_plot

SVG = "{http://www.w3.org/2000/svg}"


def test_a_panel_reaches_from_zero_to_its_highest_point() -> None:
    [curve] = find_curves(Panel("lag", [(0, 0), (5, 40), (10, 20)]))
    (left, low), (_, high), (right, half) = curve
    assert (low - high, low - half) == (HEIGHTS, HEIGHTS / 2)
    assert left < right


def test_panels_share_the_axis_and_stand_one_above_the_other() -> None:
    long, short = find_curves(Panel("lag", [(0, 1), (10, 1)]), Panel("memory", [(0, 1), (5, 1)]))
    assert short[-1][0] == (long[0][0] + long[-1][0]) / 2
    assert short[0][1] > long[0][1]


def test_a_curve_that_never_rises_lies_on_the_ground() -> None:
    [curve] = find_curves(Panel("lag", [(0, 0), (1, 0)]))
    assert len({height for _, height in curve}) == 1


def test_words_are_words_whatever_they_hold() -> None:
    drawn = draw_plot("a < b & c", "days", [Panel("lag", [(0, 1)])])
    assert "a < b & c" in ET.fromstring(drawn).itertext()


def find_curves(*panels: Panel) -> list[list[tuple[float, float]]]:
    root = ET.fromstring(draw_plot("a plot", "days", panels))
    return [
        [(float(x), float(y)) for x, y in (place.split(",") for place in one.split())]
        for one in (line.attrib["points"] for line in root.iter(f"{SVG}polyline"))
    ]
