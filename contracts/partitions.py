"""The partition of a key, by the hash of Kafka's Java clients.

Of the copies of an event only those in one partition are told apart, so each key has one partition:
a record elsewhere is rejected. librdkafka chooses as Java does with `partitioner=murmur2_random`.
"""

from functools import lru_cache

MULTIPLIER = 0x5BD1E995
SEED = 0x9747B28C
WORD = 0xFFFFFFFF


@lru_cache(maxsize=10_000)
def choose_partition(key: bytes, partitions: int) -> int:
    """The partition that Java's default partitioner and librdkafka's `murmur2_random` choose."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions


def murmur2(data: bytes) -> int:
    """MurmurHash2, 32 bits, unsigned, with Kafka's seed."""
    whole = len(data) // 4 * 4
    hashed = SEED ^ len(data)
    for position in range(0, whole, 4):
        word = int.from_bytes(data[position : position + 4], "little") * MULTIPLIER & WORD
        word ^= word >> 24
        hashed = (hashed * MULTIPLIER & WORD) ^ (word * MULTIPLIER & WORD)
    if whole < len(data):
        hashed ^= int.from_bytes(data[whole:], "little")
        hashed = hashed * MULTIPLIER & WORD
    hashed ^= hashed >> 13
    hashed = hashed * MULTIPLIER & WORD
    return hashed ^ hashed >> 15
