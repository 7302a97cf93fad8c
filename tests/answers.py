"""Commands and answers as a guide has them, and whether that is what is answered."""

import re

LEFT_OUT = "…"

FENCED = re.compile(r"^```(diff)?\n(.*?)^```", re.MULTILINE | re.DOTALL)
"""A diff, or commands that follow a prompt, each with its answer."""

NUMBER = re.compile(r'([Gg]eneration"? ?|served")?[^\s"]*\d[^\s"]*')


def is_same(written: str, answered: str) -> bool:
    """Whether the answer is as it is written, where a line with … stands for any lines."""
    return _matches(written.splitlines(), answered.splitlines())


def is_alike(written: str, answered: str) -> bool:
    """Whether the answer may be that of another run, where … stands for anything.

    Anything with a digit in it stands for anything else that has one, unless it is the number of a
    generation. How wide or long a line is does not count.
    """
    return _matches(_split_words(written), _split_words(answered))


def _split_words(text: str) -> list[str]:
    return NUMBER.sub(lambda number: number[0] if number[1] else "#", text).split()


def _matches(written: list[str], answered: list[str]) -> bool:
    pattern = "".join(
        r"(?:.*\n)*?" if piece.strip() == LEFT_OUT else re.escape(f"{piece}\n") for piece in written
    )
    return re.fullmatch(pattern, "".join(f"{piece}\n" for piece in answered)) is not None
