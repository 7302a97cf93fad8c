"""The site: it fetches nothing from elsewhere and runs no script."""

from collections.abc import Mapping
from pathlib import Path

from contracts.catalogue.graph import render_highlights
from contracts.catalogue.knowledge import gather
from contracts.catalogue.pages import (
    Frame,
    build_consumer_page,
    build_contract_page,
    build_fields_page,
    build_index,
)

STYLE = Path(__file__).with_name("style.css")


def build_site(folder: Path, data_docs: str | None, frame: Frame) -> Mapping[str, str]:
    """Every file of the site, by its path. Raises BadContract."""
    known = gather(folder, data_docs)
    pages = {
        "index.html": build_index(known),
        "fields.html": build_fields_page(known),
        **{
            f"topics/{name}.html": build_contract_page(known, o)
            for name, o in known.contracts.items()
        },
        **{
            f"consumers/{name}.html": build_consumer_page(known, one)
            for name, one in known.consumers.items()
        },
    }
    style = STYLE.read_text(encoding="utf-8") + render_highlights(known)
    return {"style.css": style, **{name: frame(one) for name, one in pages.items()}}
