"""The site: it fetches nothing from elsewhere and runs no script."""

from collections.abc import Mapping
from pathlib import Path

from contracts.catalogue.knowledge import gather
from contracts.catalogue.pages import (
    Frame,
    build_consumer_page,
    build_contract_page,
    build_fields_page,
    build_index,
)

STYLE = Path(__file__).with_name("style.css")


def build_site(folder: Path, frame: Frame) -> Mapping[str, str]:
    """Every page of the site, by its path. Raises BadContract."""
    known = gather(folder)
    pages = {"index.html": build_index(known), "fields.html": build_fields_page(known)}
    for name, contract in known.contracts.items():
        pages[f"topics/{name}.html"] = build_contract_page(known, contract)
    for name, consumer in known.consumers.items():
        pages[f"consumers/{name}.html"] = build_consumer_page(consumer)
    return {name: frame(page) for name, page in pages.items()}
