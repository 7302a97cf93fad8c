"""The tables of the documents, from what the bench has reported.

`python -m ops.bench.document REPORT…` takes these reports' parts into ops/bench/benchmarks.json, in
place of what it had of the same parts, and writes the tables anew. A table stands between two
marks, `<!-- figures: PART -->` and `<!-- end of figures -->`. After
`<!-- headlines: PART, PART -->` stand the few figures of these parts that a newcomer asks for.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path

from pydantic import BaseModel

from infra.errors import UserError
from infra.settings import locate_root
from ops.bench.figures import Figure
from ops.bench.report import render_aim, render_number

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
    "start of a shop that was there before",
)
"""The figures of the README, by what was measured."""


class Machine(BaseModel):
    """When a part was measured, and on what it ran."""

    measured_on: date
    cores: int
    memory_gib: float
    load_per_minute: float
    system: str
    python: str


class Part(BaseModel):
    """The newest figures of one part of the bench."""

    machine: Machine
    figures: tuple[Figure, ...]


class ReportedPart(BaseModel):
    """A part, as a report of the bench has it."""

    part: str
    failure: str | None
    figures: tuple[Figure, ...]


class Report(BaseModel):
    """What one run of the bench has written."""

    machine: Machine
    parts: tuple[ReportedPart, ...]


class Parts(BaseModel):
    """The newest figures of every part, by its name."""

    parts: dict[str, Part]


def main() -> None:
    parts = read_parts()
    for file in map(Path, sys.argv[1:]):
        parts |= read_reported_parts(file)
    (locate_root() / FIGURES).write_text(f"{Parts(parts=parts).model_dump_json(indent=1)}\n")
    for document in DOCUMENTS:
        written = locate_root() / document
        written.write_text(fill(document, written.read_text(), parts))


def read_parts() -> dict[str, Part]:
    """The newest figures of every part; none where nothing was measured."""
    file = locate_root() / FIGURES
    return Parts.model_validate_json(file.read_text()).parts if file.exists() else {}


def read_reported_parts(file: Path) -> dict[str, Part]:
    """The parts of a report. Raises UserError where one of them failed."""
    report = Report.model_validate_json(file.read_text())
    for part in report.parts:
        if part.failure:
            raise UserError(
                f"Each part of {file} should have been measured to its end, but {part.part} "
                f"failed: {part.failure} Measure it again: retail bench --only {part.part}."
            )
    return {part.part: Part(machine=report.machine, figures=part.figures) for part in report.parts}


def fill(document: Path, text: str, parts: Mapping[str, Part]) -> str:
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


def render_figures(parts: Iterable[Part]) -> Iterator[str]:
    """A table of each part, and then what exactly was measured."""
    for part in parts:
        yield from HEAD
        yield from map(render_row, part.figures)
        yield ""
        yield (
            f"Measured on {part.machine.measured_on}: {part.machine.cores} cores, "
            f"{part.machine.memory_gib:g} GiB of memory."
        )
        yield from render_notes(part.figures)


def render_headlines(parts: Iterable[Part]) -> Iterator[str]:
    """One table of HEADLINES. Raises UserError where the parts lack one."""
    figures = {each.what: each for part in parts for each in part.figures}
    if missing := [what for what in HEADLINES if what not in figures]:
        raise UserError(
            f"A table of headlines should find all of HEADLINES, but its parts lack {missing}. "
            f"Name another part in its mark, or another figure in {__file__}."
        )
    yield from HEAD
    yield from (render_row(figures[what]) for what in HEADLINES)


def render_row(figure: Figure) -> str:
    aim, met = render_aim(figure.aim, figure.measured)
    return (
        f"| {figure.what} | {render_number(figure.measured)} {figure.unit} | {aim} | {met} "
        f"| {render_yardstick(figure)} |"
    )


def render_yardstick(figure: Figure) -> str:
    if figure.yardstick is None:
        return ""
    aim, met = render_aim(figure.yardstick.aim, figure.percent, " %")
    beside = f"{figure.yardstick.what}: {render_number(figure.yardstick.measured)} {figure.unit}"
    verdict = f"; aim {aim}, {met}" if aim else ""
    return f"{beside}, of which it is {render_number(figure.percent)} %{verdict}"


def render_notes(figures: Iterable[Figure]) -> Iterator[str]:
    noted = [figure for figure in figures if figure.note]
    if noted:
        yield ""
    for figure in noted:
        yield f"- *{figure.what}*: {' '.join(figure.note.split())}"


if __name__ == "__main__":
    try:
        main()
    except UserError as refused:
        sys.exit(str(refused))
