"""python -m tests.contracts.evolution.rewrite: put the present answers into the guide.

After a contract or a consumer was added: the counts and the readers in the answers are others then.
"""

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from typer.testing import CliRunner

from ops.cli import contracts as commands
from ops.cli.experiments import PROMPT
from ops.cli.main import build_application
from tests.answers import FENCED
from tests.contracts.evolution.editing import TODAY, copy_contracts
from tests.contracts.evolution.guide import GUIDE, apply

SECTION = re.compile(r"(?=^## )", re.MULTILINE)


def main() -> None:
    sections = SECTION.split(GUIDE.read_text(encoding="utf-8"))
    with patch.object(commands, "get_today", lambda: TODAY):
        GUIDE.write_text("".join(map(follow_section, sections)), encoding="utf-8")


def follow_section(section: str) -> str:
    """The section with the answers that its commands have now."""
    with TemporaryDirectory() as scratch:
        folder = copy_contracts(Path(scratch) / "contracts")

        def answer_block(block: re.Match[str]) -> str:
            if block[1]:
                apply(folder, block[2])
                return block[0]
            command = block[2].splitlines()[0].removeprefix(PROMPT)
            words = [*command.removeprefix("retail ").split(), "--folder", str(folder)]
            answer = (
                CliRunner().invoke(build_application(), words).output.replace(f"{scratch}/", "")
            )
            return f"```\n{PROMPT}{command}\n{answer}```"

        return FENCED.sub(answer_block, section)


if __name__ == "__main__":
    main()
