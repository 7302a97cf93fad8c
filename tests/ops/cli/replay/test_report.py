"""The page of a difference shows what moved, and is nothing but a page."""

import json
from html.parser import HTMLParser

from contracts import ALERTS
from infra.settings import Settings
from ops.cli.replay.report import write_report
from ops.replay.causes import Changes, Setting
from ops.replay.compare import Compared
from ops.replay.difference import Difference, Facet, Period, Sample, Total

MOVED = Difference(
    view=ALERTS.name,
    before=2,
    after=3,
    added=1,
    removed=0,
    changed=1,
    totals=(Total("measured", 10, 16),),
    facets=(Facet("rule", "card-velocity", 1, 2), Facet("rule", "<script>", 1, 1)),
    periods=(Period("2026-03-02T10:00Z", 1, 0, 1), Period("2026-03-02T11:00Z", 0, 0, 0)),
    largest=(Sample({"subject": "tok"}, {"measured": 4}, {"measured": 6}, "counts <b> events"),),
)
CHANGES = Changes((Setting("sales_max", 5, 3),), ("pipelines/fraud/thresholds.py",))
COMPARED = Compared("fraud", "generation 1", "generation 2", "marker 7", 1_234, (MOVED,), CHANGES)


class Tags(HTMLParser):
    """Which elements a page has, and that they are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)


def test_the_page_has_bars_a_plot_and_samples(current: Settings) -> None:
    page = write_report(current, COMPARED)
    assert page.name == "fraud-g1-g2.html"
    text = page.read_text()
    tags = Tags()
    tags.feed(text)
    assert tags.seen.count("svg") == 2
    assert "script" not in tags.seen
    assert "measured 4 → 6, because counts &lt;b&gt; events" in text
    assert "The code differs: sales_max 5 → 3, pipelines/fraud/thresholds.py." in text
    document = json.loads(page.with_suffix(".json").read_text())
    assert document["empty"] is False
    assert document["views"][0]["added"] == 1
    assert document["views"][0]["largest"][0]["cause"] == "counts <b> events"
    assert document["changes"] == {
        "thresholds": [{"name": "sales_max", "before": 5, "after": 3}],
        "files": ["pipelines/fraud/thresholds.py"],
    }


def test_no_difference_is_said(current: Settings) -> None:
    same = Difference(ALERTS.name, 2, 2, 0, 0, 0, (), (), (), ())
    page = write_report(current, Compared("fraud", "g1", "g2", "marker 7", 9, (same,)))
    assert "No difference" in page.read_text()
