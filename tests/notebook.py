"""Runs the notebook of the documents, cell by cell: no package here is a notebook program."""

import json
from typing import Any

import pytest

from infra.settings import Settings, locate_root

NOTEBOOK = locate_root() / "docs" / "week.ipynb"


def run_notebook(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What its names stand for in the end."""
    monkeypatch.setenv("DATA_DIR", str(settings.data_dir))
    names: dict[str, Any] = {}
    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    return names
