"""python -m contracts.lock: give every new schema an id."""

from contracts import CONTRACTS
from contracts.schemas import LOCK, extended, locked, text


def main() -> None:
    before = locked()
    after = extended(before, CONTRACTS.values())
    LOCK.write_text(text(after), encoding="utf-8")
    for entry in after[len(before) :]:
        print(f"{entry.topic}: id {entry.id}")
    print(f"{LOCK.name}: {len(after)} schemas, {len(after) - len(before)} new")


if __name__ == "__main__":
    main()
