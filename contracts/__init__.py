"""Contracts: the only place that defines fields, keys, units, rules and topic settings."""

# ruff: noqa: F403
# mypy: implicit-reexport

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contracts.catalog import *
    from contracts.codec import *
    from contracts.digests import *
    from contracts.dimensions import *
    from contracts.errors import *
    from contracts.mapping import *
    from contracts.models import *
    from contracts.schemas import *
    from contracts.shape import *
else:
    # What is found without the contracts of this repository comes first.
    MODULES = (
        "errors",
        "shape",
        "mapping",
        "models",
        "schemas",
        "catalog",
        "codec",
        "digests",
        "dimensions",
    )

    def __getattr__(name: str) -> Any:
        """A name of one of these modules, when it is first asked for.

        The contracts are loaded no sooner: what checks them has to run while one is bad.
        """
        if not name.startswith("__") and find_spec(f"{__name__}.{name}") is None:
            for module in (import_module(f"{__name__}.{module}") for module in MODULES):
                if hasattr(module, name):
                    globals()[name] = getattr(module, name)
                    return globals()[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
