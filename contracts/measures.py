"""What goods are sold by: the piece, or one of a closed list of measures.

Units of a product with a measure are whole thousandths of it (grams, millilitres, millimetres), so
that every sum of units stays exact. Its prices and costs are for one whole measure.
"""

from contracts.catalog import PRODUCTS

UNITS_PER_MEASURE = 1_000
"""The units of one whole measure."""

[MEASURES] = [
    rule.limit
    for rule in PRODUCTS.rules
    if rule.path == ("measure",) and isinstance(rule.limit, tuple)
]
"""The measures. The contracts of receipts and refunds have the same."""

AMOUNT = """
create macro amount(units, cents, measure) as
    case
        when measure is null then units::bigint * cents
        else (units::bigint * cents + 500) // 1000
    end
"""
"""With it queries of DuckDB can call `amount(units, cents, measure)`: cents, rounded half up where
units are thousandths of a measure; null without units or cents. It is the one place in SQL that
multiplies units by a price."""
