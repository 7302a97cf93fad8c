"""python -m contracts.lock: give every new schema an id."""

from contracts import CONTRACTS
from contracts.schemas import LOCK, extend, load_lock, render_lock


def main() -> None:
    before = load_lock()
    after = extend(before, CONTRACTS.values())
    LOCK.write_text(render_lock(after), encoding="utf-8")
    for entry in after[len(before) :]:
        print(f"{entry.topic}: id {entry.id}")
    print(f"{LOCK.name}: {len(after)} schemas, {len(after) - len(before)} new")


if __name__ == "__main__":
    main()
