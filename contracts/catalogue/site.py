"""The site as files: nothing is fetched from elsewhere, and nothing runs in the browser."""

from collections.abc import Mapping
from pathlib import Path

from contracts.catalogue.graph import highlights
from contracts.catalogue.knowledge import gather
from contracts.catalogue.pages import (
    Frame,
    consumer_page,
    contract_page,
    fields_page,
    frame_alone,
    index,
)

STYLE = Path(__file__).with_name("style.css")


def site(
    folder: Path, data_docs: str | None = None, frame: Frame = frame_alone
) -> Mapping[str, str]:
    """Every file of the site, by its path. Raises BadContract."""
    known = gather(folder, data_docs)
    pages = {
        "index.html": index(known),
        "fields.html": fields_page(known),
        **{f"topics/{name}.html": contract_page(known, o) for name, o in known.contracts.items()},
        **{
            f"consumers/{name}.html": consumer_page(known, one)
            for name, one in known.consumers.items()
        },
    }
    style = STYLE.read_text(encoding="utf-8") + highlights(known)
    return {"style.css": style, **{name: frame(one) for name, one in pages.items()}}


def write(files: Mapping[str, str], target: Path) -> None:
    for name, text in files.items():
        file = target / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
