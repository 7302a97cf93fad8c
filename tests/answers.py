"""Commands and answers as a guide has them, and whether that is what is answered."""

import re
from collections.abc import Iterator

PROMPT = "$ "
LEFT_OUT = "…"

FENCED = re.compile(r"^```(diff)?\n(.*?)^```", re.MULTILINE | re.DOTALL)
"""A diff, or commands that follow a prompt, each with its answer."""


def exchanges(block: str) -> Iterator[tuple[str, str]]:
    """The commands of a block, and what each of them answers. A line that ends in \\ goes on."""
    for part in re.split(rf"^{re.escape(PROMPT)}", block, flags=re.MULTILINE)[1:]:
        found = re.match(r"((?:.*\\\n)*.*)\n([\s\S]*)", part)
        assert found, "a command ends where its line does"
        yield found[1], found[2]


def same(written: str, answered: str) -> bool:
    """Whether the answer is as it is written, where a line with … stands for any lines."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == LEFT_OUT else re.escape(f"{line}\n")
        for line in written.splitlines()
    )
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in answered.splitlines())) is not None
