"""What a line comes to, in the oracles: the one place in SQL that multiplies units by a price."""

import duckdb

MACRO = """
create macro amount(units, cents, measure) as
    case
        when measure is null then units::bigint * cents
        else (units::bigint * cents + 500) // 1000
    end
"""
"""Cents, rounded half up where units are thousandths of a measure; null without units or cents."""


def create_amount(engine: duckdb.DuckDBPyConnection) -> None:
    """Let the engine's queries call `amount(units, cents, measure)`."""
    engine.execute(MACRO)
