"""The rooms of the repository, as its package declares them."""

import tomllib

from infra.settings import root

INSTALLED: tuple[str, ...] = tuple(
    tomllib.loads((root() / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"][
        "wheel"
    ]["packages"]
)
"""What a wheel holds."""

ROOMS = (*INSTALLED, "tests")
