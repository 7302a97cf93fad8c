"""The graph of writers, topics and readers: writers on the left, topics in the middle, readers on
the right.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from contracts.catalogue.knowledge import Knowledge
from contracts.catalogue.markup import Html, join, render_element
from contracts.shape import Contract

WIDTH, TOP, ROW, HEIGHT = 1_060, 34, 34, 26
WRITERS, TOPICS, READERS = 0, 355, 890
PARTY_WIDTH, TOPIC_WIDTH = 170, 350
TEXT_DOWN, TEXT_IN = 17, 12
BEND = 0.5


class Node(NamedTuple):
    """A box, its place, and its name in classes."""

    key: str
    label: str
    x: float
    y: float
    width: int
    address: str
    classes: str


Edges = Sequence[tuple[str, str]]


def render_graph(known: Knowledge, contracts: Iterable[Contract], base: str = "") -> Html:
    """The graph of these contracts; addresses begin at the base."""
    drawn = list(contracts)
    wrote = [(who, one.name) for one in drawn for who in known.find_writers(one)]
    read = [(one.name, who) for one in drawn for who in known.find_readers(one)]
    rows = {one.name: number for number, one in enumerate(drawn)}
    left = _order_by_middle({who for who, _ in wrote}, [(who, rows[topic]) for who, topic in wrote])
    right = _order_by_middle({who for _, who in read}, [(who, rows[topic]) for topic, who in read])
    tallest = max(len(left), len(drawn), len(right))
    nodes = {
        **_place_column("w", left, WRITERS, tallest, known, base),
        **_place_column("r", right, READERS, tallest, known, base),
        **{
            one.name: _place_topic(
                known, one, TOP + (tallest - len(drawn)) * ROW / 2 + at * ROW, base
            )
            for at, one in enumerate(drawn)
        },
    }
    hues = {one.name: known.get_hue(one) for one in drawn}
    lines = [_render_edge(nodes[f"w-{who}"], nodes[topic], hues[topic]) for who, topic in wrote]
    lines += [_render_edge(nodes[topic], nodes[f"r-{who}"], hues[topic]) for topic, who in read]
    return render_element(
        "div",
        render_element(
            "svg",
            _render_head("written by", WRITERS),
            _render_head("topics and views", TOPICS),
            _render_head("read by", READERS),
            render_element("g", *lines),
            *map(_render_box, nodes.values()),
            viewBox=f"0 0 {WIDTH} {TOP + tallest * ROW}",
            role="group",
            aria_label="who writes and who reads each topic",
        ),
        class_="graph scrolls",
        tabindex="0",
    )


def name_class(name: str) -> str:
    """A name as part of a class."""
    return name.replace(".", "-")


def render_highlights(known: Knowledge) -> str:
    """The style that fades all other lines while the pointer is on a box."""
    names = [*known.contracts, *(f"{side}-{who}" for side in "wr" for who in known.consumers)]
    rules = []
    for name in map(name_class, names):
        for at in ("hover", "focus-visible"):
            rules.append(f".graph:has(.n-{name}:{at}) .e:not(.e-{name}){{opacity:.07}}")
            rules.append(f".graph:has(.n-{name}:{at}) .e-{name}{{opacity:1;stroke-width:2.2}}")
    return "\n".join(rules) + "\n"


def _order_by_middle(names: set[str], at: Sequence[tuple[str, int]]) -> list[str]:
    """Boxes by the mean row of their neighbours, so that few lines cross."""
    rows: Mapping[str, list[int]] = {who: [row for one, row in at if one == who] for who in names}
    return sorted(names, key=lambda who: (sum(rows[who]) / len(rows[who]), who))


def _place_column(
    side: str, names: Sequence[str], x: int, tallest: int, known: Knowledge, base: str
) -> dict[str, Node]:
    step = max(ROW, tallest * ROW / max(len(names), 1))
    return {
        f"{side}-{who}": Node(
            key=f"{side}-{who}",
            label=who,
            x=x,
            y=TOP + (tallest * ROW - step * len(names)) / 2 + at * step + (step - ROW) / 2,
            width=PARTY_WIDTH,
            address=f"{base}consumers/{who}.html",
            classes=f"party {known.consumers[who].kind}",
        )
        for at, who in enumerate(names)
    }


def _place_topic(known: Knowledge, one: Contract, y: float, base: str) -> Node:
    label = one.name.partition(".")[2]
    classes = f"topic {one.visibility} {one.kind} {known.get_hue(one)}"
    return Node(one.name, label, TOPICS, y, TOPIC_WIDTH, f"{base}topics/{one.name}.html", classes)


def _render_head(text: str, x: int) -> Html:
    return render_element("text", text, x=x, y=14, class_="head")


def _render_box(node: Node) -> Html:
    rect = render_element("rect", x=node.x, y=node.y, width=node.width, height=HEIGHT, rx=5)
    text = render_element("text", node.label, x=node.x + TEXT_IN, y=node.y + TEXT_DOWN)
    return render_element(
        "a",
        render_element("title", node.key.removeprefix("w-").removeprefix("r-")),
        join(rect, text),
        href=node.address,
        class_=f"n-{name_class(node.key)} {node.classes}",
    )


def _render_edge(begin: Node, end: Node, hue: str) -> Html:
    x1, y1 = begin.x + begin.width, begin.y + HEIGHT / 2
    x2, y2 = end.x, end.y + HEIGHT / 2
    bend = (x2 - x1) * BEND
    drawn = f"M{x1:g} {y1:g}C{x1 + bend:g} {y1:g} {x2 - bend:g} {y2:g} {x2:g} {y2:g}"
    return render_element(
        "path", d=drawn, class_=f"e {hue} e-{name_class(begin.key)} e-{name_class(end.key)}"
    )
