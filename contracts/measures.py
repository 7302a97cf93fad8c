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
