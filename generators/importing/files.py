"""Lists the files of an import, finds their format, and renders SQL for their rows."""

from collections.abc import Sequence
from pathlib import Path

import duckdb

from generators.importing.mapping import Mapping
from infra.errors import UserError

FORMATS = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet"} | dict.fromkeys(
    (".jsonl", ".ndjson"), "json"
)
COMPRESSED = (".gz", ".zst")


class BadFile(UserError):
    """A file that cannot be read."""


def list_files(paths: Sequence[Path]) -> list[Path]:
    """The files; of a folder, its files with a known ending, by name. Raises BadFile."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(one for one in path.iterdir() if one.is_file() and _find_format(one))
            if not inside:
                raise BadFile(
                    f"{path} should hold files that end in {_list_endings()}, but has none"
                )
            files += inside
        elif not path.is_file():
            raise BadFile(f"{path} should be a file or a folder to import, but there is none")
        elif _find_format(path) is None:
            raise BadFile(f"{path} should end in {_list_endings()}, which says how to read it")
        else:
            files.append(path)
    return files


def scan(file: Path, mapping: Mapping | None) -> str:
    """SQL for the file's rows, every column as text."""
    name = quote(str(file))
    if _find_format(file) == "parquet":
        return f"read_parquet({name})"
    if _find_format(file) == "json":
        return f"read_json({name}, format = 'newline_delimited', ignore_errors = true)"
    rows = mapping.rows if mapping else None
    delimiter = f", delim = {quote(rows.delimiter)}" if rows and rows.delimiter else ""
    encoding = rows.encoding if rows else "utf-8"
    return (
        f"read_csv({name}, header = true, all_varchar = true, null_padding = true,"
        f" strict_mode = false, parallel = false, encoding = '{encoding}'{delimiter})"
    )


def list_columns(engine: duckdb.DuckDBPyConnection, relation: str) -> list[str]:
    return [row[0] for row in engine.execute(f"describe from {relation}").fetchall()]


def _find_format(file: Path) -> str | None:
    name = Path(file.stem) if file.suffix in COMPRESSED else file
    return FORMATS.get(name.suffix.lower())


def _list_endings() -> str:
    return f"{', '.join(FORMATS)}, or with {' or '.join(COMPRESSED)} behind it"


def quote_name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
