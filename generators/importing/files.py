"""Finds the files to import, and opens what is inside them: members of archives, code pages."""

import codecs
import gzip
import io
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, cast

import pyarrow as pa
from charset_normalizer import from_bytes

from infra.errors import UserError

FORMATS = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet"} | {
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "json"),
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), "sheets"),
}
COMPRESSED = (".gz", ".zst")
ARCHIVE = ".zip"
CHUNK_BYTES = 1 << 20
SAMPLE_BYTES = 1 << 16
MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
WINDOWS = {"iso8859-1": "cp1252", "latin_1": "cp1252", "iso8859-9": "cp1254", "ascii": "cp1252"}
"""What Windows writes where people say that it is the other: more signs, in the same places."""
LATIN = ("cp1252", "cp1250", "cp1254", "cp1257", "cp850", "mac_roman")
OTHERS = ("cp1251", "cp1253", "koi8_r", "shift_jis", "gb18030", "big5", "euc_kr")
LATIN_MAX = 0.6
"""A word in Latin letters has fewer others among them."""
SAMPLE_BYTES_MIN = 2_000


@dataclass(frozen=True)
class Part:
    """A file, or a member of an archive."""

    label: str
    """What messages and refused rows call it."""
    format: str
    open: Callable[[], IO[bytes]]
    path: Path | None = None
    """Of a file that is not compressed."""


def list_files(paths: Sequence[Path]) -> list[Path]:
    """The files; of a folder, its files with a known ending, by name. Raises UserError."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(
                file for file in path.iterdir() if file.is_file() and _is_data(file.name)
            )
            if not inside:
                raise UserError(
                    f"{path} should hold files that end in {_list_endings()}, but has none"
                )
            files += inside
        elif not path.is_file():
            raise UserError(f"{path} should be a file or a folder to import, but there is none")
        elif find_format(path.name) is None:
            raise UserError(f"{path} should end in {_list_endings()}, which says how to read it")
        else:
            files.append(path)
    return files


def list_parts(files: Sequence[Path]) -> Iterator[Part]:
    """The files, and in place of an archive its members. Raises UserError."""
    names = [file.name for file in files]
    for file in files:
        label = file.name if names.count(file.name) == 1 else str(file)
        form = find_format(file.name)
        if form == "archive":
            yield from _list_members(file, label)
        elif form is not None:
            plain = None if file.suffix.lower() in COMPRESSED else file
            yield Part(label, form, partial(_open, file), plain)


def find_format(name: str) -> str | None:
    path = PurePosixPath(name.lower())
    if path.suffix == ARCHIVE:
        return "archive"
    form = FORMATS.get(
        PurePosixPath(path.stem).suffix if path.suffix in COMPRESSED else path.suffix
    )
    return None if path.suffix in COMPRESSED and form in ("parquet", "sheets") else form


def _is_data(name: str) -> bool:
    """Whether the name is of data; hidden files and those of a Mac's archives are not."""
    path = PurePosixPath(name)
    hidden = path.name.startswith((".", "~$")) or "__MACOSX" in path.parts
    return not hidden and find_format(name) is not None


def _list_members(file: Path, label: str) -> Iterator[Part]:
    try:
        with zipfile.ZipFile(file) as archive:
            members = sorted(archive.infolist(), key=lambda member: member.filename)
    except zipfile.BadZipFile as error:
        raise UserError(f"{file} should be an archive, but: {error}") from error
    inside = [member for member in members if _is_data(member.filename)]
    if not inside:
        raise UserError(f"{file} should hold files that end in {_list_endings()}, but has none")
    for member in inside:
        form = find_format(member.filename)
        if (
            member.flag_bits & 1
            or form in (None, "archive")
            or member.filename.endswith(COMPRESSED)
        ):
            raise UserError(
                f"{file} should hold plain files without a password, but has {member.filename}. "
                "Unpack it first"
            )
        opened = cast("Callable[[], IO[bytes]]", partial(_open_member, file, member.filename))
        yield Part(f"{label}/{member.filename}", str(form), opened)


def _open(file: Path) -> IO[bytes]:
    if file.suffix.lower() == ".gz":
        return cast("IO[bytes]", gzip.open(file))
    if file.suffix.lower() == ".zst":
        return cast("IO[bytes]", pa.input_stream(str(file), compression="zstd"))
    return file.open("rb")


def _open_member(file: Path, name: str) -> IO[bytes]:
    return zipfile.ZipFile(file).open(name)


def _list_endings() -> str:
    return f"{', '.join(FORMATS)} or {ARCHIVE}, or with {' or '.join(COMPRESSED)} behind it"


def open_text(part: Part, encoding: str | None) -> IO[str]:
    """The part's text. What is UTF-8 is read so, whatever the encoding. Raises UserError."""
    return io.TextIOWrapper(part.open(), choose_encoding(part, encoding), newline="")


def choose_encoding(part: Part, encoding: str | None) -> str:
    with part.open() as opened:
        head = opened.read(SAMPLE_BYTES)
    for mark, marked in MARKS.items():
        if head.startswith(mark):
            return marked
    if head.count(b"\0") > len(head) // 4:
        return "utf-16-le" if head[1::2].count(b"\0") > len(head) // 4 else "utf-16-be"
    if _can_decode(part, "utf-8"):
        return "utf-8"
    named = WINDOWS.get(codecs.lookup(encoding or "utf-8").name, encoding or "utf-8")
    if _can_decode(part, named):
        return named
    guessed, example = guess_encoding(part)
    raise UserError(
        f"{part.label} should be in {named}, but is not. It reads as {guessed}: {example!r}. If "
        f"that is right, the mapping should say rows: {{encoding: {guessed}}}"
    )


def guess_encoding(part: Part) -> tuple[str, str]:
    """The likeliest encoding of what is not UTF-8, and a line in it."""
    with part.open() as opened:
        lines = (line for line in opened if not line.isascii())
        sample = b"".join(line for line, _ in zip(lines, range(500), strict=False))[:SAMPLE_BYTES]
    words = re.findall(rb"[A-Za-z\x80-\xff]{2,}", sample)  # no word: a sign, such as the euro's
    words = [word for word in words if not word.isascii()]
    strange = sum(byte > 0x7F for word in words for byte in word)
    is_latin = strange <= LATIN_MAX * sum(map(len, words))
    pages = [page for page in (LATIN if is_latin else OTHERS) if _decodes(sample, page)]
    best = from_bytes(sample, cp_isolation=pages).best() if pages else None
    guessed = best.encoding if best else (pages or LATIN)[0]
    if is_latin and len(sample) < SAMPLE_BYTES_MIN and _is_western(sample):
        guessed = LATIN[0]  # a short sample shows no language
    text = sample.decode(guessed, errors="replace")
    return guessed, text.splitlines()[0][:80] if text else ""


def _decodes(sample: bytes, encoding: str) -> bool:
    try:
        return bool(sample.decode(encoding))
    except UnicodeDecodeError:
        return False


def _is_western(sample: bytes) -> bool:
    text = sample.decode(LATIN[0], errors="replace")
    return all(sign.isascii() or sign.isalpha() or sign in "€£©®°’‘“”–—…•«»´ ½¼¾" for sign in text)


def _can_decode(part: Part, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    with part.open() as opened:
        try:
            while chunk := opened.read(CHUNK_BYTES):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True
