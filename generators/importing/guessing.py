"""Guesses which column is which field, and by which formats a column of times is read."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence

from generators.importing.times import EXCEL, UNIX, UNIX_MS, Moment, parse_time

MOST = 0.8
"""A format is likely if it reads so much of a column: some rows may be faulty."""
MANY = 0.4
"""The share of a format in a column that is known to hold times, of several formats."""
CURRENCIES = {"€": "EUR", "£": "GBP", "$": "USD", "₹": "INR", "R$": "BRL"}
FIRST = 100
"""So many texts are enough to leave most formats out."""
WIDE_COLUMNS_MIN = 7
"""Columns that differ only in a number are taken for days if there are at least so many."""
DAYS = (
    *("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%d/%m/%y", "%m/%d/%y"),
    *("%d.%m.%y", "%d-%b-%Y", "%d %b %Y", "%b %d, %Y", "%d-%b-%y"),
)
CLOCKS = (
    *(" %H:%M:%S", " %H:%M", " %I:%M:%S %p", " %I:%M %p", ", %I:%M:%S %p", ", %I:%M %p", ""),
    *(" %H:%M:%S.%f", " %H:%M:%S %z", ", %H:%M:%S", ", %H:%M", " %H.%M"),
)
FORMATS = tuple(day + clock for clock in CLOCKS for day in DAYS)

NAMES: Mapping[str, str] = {
    "receipt": """invoiceno invoice receipt receiptid receiptno receiptnumber orderid ordernumber
        orderno transactionid transactionno transaction ticket ticketno ticketnumber basketid bon
        bonnr orderref belegnr beleg rechnungsnr factura facture numticket scontrino billno saleid
        incrementid bonnummer""",
    "time": """invoicedate datetime timestamp time date orderdate soldat when createdat paidat
        transactiondate saledate ordertime orderpurchasetimestamp datum zeitpunkt fecha data day
        purchasedate at""",
    "sku": """stockcode sku lineitemsku itemid productid product item article articleno upc ean
        barcode itemnbr artikelnr artikelnummer artikel articulo codigo code plu itemcode
        productcode itemsku material materialnr lineitemname""",
    "units": """quantity qty units unitssold lineitemquantity sales count pieces menge anzahl
        cantidad quantite qte quantita unitsales stueck aantal qtysold qtyordered n""",
    "unit_price": """unitprice price sellprice itemprice itemcost lineitemprice preis einzelpreis
        precio preciounitario prix prixunitaire prezzo prijs""",
    "amount": """netsales grosssales orderlinetotal amount linetotal total revenue
        salesamount salesvalue rowtotal betrag umsatz summe wert importe montant importo gesamt""",
    "discount": "discount discounts lineitemdiscount rabatt descuento remise sconto",
    "store": """storeid store shop shopid branch outlet storenbr location filiale markt tienda
        magasin negozio winkel sucursal storename plant werk""",
    "customer": """customerid customer memberid client userid householdkey kunde kundennr cliente
        clientid email""",
    "cashier": "cashierid cashier employee operator clerk kassierer cajero",
    "register_id": "registerid register till pos terminal kasse kassennr caja caisse devicename",
    "card": "cardtoken card cardid",
    "name": """description productname itemname name title bezeichnung descripcion libelle
        descrizione lineitemname""",
    "category": "category catid family department deptid group warengruppe categoria categorie",
}
"""Names of columns by field, in lower case without punctuation, the likeliest first."""
LIKELY = ("receipt", "time", "sku", "units", "unit_price")
"""Fields whose columns are also taken by the end of their names."""


TAXES = re.compile(r"\b(ttc|ht|brutto|netto|(incl|excl|inkl|exkl)\b.*)$")
"""What stands behind the name of a price: whether it holds the tax."""


def simplify(name: str) -> str:
    plain = unicodedata.normalize("NFKD", TAXES.sub("", name.lower().replace("ß", "ss")))
    return re.sub(r"[^a-z0-9]", "", plain)


def guess(columns: Sequence[str]) -> dict[str, str]:
    """The likeliest column for each field. No column is used twice; a field may have none."""
    plain = {simplify(name): name for name in reversed(columns)}
    guesses: dict[str, str] = {}
    for field, names in NAMES.items():
        for name in names.split():
            if name in plain and plain[name] not in guesses.values():
                guesses[field] = plain[name]
                break
    for field in LIKELY:
        for name in NAMES[field].split() if field not in guesses else ():
            ends = [
                column for text, column in plain.items() if len(name) > 2 and text.endswith(name)
            ]
            left = [column for column in ends if column not in guesses.values()]
            if left and not (field == "unit_price" and "amount" in guesses):
                guesses[field] = left[0]
                break
    if "unit_price" in guesses:
        guesses.pop("amount", None)
    return guesses


def match_days(columns: Sequence[str]) -> str | None:
    """A regular expression for the columns that are days; None if no columns are."""
    stems = Counter(re.sub(r"[0-9]+", "0", name) for name in columns)
    [(stem, count)] = stems.most_common(1) or [("", 0)]
    if count < WIDE_COLUMNS_MIN or "0" not in stem or stem.startswith("column "):
        return None
    return "^" + re.escape(stem).replace("0", "[0-9]+") + "$"


def find_formats(texts: Sequence[str], share_min: float = MOST) -> list[str | None]:
    """The formats that read such a share of a column's texts; None is ISO 8601."""
    counted = [EXCEL] if all(re.fullmatch(r"[2-7]\d{4}([.,]\d+)?", text) for text in texts) else []
    counted += [UNIX] if all(re.fullmatch(r"1\d{9}(\.\d+)?", text) for text in texts) else []
    counted += [UNIX_MS] if all(re.fullmatch(r"1\d{12}", text) for text in texts) else []
    if not texts or counted:
        return list(counted)
    forms: Sequence[str | None] = (None, *FORMATS)
    for some in (texts[:FIRST], texts):
        forms = [form for form in forms if count_fits(some, form) >= share_min * len(some)]
    return list(forms)


def find_others(texts: Sequence[str], form: str | None) -> list[str | None]:
    """More formats, for the texts that the likeliest does not read."""
    left = [text for text in texts if read_with(text, form) is None]
    fits = {other: count_fits(left, other) for other in (None, *FORMATS)}
    best = max(fits, key=lambda other: fits[other])
    return [best] if left and fits[best] >= MOST * len(left) and best != form else []


def count_fits(texts: Sequence[str], form: str | None) -> int:
    return sum(read_with(text, form) is not None for text in texts)


def read_with(text: str, form: str | None) -> Moment | None:
    return parse_time(text, [form] if form else [])
