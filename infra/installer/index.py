"""Translates pip's settings for the package index into uv's variables."""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from infra.installer import pip

SECTIONS = ("global", "install", ":env:")
"""The sections of pip's settings that count for an installation; a later one overrides an earlier
one."""

VARIABLES = {
    "index-url": "UV_INDEX_URL",
    "extra-index-url": "UV_EXTRA_INDEX_URL",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "proxy": "ALL_PROXY",
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
    "default-timeout": "UV_HTTP_TIMEOUT",
    "timeout": "UV_HTTP_TIMEOUT",
}
"""pip's settings, and uv's variable for each.

They are variables and not arguments: an address may hold a password, and everybody on the machine
can read arguments.
"""


@dataclass(frozen=True)
class Index:
    """The variables and options with which uv finds packages where pip does."""

    variables: Mapping[str, str]
    options: tuple[str, ...] = ()


def find_index(scratch: Path) -> Index:
    """The index in pip's settings. Raises Broken if pip does not run."""
    return translate(parse(pip.run(["config", "list"], scratch)))


def parse(listed: str) -> dict[str, str]:
    """The settings by name, from what `pip config list` prints."""
    sections: dict[str, dict[str, str]] = {section: {} for section in SECTIONS}
    for section, name, value in re.findall(r"^(.+?)\.([a-z-]+)=(.*)$", listed, re.MULTILINE):
        if section in sections:
            sections[section][name] = str(ast.literal_eval(value))
    return {name: value for section in SECTIONS for name, value in sections[section].items()}


def translate(settings: Mapping[str, str]) -> Index:
    variables = {
        variable: render_value(name, settings[name])
        for name, variable in VARIABLES.items()
        if settings.get(name)
    }
    if "extra-index-url" in settings:
        # pip takes a version from any index that has it; the hashes check that it is the right one.
        variables["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    without = settings.get("no-index", "").lower() in ("1", "true", "yes", "on")
    return Index(variables, ("--no-index",) if without else ())


def render_value(name: str, value: str) -> str:
    """The value as uv reads it: pip separates by white space, uv by one character."""
    if name != "find-links":
        return " ".join(value.split())
    # pip ignores a missing folder; uv would fail.
    return ",".join(one for one in value.split() if "://" in one or Path(one).exists())
