"""What a document sets as code, and the headings that links lead to."""

import re
from collections.abc import Iterator
from pathlib import Path

FENCED = re.compile(r"^```.*?\n(.*?)^```", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")


def list_code(text: str) -> Iterator[str]:
    """Everything set as code: each line of a block, and each span."""
    for block in FENCED.findall(text):
        yield from block.splitlines()
    yield from list_spans(text)


def list_spans(text: str) -> list[str]:
    return SPAN.findall(FENCED.sub("", text))


def list_anchors(file: Path) -> set[str]:
    """The headings, as their links spell them."""
    titles = re.findall(r"^#+ (.+)$", FENCED.sub("", file.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
