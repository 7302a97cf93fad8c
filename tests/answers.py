"""Commands and answers as a guide has them, and whether that is what is answered."""

import re
from collections.abc import Iterator

PROMPT = "$ "
LEFT_OUT = "…"

FENCED = re.compile(r"^```(diff)?\n(.*?)^```", re.MULTILINE | re.DOTALL)
"""A diff, or commands that follow a prompt, each with its answer."""

NUMBER = re.compile(r'([Gg]eneration"? ?|served")?[^\s"]*\d[^\s"]*')


def exchanges(block: str) -> Iterator[tuple[str, str]]:
    """The commands of a block, and what each of them answers. A line that ends in \\ goes on."""
    for part in re.split(rf"^{re.escape(PROMPT)}", block, flags=re.MULTILINE)[1:]:
        found = re.match(r"((?:.*\\\n)*.*)\n([\s\S]*)", part)
        assert found, "a command ends where its line does"
        yield found[1], found[2]


def same(written: str, answered: str) -> bool:
    """Whether the answer is as it is written, where a line with … stands for any lines."""
    return _match(written.splitlines(), answered.splitlines())


def alike(written: str, answered: str) -> bool:
    """Whether the answer may be that of another run, where … stands for anything.

    Anything with a digit in it stands for anything else that has one, unless it is the number of a
    generation. How wide or long a line is does not count.
    """
    return _match(_words(written), _words(answered))


def _words(text: str) -> list[str]:
    return NUMBER.sub(lambda number: number[0] if number[1] else "#", text).split()


def _match(written: list[str], answered: list[str]) -> bool:
    pattern = "".join(
        r"(?:.*\n)*?" if piece.strip() == LEFT_OUT else re.escape(f"{piece}\n") for piece in written
    )
    return re.fullmatch(pattern, "".join(f"{piece}\n" for piece in answered)) is not None
