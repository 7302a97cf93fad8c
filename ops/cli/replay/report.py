"""A difference as a page, and as JSON beside it."""

import json
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path

from contracts import CONTRACTS
from infra.reports import locate_reports, name_difference
from infra.settings import Settings
from ops.cli.replay.difference import list_changes, render_document, render_sample
from ops.replay.compare import Compared
from ops.replay.difference import Difference, Facet, Period, Sample

BAR_WIDTH = 420
PLOT_HEIGHT = 120
COLOURS = {"added": "#2a7f62", "removed": "#b3423a", "changed": "#c58b1b"}

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; color: #222; }
table { border-collapse: collapse; } td, th { padding: .2rem .8rem .2rem 0; text-align: left; }
td.n { text-align: right; font-variant-numeric: tabular-nums; } h2 { margin-top: 2.5rem; }
code { font-size: .85rem; overflow-wrap: anywhere; } .quiet { color: #666; }
svg text { font: 11px system-ui, sans-serif; fill: #444; }
"""


def write_report(settings: Settings, compared: Compared) -> Path:
    """Write page and JSON into the data folder; returns the page."""
    folder = locate_reports(settings)
    folder.mkdir(parents=True, exist_ok=True)
    stem = name_difference(compared.pipeline, compared.before, compared.after)
    document = json.dumps(render_document(compared), default=str, indent=1)
    (folder / f"{stem}.json").write_text(document)
    page = folder / f"{stem}.html"
    page.write_text("".join(render_html(compared)))
    return page


def render_html(compared: Compared) -> Iterator[str]:
    title = f"{compared.pipeline}: {compared.before} → {compared.after}"
    yield (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style><h1>{escape(title)}</h1>"
        f"<p>Both at {escape(compared.at)}, after {compared.records:,} records of the log.</p>"
    )
    changes = list_changes(compared.changes)
    if changes:
        yield f"<p>The code differs: {escape(', '.join(changes))}.</p>"
    if compared.empty:
        yield "<p><strong>No difference.</strong></p>"
    for view in compared.views:
        yield from render_section(view)
    yield "</html>\n"


def render_section(view: Difference) -> Iterator[str]:
    yield f"<h2>{escape(CONTRACTS[view.view].entity)}</h2>"
    yield f'<p class="quiet"><code>{escape(view.view)}</code></p>'
    yield (
        f"<p>{view.before:,} → {view.after:,} rows: {view.added:,} added, {view.removed:,} "
        f"removed, {view.changed:,} changed.</p>"
    )
    if view.empty:
        return
    if view.totals:
        rows = [(each.field, each.before, each.after) for each in view.totals]
        yield render_table(("total", "before", "after"), rows)
    for name in dict.fromkeys(facet.field for facet in view.facets):
        yield f"<h3>by {escape(name)}</h3>"
        yield render_bars([facet for facet in view.facets if facet.field == name])
    if view.periods:
        yield "<h3>when what moved began</h3>"
        yield plot(view.periods)
    yield "<h3>rows that moved</h3>"
    yield render_samples(view.largest)


def render_table(heads: Iterable[str], rows: Iterable[tuple[str, int, int]]) -> str:
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    body = "".join(
        f'<tr><td>{escape(name)}</td><td class="n">{before:,}</td><td class="n">{after:,}</td></tr>'
        for name, before, after in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def render_bars(facets: list[Facet]) -> str:
    """Two bars for each value: before, grey, and after."""
    most = max(max(facet.before, facet.after) for facet in facets) or 1
    drawn = []
    for number, facet in enumerate(facets):
        top = number * 34
        label = escape(f"{facet.value}: {facet.before:,} → {facet.after:,}")
        drawn.append(f'<text x="0" y="{top + 11}">{label}</text>')
        for offset, count, colour in ((15, facet.before, "#bbb"), (22, facet.after, "#2a5d9f")):
            width = BAR_WIDTH * count / most
            drawn.append(
                f'<rect x="0" y="{top + offset}" width="{width:.1f}" height="6" fill="{colour}"/>'
            )
    height = 34 * len(facets)
    return f'<svg width="{BAR_WIDTH}" height="{height}" role="img">{"".join(drawn)}</svg>'


def plot(periods: tuple[Period, ...]) -> str:
    """Stacked columns: rows added, removed and changed, by when they began."""
    most = max(each.added + each.removed + each.changed for each in periods) or 1
    width = max(4, 720 // len(periods))
    drawn = []
    for number, period in enumerate(periods):
        foot = float(PLOT_HEIGHT)
        for what, colour in COLOURS.items():
            height = PLOT_HEIGHT * getattr(period, what) / most
            foot -= height
            drawn.append(
                f'<rect x="{number * width}" y="{foot:.1f}" width="{width - 1}" '
                f'height="{height:.1f}" fill="{colour}"><title>{escape(period.begins)}: '
                f"{getattr(period, what):,} {what}</title></rect>"
            )
    first, last = escape(periods[0].begins), escape(periods[-1].begins)
    end = width * len(periods)
    drawn.append(f'<text x="0" y="{PLOT_HEIGHT + 14}">{first}</text>')
    drawn.append(f'<text x="{end}" y="{PLOT_HEIGHT + 14}" text-anchor="end">{last}</text>')
    legend = " · ".join(
        f'<span style="color:{colour}">■</span> {what}' for what, colour in COLOURS.items()
    )
    return (
        f'<svg width="{max(end, 260)}" height="{PLOT_HEIGHT + 20}" role="img">{"".join(drawn)}'
        f'</svg><p class="quiet">{legend} · most in one period: {most:,}</p>'
    )


def render_samples(rows: tuple[Sample, ...]) -> str:
    lines = "".join(f"<li><code>{escape(render_sample(sample))}</code></li>" for sample in rows)
    return f"<ul>{lines}</ul>"
