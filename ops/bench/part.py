"""One part of the bench as a process of its own: `python -m ops.bench.part PART SCALE FILE`.

Each figure is appended to the file, as a line of JSON, as soon as there is one.
"""

import importlib
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from pydantic import TypeAdapter

from infra.settings import Settings, read_settings
from ops.bench.figures import Figure
from ops.bench.scale import FULL, QUICK, Scale

FIGURE = TypeAdapter(Figure)
SCALES = {scale.name: scale for scale in (FULL, QUICK)}

Measure = Callable[[Settings, Scale], Iterator[Figure]]


def main() -> None:
    part, scale, file = sys.argv[1:]
    measure: Measure = importlib.import_module(f"ops.bench.{part}").measure
    for figure in measure(read_settings(), SCALES[scale]):
        with Path(file).open("ab") as figures:
            figures.write(FIGURE.dump_json(figure) + b"\n")


def read_figures(file: Path) -> tuple[Figure, ...]:
    """The figures that a part has written so far."""
    lines = file.read_bytes().splitlines() if file.exists() else []
    return tuple(FIGURE.validate_json(line) for line in lines)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # to stop its children
    main()
