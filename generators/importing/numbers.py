"""Numbers as people write them: one decimal sign per column, decided over all of its cells."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

Sign = Literal[".", ","]
"""What stands before the decimals."""
SIGNS: tuple[Sign, Sign] = (".", ",")

WORDS = "EUR|USD|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|TRY|IDR|KWD"
MONEY = rf"(?:(?:{WORDS}|US|A|C|R|S|RD|MX|NZ|HK)?\$|{WORDS}|[€£¥₹₽₩₺₫฿₴₦₱₪₡₲₵₸]"
MONEY += r"|kr\.?|Kč|zł|Ft|lei|Rs\.?|RM|Rp\.?|R|S/\.?|руб\.?|р\.)"
NUMBER = re.compile(
    rf"(?P<open>\()?(?P<sign>[-+])?\s?(?:{MONEY})?\s?(?P<inner>[-+])?"
    r"(?P<digits>[0-9][0-9.,' ]*|[.,][0-9]+)(?P<power>[eE][-+]?[0-9]{1,2})?"
    rf"\s?(?P<trail>[-+])?\s?(?:{MONEY})?\s?(?P<last>[-+])?(?P<close>\))?\s?(?P<percent>%)?"
)
GROUPED = r"[1-9][0-9]{{0,2}}(?:([{0}' ])[0-9]{{3}})(?:\1[0-9]{{3}})*"
INDIAN = r"|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}"
BODIES = {
    ".": re.compile(rf"(?:[0-9]*|{GROUPED.format(',')}{INDIAN})(?:\.[0-9]*)?"),
    ",": re.compile(rf"(?:[0-9]*|{GROUPED.format('.')})(?:,[0-9]*)?"),
}
SPACES = str.maketrans({"\u2212": "-", "\u2013": "-", "’": "'", "`": "'", "_": " "})
DIGITS_MAX = 28
EXAMPLES_MAX = 3


@dataclass(frozen=True, slots=True)
class Number:
    """A number, and whether it is a hundredth of something."""

    value: Decimal
    percent: bool = False


@dataclass
class Evidence:
    """What the cells of a column say of their decimal sign.

    They read the same by both signs (`any`), by one only (`.`, `,`), differently by each
    (`either`, such as 1.234), or by `neither`.
    """

    counts: Counter[str] = field(default_factory=Counter)
    """Rows of each."""
    examples: dict[str, list[str]] = field(default_factory=dict)
    """Some cells of each."""

    @property
    def sign(self) -> Sign | None:
        """The sign that more rows show; None where no row shows one."""
        if not self.counts["."] and not self.counts[","]:
            return None
        return "," if self.counts[","] > self.counts["."] else "."

    @property
    def is_mixed(self) -> bool:
        return bool(self.counts["."] and self.counts[","])


def parse_number(text: str, sign: Sign) -> Number | None:
    """The number that the text is with that decimal sign; None if it is none."""
    if text.isdecimal() and text.isascii() and len(text) <= DIGITS_MAX:
        return Number(Decimal(text))
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(SPACES)
    found = NUMBER.fullmatch(text.strip())
    if found is None or bool(found["open"]) != bool(found["close"]):
        return None
    signs = [found[name] for name in ("open", "sign", "inner", "trail", "last") if found[name]]
    digits = found["digits"].strip()
    if len(signs) > 1 or not BODIES[sign].fullmatch(digits) or len(digits) > DIGITS_MAX:
        return None
    other = "," if sign == "." else "."
    plain = re.sub(rf"[{other}' ]", "", digits).replace(sign, ".")
    value = Decimal(plain + (found["power"] or ""))
    return Number(-value if signs and signs[0] != "+" else value, bool(found["percent"]))


def weigh(texts: Iterable[tuple[str, int]]) -> Evidence:
    """What the texts, each with the number of its rows, say of the decimal sign."""
    evidence = Evidence()
    for text, rows in texts:
        by_point, by_comma = parse_number(text, "."), parse_number(text, ",")
        if by_point is None or by_comma is None:
            key = "." if by_point else "," if by_comma else "neither"
        else:
            key = "any" if by_point == by_comma else "either"
        evidence.counts[key] += rows
        examples = evidence.examples.setdefault(key, [])
        if len(examples) < EXAMPLES_MAX:
            examples.append(text)
    return evidence
