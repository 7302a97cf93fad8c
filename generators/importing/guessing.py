"""Guesses the meaning of columns by their names."""

import re
from collections.abc import Mapping, Sequence

WIDE_COLUMNS_MIN = 7
"""Columns that differ only in a number are taken for days if there are at least so many."""

NAMES: Mapping[str, str] = {
    "receipt": "invoiceno invoice receipt receiptid receiptno orderid transactionid ticket",
    "time": "invoicedate datetime timestamp time date orderdate soldat when",
    "sku": "stockcode sku itemid productid product item article upc",
    "units": "quantity qty units unitssold sales count pieces",
    "unit_price": "unitprice price sellprice itemprice",
    "amount": "amount linetotal total revenue salesamount",
    "store": "storeid store shop shopid branch outlet storenbr location",
    "customer": "customerid customer memberid client",
    "cashier": "cashierid cashier employee operator clerk",
    "register_id": "registerid register till pos terminal",
    "card": "cardtoken card cardid",
    "name": "description productname itemname name title",
    "category": "category catid family department deptid group",
}
"""Names of columns by field, in lower case without punctuation, the likeliest first."""


def guess(columns: Sequence[str]) -> dict[str, str]:
    """The likeliest column for each field. No column is used twice; a field may have none."""
    plain = {re.sub(r"[^a-z0-9]", "", name.lower()): name for name in reversed(columns)}
    guesses: dict[str, str] = {}
    for field, names in NAMES.items():
        for name in names.split():
            if name in plain and plain[name] not in guesses.values():
                guesses[field] = plain[name]
                break
    if "unit_price" in guesses:
        guesses.pop("amount", None)
    return guesses


def match_days(columns: Sequence[str]) -> str | None:
    """A regular expression for the columns that are days; None if no columns are."""
    stems: dict[str, int] = {}
    for name in columns:
        stem = re.sub(r"[0-9]+", "0", name)
        stems[stem] = stems.get(stem, 0) + 1
    stem, count = max(stems.items(), key=lambda one: one[1])
    if count < WIDE_COLUMNS_MIN or "0" not in stem:
        return None
    return "^" + re.escape(stem).replace("0", "[0-9]+") + "$"
