"""Many sales on one card in a short time: a thief is in a hurry, and so are honest customers."""

from generators.incidents.scene import Deeds, Scene, Stories


def stolen_card(scene: Scene) -> Deeds:
    """The thief buys dear goods at till after till, before anybody blocks the card."""
    pace_ms = scene.draw_minutes_ms(0.3, 1.5)
    return plan_series(scene, scene.draw_whole(6, 16), pace_ms, "dear", 2)


def family(scene: Scene) -> Deeds:
    """Parents and children at neighbouring tills, one card."""
    return plan_series(scene, scene.draw_whole(2, 4), scene.draw_minutes_ms(0.3, 1.5), "usual", 3)


def forgetful(scene: Scene) -> Deeds:
    """A customer comes back for forgotten goods."""
    return plan_series(scene, scene.draw_whole(2, 3), scene.draw_minutes_ms(4, 12), "usual", 1)


def lunch_round(scene: Scene) -> Deeds:
    """Colleagues fetch lunch one after the other, with the company's card."""
    return plan_series(scene, scene.draw_whole(3, 5), scene.draw_minutes_ms(1, 3), "cheap", 2)


def vouchers(scene: Scene) -> Deeds:
    """One basket in several parts, since a voucher counts once for each receipt."""
    return plan_series(scene, scene.draw_whole(3, 4), scene.draw_minutes_ms(0.5, 1), "usual", 2)


def school_trip(scene: Scene) -> Deeds:
    """A teacher pays for group after group."""
    return plan_series(scene, scene.draw_whole(5, 8), scene.draw_minutes_ms(4, 7), "cheap", 3)


def plan_series(scene: Scene, sales: int, pace_ms: int, goods: str, lines: int) -> Deeds:
    """This many sales on a card, about this long apart."""
    payer = scene.choose_payer()
    after_ms = 0
    for _ in range(sales):
        yield scene.plan("buy", payer, after_ms, goods=goods, lines=lines, counts=True)
        after_ms += int(pace_ms * scene.draw_between(0.6, 1.4))


STORIES = Stories((stolen_card,), (family, forgetful, lunch_round, vouchers, school_trip))
