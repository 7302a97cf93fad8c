"""The list of erasures beside a data folder: a restore of an older backup applies them again.

It has pseudonyms only. It outlives the data folder, whose lookup forgets an erasure once the log
has its certificate.
"""

import json
import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from infra.errors import UserError
from infra.identities import FILE_MODE, Erased, Identities


def locate_erasures(home: Path) -> Path:
    return home.with_name(f"{home.name}.erasures.jsonl")


def note_erasure(home: Path, erased: Erased) -> None:
    """Append the erasure to the list; the line is on the disk when this returns. Raises OSError."""
    handle = os.open(locate_erasures(home), os.O_WRONLY | os.O_APPEND | os.O_CREAT, FILE_MODE)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(json.dumps(asdict(erased)) + "\n")
        file.flush()
        os.fsync(handle)


def read_erasures(file: Path) -> Sequence[Erased]:
    """The erasures in the list. Raises FileNotFoundError and UserError."""
    found = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            row = json.loads(line)
            found.append(Erased(str(row["pseudonym"]), int(row["cards"]), int(row["wall_ms"])))
        except (ValueError, TypeError, KeyError) as error:
            raise UserError(
                f"{file} should be a list of erasures, as retail forget writes it, but line "
                f"{number} is not. Name another one with --erasures, or mend it: what is left out "
                "stays known."
            ) from error
    return found


def erase_again(home: Path, erasures: Sequence[Erased]) -> int:
    """Erase from the lookup whoever it still knows. Returns how many these were."""
    with closing(Identities(home)) as lookup:
        return sum(lookup.erase_again(each) for each in erasures)
