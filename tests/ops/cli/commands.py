"""Commands of `retail`, run in the test's own process."""

from typer.testing import CliRunner

from ops.cli.main import build_application


def run_command(command: str, *words: str, exit_code: int = 0) -> str:
    """What the command prints. Raises its error, and AssertionError for another exit code."""
    done = CliRunner().invoke(build_application(), [command, *words], catch_exceptions=False)
    assert done.exit_code == exit_code, done.output
    return done.output
