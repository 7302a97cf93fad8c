"""The tables of the documents, from what the bench has reported.

`python -m ops.bench.document REPORT…` takes these reports' parts into ops/bench/benchmarks.json, in
place of what it had of the same parts, and writes the tables anew. A table stands between two
marks, `<!-- figures: PART -->` and `<!-- end of figures -->`. After
`<!-- headlines: PART, PART -->` stand the few figures of these parts that a newcomer asks for.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from infra.errors import UserError
from infra.settings import locate_root
from ops.bench.figures import FULL, OUTCOMES, Aim, Figure, Outcome, write_outcomes

FIGURES = Path("ops", "bench", "benchmarks.json")
DOCUMENTS = (
    Path("docs", "benchmarks.md"),
    Path("docs", "systems.md"),
    Path("README.md"),
)
TABLE = re.compile(
    r"(?P<begin><!-- (?P<kind>figures|headlines): (?P<parts>\w+(, \w+)*) -->\n).*?"
    r"(?P<end><!-- end of figures -->)",
    re.DOTALL,
)

HEAD = ("| what | measured | aim | | beside, in the same run |", "|---|---|---|---|---|")
HEADLINES = (
    "default shop, inventory p50",
    "default shop, Spark",
    "memory after an hour",
    "retail replay start fraud, beside it",
)
"""The figures of the README, by what was measured."""


def main() -> None:
    parts = read_parts()
    for file in map(Path, sys.argv[1:]):
        parts |= read_report(file)
    write_outcomes(locate_root() / FIGURES, parts)
    for document in DOCUMENTS:
        written = locate_root() / document
        written.write_text(fill(document, written.read_text(), parts))


def read_parts() -> dict[str, Outcome]:
    """The newest figures of every part."""
    return OUTCOMES.validate_json((locate_root() / FIGURES).read_text())


def read_report(file: Path) -> dict[str, Outcome]:
    """The parts of a report. Raises UserError where one failed, or was not measured whole."""
    parts = OUTCOMES.validate_json(file.read_text())
    for name, part in parts.items():
        if part.failure:
            raise UserError(
                f"Each part of {file} should have been measured to its end, but {name} "
                f"failed: {part.failure} Measure it again: retail bench --only {name}."
            )
        if part.scale != FULL.name:
            raise UserError(
                f"Each part of {file} should have been measured whole, but {name} was by --quick. "
                f"Measure it again: retail bench --only {name}."
            )
    return parts


def fill(document: Path, text: str, parts: Mapping[str, Outcome]) -> str:
    """The text with its tables as the figures have them. Raises UserError."""

    def render_table(found: re.Match[str]) -> str:
        named = found["parts"].split(", ")
        for name in named:
            if name not in parts:
                raise UserError(
                    f"{document} should show parts that {FIGURES} has, but shows {name}. "
                    f"Measure it: retail bench --only {name}."
                )
        render = render_headlines if found["kind"] == "headlines" else render_figures
        shown = "\n".join(render([parts[name] for name in named]))
        return f"{found['begin']}{shown}\n{found['end']}"

    return TABLE.sub(render_table, text)


def render_figures(parts: Sequence[Outcome]) -> Iterator[str]:
    """A table of each part, and then what exactly was measured."""
    for part in parts:
        yield from HEAD
        yield from map(render_row, part.figures)
        yield ""
        yield (
            f"Measured on {part.machine['measured_on']}: {part.machine['cores']} cores, "
            f"{part.machine['memory_gib']:g} GiB of memory."
        )
        noted = [figure for figure in part.figures if figure.note]
        if noted:
            yield ""
        for figure in noted:
            yield f"- *{figure.what}*: {' '.join(figure.note.split())}"


def render_headlines(parts: Sequence[Outcome]) -> Iterator[str]:
    """One table of HEADLINES. Raises UserError where the parts lack one."""
    figures = {figure.what: figure for part in parts for figure in part.figures}
    if missing := [what for what in HEADLINES if what not in figures]:
        raise UserError(
            f"A table of headlines should find all of HEADLINES, but its parts lack {missing}. "
            f"Name another part in its mark, or another figure in {__file__}."
        )
    yield from HEAD
    yield from (render_row(figures[what]) for what in HEADLINES)


def render_row(figure: Figure) -> str:
    aim, verdict = render_aim(figure.aim, figure.measured)
    return (
        f"| {figure.what} | {render_number(figure.measured)} {figure.unit} | {aim} | {verdict} "
        f"| {render_yardstick(figure)} |"
    )


def render_aim(aim: Aim | None, measured: float, unit: str = "") -> tuple[str, str]:
    """The aim, and whether it was reached. Its unit is left out where the column before has it."""
    if aim is None:
        return "", ""
    bound = f"{'≥' if aim.at_least else '≤'} {render_number(aim.bound)}{unit}"
    return bound, "met" if aim.is_met(measured) else "missed"


def render_yardstick(figure: Figure) -> str:
    """What the figure is measured beside, and its share of that; empty where there is nothing."""
    if figure.yardstick is None:
        return ""
    percent = 100 * figure.measured / figure.yardstick.measured
    aim, verdict = render_aim(figure.yardstick.aim, percent, " %")
    beside = f"{figure.yardstick.what}: {render_number(figure.yardstick.measured)} {figure.unit}"
    judged = f"; aim {aim}, {verdict}" if aim else ""
    return f"{beside}, of which it is {render_number(percent)} %{judged}"


def render_number(value: float) -> str:
    """The value with at least three digits: further ones are noise."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


if __name__ == "__main__":
    try:
        main()
    except UserError as refused:
        sys.exit(str(refused))
