"""What a shop of a given size needs: cores, memory, partitions and disk, each with its formula."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil, inf, isfinite

from contracts import RECEIPTS
from infra.errors import UserError
from ops.bench.coefficients import Coefficients, PipelineCosts, ShopCosts
from ops.bench.receipts import LINES
from ops.bench.report import render_number
from pipelines.common.pipeline import Pipeline, load
from pipelines.engine.pace import MARGIN, find_horizon
from pipelines.engine.throttle import REST_SECONDS_MAX

DAY_SECONDS = 86_400
HOUR_SECONDS = 3_600
MILLION, BILLION = 1e6, 1e9
MS = 1e-3
"""Seconds of a millisecond."""
GB = 1e-3
"""GB of a megabyte."""
OUTDATED = 2
"""Kafka cleans a compacted changelog when half of it is outdated."""
SHELF = {"store_id", "sku"}


class Impossible(UserError):
    """No shop has this size."""

    def __init__(self, what: str, bound: str, found: float) -> None:
        super().__init__(f"{what} should be {bound}, but would be {found:,g}. Give another number.")


class UnknownCosts(UserError):
    """The bench has not measured what this pipeline takes."""

    def __init__(self, name: str, known: Mapping[str, PipelineCosts]) -> None:
        super().__init__(
            f"A pipeline should be one that the bench has measured, but {name!r} is none. "
            f"Choose from: {', '.join(known)}"
        )


@dataclass(frozen=True)
class Demand:
    """The size of a shop. Raises Impossible."""

    stores: int
    products: int
    receipts_per_second: float
    lines: float
    """Lines per receipt."""
    days: float
    """Days of receipts that the log keeps."""
    replay_hours: float
    """Hours in which a replay should read all of them."""

    def __post_init__(self) -> None:
        lines_max = find_lines_max()
        for what, found, least, most in (
            ("Stores", self.stores, 1, inf),
            ("Products", self.products, 1, inf),
            ("Receipts per second", self.receipts_per_second, 0, inf),
            ("Lines per receipt", self.lines, 1, lines_max),
            ("Days that receipts are kept", self.days, 0, inf),
            ("Hours of a replay", self.replay_hours, 0, inf),
        ):
            check(what, found, least, most)

    @property
    def shelves(self) -> int:
        return self.stores * self.products

    @property
    def lines_per_second(self) -> float:
        return self.receipts_per_second * self.lines

    @property
    def receipts(self) -> float:
        """Receipts that the log keeps."""
        return self.receipts_per_second * self.days * DAY_SECONDS


def find_lines_max() -> float:
    """The most lines that the contract of receipts allows."""
    return max(
        float(str(rule.limit))
        for rule in RECEIPTS.rules
        if rule.kind == "maxItems" and rule.path == ("lines",)
    )


def check(what: str, found: float, least: float, most: float) -> None:
    """Raise Impossible unless the number is finite, above zero and within the bounds."""
    if isfinite(found) and found > 0 and least <= found <= most:
        return
    bound = f"at least {least:,g}" if least else "more than 0"
    raise Impossible(what, bound if most == inf else f"{bound} and at most {most:,g}", found)


@dataclass(frozen=True)
class Term:
    """A part of what is needed."""

    what: str
    amount: float
    """In the unit of the need that it is a part of."""
    formula: str
    """The formula, with its numbers."""


@dataclass(frozen=True)
class Need:
    """Something that the shop needs so much of: its terms together, or the largest of them."""

    what: str
    amount: float
    unit: str
    formula: str
    """How the terms make the amount, in words."""
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Size:
    """All that a shop needs, and what no machine would mend."""

    needs: tuple[Need, ...]
    limits: tuple[str, ...]

    def find(self, what: str) -> Need:
        return next(need for need in self.needs if need.what == what)


def compute_size(demand: Demand, costs: Coefficients, names: tuple[str, ...]) -> Size:
    """The size of a shop with these pipelines. Raises UnknownCosts."""
    for name in names:
        if name not in costs.pipelines:
            raise UnknownCosts(name, costs.pipelines)
    shares = [Share(load(name), costs.pipelines[name], demand) for name in names]
    state = [share.compute_state() for share in shares]
    cores = [*(share.compute_cores() for share in shares), compute_rest(demand, costs.shop)]
    kept = [compute_log(demand, costs.shop), *(share.compute_changelog() for share in shares)]
    return Size(
        (
            add("cores", "cores", cores),
            add("memory", "GB", [compute_processes(costs.shop), *state]),
            compute_partitions(shares),
            add("disk", "GB", [*kept, *state]),
        ),
        tuple(limit for share in shares for limit in share.find_limits()),
    )


def add(what: str, unit: str, terms: list[Term]) -> Need:
    return Need(what, sum(term.amount for term in terms), unit, "the sum of", tuple(terms))


@dataclass(frozen=True)
class Share:
    """One pipeline's share in the size of a shop."""

    pipeline: Pipeline
    costs: PipelineCosts
    demand: Demand

    @property
    def name(self) -> str:
        return self.pipeline.name

    @property
    def receipt_ms(self) -> float:
        """CPU of a live receipt."""
        return self.costs.receipt_ms + self.demand.lines * self.costs.line_ms

    @property
    def weight(self) -> float:
        """CPU of a receipt, as a multiple of that of a receipt of the bench."""
        return self.receipt_ms / (self.costs.receipt_ms + LINES * self.costs.line_ms)

    @property
    def live_max(self) -> float:
        """Receipts per second that one live task can read."""
        return 1 / (self.costs.receipt_wall_ms * MS * self.weight)

    @property
    def caught_up_per_core(self) -> float:
        return self.costs.caught_up_per_core / self.weight

    def compute_cores(self) -> Term:
        rate, period = self.demand.receipts_per_second, self.compute_period()
        receipts = (
            f"{show(rate)} receipts/s × ({show(self.costs.receipt_ms)} ms + "
            f"{show(self.demand.lines)} lines × {show(self.costs.line_ms)} ms)"
        )
        batches = f"{show(1 / period)} batches/s × {show(self.costs.batch_ms)} ms + "
        return Term(
            self.name,
            self.costs.batch_ms * MS / period + rate * self.receipt_ms * MS,
            receipts if period == inf else batches + receipts,
        )

    def compute_period(self) -> float:
        """Seconds between the starts of two live batches; infinite where it falls behind.

        A batch takes longer the more came since the last one, and rests by the duty cycle.
        """
        busy = self.demand.receipts_per_second / self.live_max
        if busy >= 1:
            return inf
        batch, duty = self.costs.batch_wall_ms * MS, self.pipeline.duty_cycle
        by_duty = batch / (duty - busy) if duty > busy else inf
        longest_rest = (batch + REST_SECONDS_MAX) / (1 - busy)
        return max(self.pipeline.every.total_seconds(), min(by_duty, longest_rest))

    def compute_state(self) -> Term:
        """GB of what the pipeline remembers: the ids within the horizon, and rows by shelf."""
        seconds = (find_horizon(self.pipeline.reads) + MARGIN).total_seconds()
        ids = self.demand.receipts_per_second * seconds
        return Term(
            f"state of {self.name}",
            compute_state_gb(self.costs, ids, self.demand.shelves),
            f"{show(self.demand.receipts_per_second)} receipts/s × {show(seconds)} s "
            f"× {show(self.costs.ids_mb)} bytes + {show(self.demand.shelves)} shelves "
            f"× {show(self.costs.shelves_mb)} bytes",
        )

    def compute_changelog(self) -> Term:
        """GB of what the pipeline writes, before compaction."""
        receipts, lines, line_mb = self.demand.receipts, self.demand.lines, self.costs.changelog_mb
        written = Term(
            f"changelog of {self.name}",
            receipts * lines * line_mb / MILLION * GB,
            f"{show(receipts)} receipts × {show(lines)} lines × {show(line_mb)} bytes",
        )
        return min(written, self.compute_rows(), key=lambda term: term.amount)

    def compute_rows(self) -> Term:
        """GB of the changelog after compaction; endless where its rows are not the shelves."""
        shelves, row_mb = self.demand.shelves, self.costs.rows_mb
        gb = OUTDATED * shelves * row_mb / MILLION * GB
        return Term(
            f"changelog of {self.name}",
            gb if self.has_a_row_per_shelf() else inf,
            f"{OUTDATED} × {show(shelves)} shelves × {show(row_mb)} bytes",
        )

    def has_a_row_per_shelf(self) -> bool:
        """Whether no view has more rows than there are shelves."""
        return all(
            view.ends is None and set(view.contract.key) <= SHELF for view in self.pipeline.views
        )

    def compute_replay(self) -> Term:
        """Cores of a replay of all receipts."""
        seconds = self.demand.replay_hours * HOUR_SECONDS
        return Term(
            f"replay of {self.name}",
            self.demand.receipts / seconds / self.caught_up_per_core,
            f"{show(self.demand.receipts)} receipts ÷ {show(self.demand.replay_hours)} h "
            f"÷ {show(self.caught_up_per_core)} receipts/s per core",
        )

    def find_limits(self) -> Iterator[str]:
        if self.demand.receipts_per_second >= self.live_max:
            yield (
                f"{self.name} falls behind: one live task reads at most "
                f"{show(self.live_max)} receipts/s of {show(self.demand.lines)} lines"
            )


def compute_state_gb(costs: PipelineCosts, ids: float, shelves: int) -> float:
    return (ids * costs.ids_mb + shelves * costs.shelves_mb) / MILLION * GB


def compute_rest(demand: Demand, costs: ShopCosts) -> Term:
    """Cores beside Spark."""
    return Term(
        "broker, API and the rest",
        costs.cores + demand.lines_per_second * costs.line_ms * MS,
        f"{show(costs.cores)} + {show(demand.lines_per_second)} lines/s × {show(costs.line_ms)} ms",
    )


def compute_processes(costs: ShopCosts) -> Term:
    return Term("all processes", costs.memory_gb, "as measured where little is sold")


def compute_partitions(shares: list[Share]) -> Need:
    """Partitions of the receipts' topic: a core of a replay reads one of them."""
    declared = RECEIPTS.settings.partitions
    replays = tuple(share.compute_replay() for share in shares)
    return Need(
        "partitions",
        max(declared, *(ceil(replay.amount) for replay in replays)),
        "partitions",
        f"{declared} by the contract, or as many as the cores of",
        replays,
    )


def compute_log(demand: Demand, costs: ShopCosts) -> Term:
    return Term(
        "log of receipts",
        demand.receipts * (costs.receipts_mb + demand.lines * costs.lines_mb) / MILLION * GB,
        f"{show(demand.receipts)} receipts × ({show(costs.receipts_mb)} bytes + "
        f"{show(demand.lines)} lines × {show(costs.lines_mb)} bytes)",
    )


def show(value: float) -> str:
    """The number; a very large one in billions."""
    if value >= 10 * BILLION:
        return f"{render_number(value / BILLION)} billion"
    return render_number(value)
