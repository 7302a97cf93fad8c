"""Times as people write them: ISO 8601 and what is near it, formats, serial numbers, clocks."""

import re
from calendar import month_abbr
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import NamedTuple
from unicodedata import normalize

EXCEL = "excel"
UNIX, UNIX_MS = "unix", "unix-ms"
COUNTED = (EXCEL, UNIX, UNIX_MS)
"""Formats that count days or seconds."""
EXCEL_SINCE = date(1899, 12, 30)
SERIAL_MAX = 2_958_465
"""The 31st of December 9999, in days of Excel."""

ISO = re.compile(
    r"(?P<year>\d{4})(?:(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})"
    r"|(?P<month2>\d{2})(?P<day2>\d{2}))"
    r"(?:(?:T|t|\s+|(?<=\d{8}))(?P<clock>\d.*))?"
)
ZONE = r"(?:Z|UTC|GMT|[-+]\d{2}:?(?:\d{2})?)"
OFFSET = re.compile(rf"\s*{ZONE}", re.IGNORECASE)
OFFSET_BEHIND = re.compile(rf"\s*{ZONE}$", re.IGNORECASE)
CLOCK = re.compile(
    r"(?P<hour>\d{1,2})[:.h](?P<minute>\d{2})(?:[:.m](?P<second>\d{2})(?:[.,](?P<part>\d{1,9}))?)?s?"
    r"(?:\s?(?P<half>[AaPp])\.?\s?[Mm]\.?)?"
)
BASIC = re.compile(
    r"(?P<hour>\d{2})(?P<minute>\d{2})(?:(?P<second>\d{2})(?:[.,](?P<part>\d{1,9}))?)?"
)
DIGITS = re.compile(r"(?P<hour>\d\d)(?P<minute>\d\d)?(?P<second>\d\d)?(?P<part>x)?")
ZONE_NAME = re.compile(r"\s*\[[A-Za-z_/+-]+\]$")

DIRECTIVES = frozenset("YymbBdHIMSfpzaA%")
SHORT = {"%-": "%", "%T": "%H:%M:%S", "%R": "%H:%M", "%F": "%Y-%m-%d", "%h": "%b", "%B": "%b"}
WEEKDAY = re.compile(r"^[^\W\d_]+[.,]*\s*")
HALF = re.compile(r"(?<![^\W\d])([ap])\.?\s?m\.?(?![^\W\d])", re.IGNORECASE)
WORD = re.compile(r"([^\W\d_]{3,})(?:\.(?=\s|$))?")
LONG_PART = re.compile(r"([.,]\d{6})\d+")
_NAMES = (
    "jan gen ene|feb fev|mar mrz maa|apr avr abr|may mai mag mei|jun juin giu|jul juil lug|"
    "aug aou ago|sep set|oct okt ott out|nov|dec dez dic des"
)
MONTHS = {
    name: 1 + place for place, month in enumerate(_NAMES.split("|")) for name in month.split()
}
"""By the first letters of their names, without accents, in the languages of many tills."""

Clock = Callable[[str], timedelta | None]
"""Reads a time of day; None for what is none."""


class Moment(NamedTuple):
    """A time as it was read: of a clock on the wall, or an instant if it has an offset."""

    local: datetime
    """Without a zone; in UTC if `is_instant`."""
    is_instant: bool = False
    has_clock: bool = True
    """Whether the text says more than the day."""


def parse_time(text: str, formats: Sequence[str], since: date | None = None) -> Moment | None:
    """The moment by the first of the formats that fits, or by ISO 8601; None if nothing fits.

    None, too, if two formats fit and say different moments: then nobody knows.
    """
    text = text.replace("\u00a0", " ").replace("\u202f", " ").strip()
    if since is not None:
        return _count_days(text, since)
    if not formats:
        return parse_iso(text)
    found: Moment | None = None
    for form in formats:
        moment = _parse_format(text, form)
        if moment is not None and found not in (None, moment):
            return None
        found = moment or found
    return found


def parse_iso(text: str) -> Moment | None:
    """ISO 8601 as its writers write it; week dates and days of the year are None."""
    found = ISO.fullmatch(ZONE_NAME.sub("", text))
    if found is None:
        return None
    with suppress(ValueError, OverflowError):
        month, day = found["month"] or found["month2"], found["day"] or found["day2"]
        midnight = datetime(int(found["year"]), int(month), int(day))  # noqa: DTZ001 - a wall's
        if found["clock"] is None:
            return Moment(midnight, has_clock=False)
        return _add_clock(midnight, found["clock"])
    return None


def _add_clock(midnight: datetime, text: str) -> Moment | None:
    clock = CLOCK.match(text) or BASIC.match(text)
    if clock is None:
        return None
    offset = text[clock.end() :]
    passed = _read_clock(clock.groupdict())
    if passed is None:
        return None
    if not offset:
        return Moment(midnight + passed)
    if not OFFSET.fullmatch(offset):
        return None
    return Moment(midnight + passed - read_offset(offset), is_instant=True)


def _read_clock(named: dict[str, str | None]) -> timedelta | None:
    hour, minute = int(named["hour"] or 0), int(named.get("minute") or 0)
    second = int(named.get("second") or 0)
    if half := named.get("half"):
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half in "Pp" else 0)
    part = int(f"{named.get('part') or '0':0<6}"[:6])
    passed = timedelta(hours=hour, minutes=minute, seconds=second, microseconds=part)
    is_end = hour == 24 and passed == timedelta(days=1)
    return passed if (hour < 24 or is_end) and minute < 60 and second < 60 else None


def _parse_format(text: str, form: str) -> Moment | None:
    if form == EXCEL:
        return _count_days(text, EXCEL_SINCE)
    with suppress(ValueError, OverflowError):
        if form in COUNTED:
            seconds = float(text) / (1000 if form == UNIX_MS else 1)
            return Moment(datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None), True)
        plain, has_clock = compile_format(form)
        if not text.isascii() or any(map(str.isalpha, text)):
            text = _translate(WEEKDAY.sub("", text) if form.startswith(("%a", "%A")) else text)
        text, is_instant, ahead = LONG_PART.sub(r"\1", text), plain.endswith("%z"), timedelta()
        if is_instant:
            plain, zone = plain.removesuffix("%z").rstrip(), OFFSET_BEHIND.search(text)
            if zone is None:
                return None
            text, ahead = text[: zone.start()], read_offset(zone[0])
        moment = datetime.strptime(text, plain)  # noqa: DTZ007 - a wall's, or its offset is off
        return Moment(moment - ahead, is_instant, has_clock)
    return None


def _translate(text: str) -> str:
    """Months and halves of the day as strptime knows them."""

    def name(word: re.Match[str]) -> str:
        letters = "".join(filter(str.isalpha, normalize("NFKD", word[1].lower())))
        month = MONTHS.get(letters[:4]) or MONTHS.get(letters[:3])
        return month_abbr[month] if month else word[0]

    return WORD.sub(name, HALF.sub(r"\1m", text))


@cache
def compile_format(form: str) -> tuple[str, bool]:
    """The format for strptime, and whether it has the time of day. Raises ValueError."""
    for short, long in SHORT.items():
        form = form.replace(short, long)
    form = re.sub(r"^%[aA][.,]?\s*", "", form)
    fields = set(re.findall("%(.?)", form))
    if not fields <= DIRECTIVES:
        raise ValueError(f"one of {', '.join('%' + name for name in sorted(DIRECTIVES))}")
    if not (fields & {"Y", "y"} and fields & {"m", "b"} and "d" in fields):
        raise ValueError("a format with year, month and day, such as %d/%m/%Y %H:%M")
    if "z" in fields and not form.endswith("%z"):
        raise ValueError("a format with %z at its end")
    if ("p" in fields) != ("I" in fields):
        raise ValueError("%I together with %p: hours up to 12 need the half of the day")
    return form, bool(fields & {"H", "I"})


def has_hours(form: str) -> bool:
    return form in COUNTED or compile_format(form)[1]


def read_offset(text: str) -> timedelta:
    """`+02:00`, `-0500`, `Z` → what the clock is ahead of UTC."""
    digits = re.sub(r"\D", "", text)
    ahead = timedelta(hours=int(digits[:2] or 0), minutes=int(digits[2:] or 0))
    return -ahead if "-" in text else ahead


def _count_days(text: str, since: date) -> Moment | None:
    if not re.fullmatch(r"\d{1,7}(?:[.,]\d+)?", text):
        return None
    days = float(text.replace(",", "."))
    if days > SERIAL_MAX:
        return None
    with suppress(OverflowError):
        start = datetime.combine(since, time())
        moment = start + timedelta(seconds=round(days * 86_400))
        return Moment(moment, has_clock=not days.is_integer())
    return None


def choose_clock(texts: Iterable[str]) -> Clock:
    """How a column of times of day is read.

    Digits alone are hours, hours and minutes, or seconds too, by the longest of them.
    """
    digits = max((len(text) for text in texts if text.isdecimal()), default=0)
    width = digits + digits % 2

    def read(text: str) -> timedelta | None:
        text = re.sub(r"^18(99-12-3[01])[T ]", "", text.strip())
        if text.isdecimal():
            found = DIGITS.fullmatch(text.zfill(width))
        elif re.fullmatch(r"0?[.,]\d+", text):  # a part of a day, as Excel has it
            return timedelta(seconds=round(float(text.replace(",", ".")) * 86_400))
        else:
            found = CLOCK.fullmatch(text)
        return None if found is None else _read_clock(found.groupdict())

    return read
