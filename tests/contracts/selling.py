"""Publishes a file of receipts, as the code encodes that is run: `-m tests.contracts.selling`."""

import json
import sys
from pathlib import Path

from contracts import RECEIPTS, encode, encode_key
from contracts.documents import from_document
from contracts.times import to_epoch_ms
from infra.kafka import Outgoing, create_producer, send_all
from infra.settings import read_settings


def main() -> None:
    records = []
    for line in Path(sys.argv[1]).read_text().splitlines():
        event = from_document(RECEIPTS, json.loads(line))
        value, at_ms = encode(RECEIPTS, event), to_epoch_ms(event["event_time"])
        records.append(Outgoing(RECEIPTS.name, encode_key(RECEIPTS, event), value, at_ms))
    send_all(create_producer(read_settings()), records)


if __name__ == "__main__":
    main()
