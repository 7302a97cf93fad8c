"""The linter of the contracts' standard, in its own environment: `python -m infra.linter`."""

from infra.separate import SeparateEnvironment

LINTER = SeparateEnvironment("linter", "linter of the contracts", ("--only-binary", ":all:"))

if __name__ == "__main__":
    LINTER.main()
