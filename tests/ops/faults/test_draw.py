from itertools import islice

from ops.faults.draw import draw

NAMES = ("kill-api", "kill-broker", "pause-api", "poison-record")


def test_a_seed_always_draws_the_same() -> None:
    assert list(islice(draw(7, NAMES), 50)) == list(islice(draw(7, NAMES[::-1]), 50))


def test_another_seed_draws_another_order() -> None:
    orders = {tuple(name for name, _ in islice(draw(seed, NAMES), 8)) for seed in range(20)}
    assert len(orders) > 10


def test_each_comes_once_before_any_comes_again() -> None:
    drawn = [name for name, _ in islice(draw(3, NAMES), 12)]
    for begin in range(0, 12, 4):
        assert set(drawn[begin : begin + 4]) == set(NAMES)


def test_where_nothing_is_possible_nothing_is_drawn() -> None:
    assert list(draw(1, ())) == []
