"""Make the environment that everything else runs in.

The system's Python runs it, and may be old. So an old Python can parse this file, which then says
what is wrong.
"""

import sys

PYTHON_MIN = (3, 11)


def main():  # type: () -> None
    if sys.version_info < PYTHON_MIN:
        sys.exit(explain_old_python(sys.version_info[:3], sys.executable))
    from infra.environment import RETAIL
    from infra.installer import Broken

    try:
        RETAIL.ensure()
    except Broken as broken:
        sys.exit(str(broken))
    except KeyboardInterrupt:
        sys.exit("\nInterrupted. The next run makes the environment anew.")


def explain_old_python(version, command):  # type: (tuple[int, int, int], str) -> str
    """What to do about a Python that is too old."""
    return (
        "Python {}.{} or newer is needed, {} is {}.{}.{}.\n"
        "Install a newer one, or name it: make up PYTHON=python3.11"
    ).format(*PYTHON_MIN, command, *version)


if __name__ == "__main__":
    main()
