"""PyFlink, in its own environment: `python -m infra.flink`. The bench alone runs it."""

from infra.separate import SeparateEnvironment

FLINK = SeparateEnvironment("flink", "PyFlink")

if __name__ == "__main__":
    FLINK.main()
