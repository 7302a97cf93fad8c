"""By contract and version: which consumers can read the records of that version."""

from collections.abc import Mapping

from contracts.declarations import Consumers, Use, find_readers
from contracts.evolution.released import Released
from contracts.evolution.reliances import find_unmet
from contracts.evolution.wire import explain_unreadable
from contracts.mapping import build_avro_projection, build_avro_schema
from contracts.projection import list_leaves, project_fields
from contracts.shape import Contract

PRESENT = "present"
"""The name of the version that is not released yet."""

Row = dict[str, str | None]
"""By consumer: why it cannot read that version; None where it can."""


def build_matrix(
    present: Mapping[str, Contract], before: Released, consumers: Consumers
) -> dict[str, dict[str, Row]]:
    """By contract and version; a version that equals its release is there once."""
    matrix = {}
    for name, contract in sorted(present.items()):
        versions = {one.version: one for one in before.get(name, ())}
        uses = find_readers(consumers, name)
        at = {**versions, PRESENT: contract}
        matrix[name] = {
            version: {
                who: _explain_unreadable(use, [*versions.values(), contract], one)
                for who, use in uses.items()
            }
            for version, one in at.items()
        }
    return matrix


def _explain_unreadable(use: Use, versions: list[Contract], written: Contract) -> str | None:
    """Why the consumer cannot read the version.

    The consumer is written for the newest released version that has all fields it uses.
    """
    known = _find_version(use, versions)
    fields = project_fields(known.fields, use.list_paths(known))
    why = explain_unreadable(build_avro_projection(known, fields), build_avro_schema(written))
    return why or next((str(one) for one in find_unmet(use, written)), None)


def _find_version(use: Use, versions: list[Contract]) -> Contract:
    *released, present = versions
    for one in reversed(released):
        if set(use.list_paths(one)) <= {path for path, _ in list_leaves(one.fields)}:
            return one
    return present
