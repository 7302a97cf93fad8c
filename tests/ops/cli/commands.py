"""Commands of `retail`, run in the test's own process."""

from typer.testing import CliRunner

from ops.cli.main import build_application


def run_command(command: str, *words: str) -> str:
    """What the command prints. Raises its error, and AssertionError unless it ends with 0."""
    done = CliRunner().invoke(build_application(), [command, *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output
