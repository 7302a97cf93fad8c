"""Shows an installation: a progress bar while it runs, a line when it is done."""

import re
import sys
from dataclasses import dataclass, field

BAR_WIDTH = 20
MEBIBYTES = {"B": 2**-20, "KiB": 2**-10, "MiB": 1, "GiB": 2**10}
LINE = re.compile(
    r"Downloading (?P<announced>\S+) \((?P<size>[\d.]+)(?P<unit>\w+)\)"
    r"| Downloaded (?P<downloaded>\S+)"
    r"| +Building (?P<building>\S+)"
    r"| +Built (?P<built>\S+)"
    r"| \+ (?P<installed>\S+)"
)
"""The lines that uv prints without a terminal: larger downloads, builds, installations."""


@dataclass
class Bar:
    """The progress of uv, from the lines that it prints."""

    mebibytes: dict[str, float] = field(default_factory=dict)
    waiting: set[str] = field(default_factory=set)
    building: set[str] = field(default_factory=set)
    packages: int = 0

    def note(self, line: str) -> None:
        match = LINE.match(line)
        if not match:
            return
        values = match.groupdict(default="")
        if match["announced"]:
            self.mebibytes[values["announced"]] = float(values["size"]) * MEBIBYTES[values["unit"]]
            self.waiting.add(values["announced"])
        self.waiting.discard(values["downloaded"])
        self.building |= {values["building"]} - {""}
        self.building.discard(values["built"])
        self.packages += bool(values["installed"])

    def __str__(self) -> str:
        """The last block of the bar stands for building and installing."""
        total = sum(self.mebibytes.values())
        done = total - sum(self.mebibytes[name] for name in self.waiting)
        blocks = BAR_WIDTH if self.packages else int((BAR_WIDTH - 1) * done / (total or 1))
        return f"{'█' * blocks}{'░' * (BAR_WIDTH - blocks)} {self._what(done, total)}"

    def _what(self, done: float, total: float) -> str:
        if self.packages:
            return f"{self.packages} packages"
        if self.waiting:
            return f"{done:.0f} of {total:.0f} MiB"
        return f"building {min(self.building)}" if self.building else "small and source packages"


def show_progress(text: object) -> None:
    """Show the current step, on a terminal only."""
    if sys.stdout.isatty():
        print(f"\r  {'environment':<13} {text!s:<50}", end="", flush=True)


def step(text: str, seconds: float) -> None:
    """Print the line of a finished step, with its seconds."""
    start = "\r" if sys.stdout.isatty() else ""
    print(f"{start}  {'environment':<13} {text:<50} {seconds:>5.0f} s", flush=True)
