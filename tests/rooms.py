"""The rooms of the repository, as its package declares them."""

import tomllib

from infra.settings import locate_root

INSTALLED: tuple[str, ...] = tuple(
    tomllib.loads((locate_root() / "pyproject.toml").read_text())["tool"]["hatch"]["build"][
        "targets"
    ]["wheel"]["packages"]
)
"""What a wheel holds."""

ROOMS = (*INSTALLED, "tests")
