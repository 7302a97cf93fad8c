import pytest

from contracts.partitions import choose_partition, murmur2


@pytest.mark.parametrize(
    ("key", "hashed"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_the_hash_is_the_one_in_kafka_s_own_test(key: bytes, hashed: int) -> None:
    assert murmur2(key) == hashed % 2**32


def test_stores_spread_over_the_partitions() -> None:
    assert {choose_partition(f"S{number:03d}".encode(), 4) for number in range(12)} == {0, 1, 2, 3}
