"""What a program of this project needs to know to run under given settings."""

import os
from pathlib import Path

from infra.settings import Settings, root


def environment(where: Settings, code: Path | None = None) -> dict[str, str]:
    """The environment of a program that runs under the settings, from this code or another copy."""
    named = where.model_dump(mode="json", exclude_none=True)
    settings = {name.upper(): str(value) for name, value in named.items()}
    return {**os.environ, **settings, "PYTHONPATH": str(code or root())}
