"""Pictures of every page: `python -m tests.services.api.pictures FOLDER`.

Each is taken in light and in dark, wide and narrow. The README shows `first-view.png`, as
docs/shop.png.
"""

import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from urllib.parse import urlencode

from contracts import RECEIPTS
from tests.services.api.browser import NARROW, WIDE, Scheme, chromium, visiting
from tests.services.memory import MemoryLog
from tests.services.showing import SHELF, Shop, serving_shop

USAGE = "Expected a folder: python -m tests.services.api.pictures FOLDER"
CASE = {
    "rule": "impossible-travel",
    "subject": "tok_9a31%2F7",
    "interval_start": "2026-03-02T10:00:00.000Z",
}
PAGES = {
    "shop": "/",
    "stock": "/stock",
    "shelf": f"/stock?store_id={SHELF[0]}&sku={SHELF[1]}",
    "alerts": "/alerts",
    "case": f"/alerts?{urlencode(CASE)}",
    "replenishment": "/replenishment",
    "prices": "/prices",
    "price-history": f"/prices?sku={SHELF[1]}",
    "pipelines": "/pipelines",
    "replay": "/replay?pipeline=fraud",
    "rejected": f"/pipelines?record={RECEIPTS.name}/2/1",
}
API_PAGE = {"docs": "/docs"}
FIRST_VIEW = "first-view.png"
"""What one sees of the shop's page without scrolling."""
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
SIZES = {"wide": WIDE, "narrow": NARROW}
SETTLED_MILLISECONDS = 1_500  # the last section has been drawn


def take(folder: Path) -> Iterator[Path]:
    """Take every picture; gives each file once it is written."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as kept, chromium() as browser:
        log = MemoryLog()
        Shop(log)
        with serving_shop(log, Path(kept)) as api:
            with visiting(browser, api.address, "light", WIDE) as visit:
                visit.open(PAGES["shop"]).page.wait_for_timeout(SETTLED_MILLISECONDS)
                visit.page.screenshot(path=folder / FIRST_VIEW)
                yield folder / FIRST_VIEW
            for scheme, (name, size) in product(SCHEMES, SIZES.items()):
                with visiting(browser, api.address, scheme, size) as visit:
                    for page, path in (PAGES | API_PAGE).items():
                        visit.open(path).page.wait_for_timeout(SETTLED_MILLISECONDS)
                        file = folder / f"{page}-{scheme}-{name}.png"
                        visit.page.screenshot(path=file, full_page=True)
                        yield file


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(USAGE)
    for file in take(Path(sys.argv[1])):
        print(file)


if __name__ == "__main__":
    main()
