"""The coefficients of a shop's size, as figures of the bench and back.

`ops/bench/sizing.py` measures them, `ops/bench/benchmarks.json` keeps them,
`ops/bench/size.py` computes with them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from infra.errors import UserError
from ops.bench.document import Machine, read_parts
from ops.bench.figures import Figure

PART = "sizing"
SHOP = "shop"
"""The owner of what no single pipeline takes."""


def declare(what: str, unit: str) -> Any:
    """A coefficient that is a figure of this name, behind its owner's, in this unit."""
    return field(metadata={"what": what, "unit": unit})


@dataclass(frozen=True)
class PipelineCosts:
    """What a pipeline takes."""

    caught_up_per_core: float = declare("read while it catches up", "receipts/s per core")
    batch_ms: float = declare("CPU of a live batch", "ms")
    receipt_ms: float = declare("CPU of a live receipt, without lines", "ms")
    line_ms: float = declare("CPU of a live line", "ms")
    batch_wall_ms: float = declare("time of a live batch", "ms")
    receipt_wall_ms: float = declare("time of a live receipt with its lines", "ms")
    ids_mb: float = declare("state of a million ids", "MB")
    shelves_mb: float = declare("state of a million shelves", "MB")
    changelog_mb: float = declare("changelog of a million lines", "MB")
    rows_mb: float = declare("changelog of a million shelves", "MB")


@dataclass(frozen=True)
class ShopCosts:
    """What a shop takes beside the Spark of its pipelines: broker, API, the pipelines' Python."""

    cores: float = declare("cores beside Spark, when little is sold", "cores")
    line_ms: float = declare("CPU beside Spark of a line", "ms")
    memory_gb: float = declare("memory of all processes, when little is sold", "GB")
    receipts_mb: float = declare("log of a million receipts, without lines", "MB")
    lines_mb: float = declare("log of a million lines", "MB")


@dataclass(frozen=True)
class Coefficients:
    """All that a size is computed from."""

    shop: ShopCosts
    pipelines: Mapping[str, PipelineCosts]


Costs = TypeVar("Costs", PipelineCosts, ShopCosts)


class NotMeasured(UserError):
    """There are no coefficients."""

    def __init__(self, missing: str) -> None:
        super().__init__(
            f"The figures of the bench should have {missing!r}, but have not. Measure it: "
            f"retail bench --only {PART} --json FILE, then python -m ops.bench.document FILE"
        )


def build_figures(owner: str, costs: PipelineCosts | ShopCosts, note: str = "") -> Iterator[Figure]:
    """A figure for each coefficient; the first one has the note."""
    for number, one in enumerate(fields(costs)):
        yield Figure(
            name_figure(owner, one.metadata["what"]),
            getattr(costs, one.name),
            one.metadata["unit"],
            note="" if number else note,
        )


def name_figure(owner: str, what: str) -> str:
    return f"{owner}, {what}"


def parse_costs(kind: type[Costs], owner: str, measured: Mapping[str, float]) -> Costs:
    """The owner's costs from figures by name. Raises NotMeasured where one is missing."""
    names = {one.name: name_figure(owner, one.metadata["what"]) for one in fields(kind)}
    for name in names.values():
        if name not in measured:
            raise NotMeasured(name)
    return kind(**{cost: measured[name] for cost, name in names.items()})


def parse_coefficients(figures: tuple[Figure, ...]) -> Coefficients:
    """The coefficients from the figures of the part. Raises NotMeasured where one is missing."""
    measured = {figure.what: figure.measured for figure in figures}
    mark = name_figure("", fields(PipelineCosts)[0].metadata["what"])
    owners = [what.removesuffix(mark) for what in measured if what.endswith(mark)]
    return Coefficients(
        parse_costs(ShopCosts, SHOP, measured),
        {owner: parse_costs(PipelineCosts, owner, measured) for owner in owners},
    )


def read_coefficients() -> tuple[Coefficients, Machine]:
    """The newest coefficients, and the machine on which they were measured. Raises NotMeasured."""
    part = read_parts().get(PART)
    if part is None:
        raise NotMeasured(PART)
    return parse_coefficients(part.figures), part.machine
