"""Many sales on one card in a short time: a thief is in a hurry, and so are honest customers."""

from generators.incidents.deed import Deed, Plan
from generators.incidents.scene import Scene


def stolen_card(scene: Scene) -> Plan:
    """The thief buys dear goods at till after till, before anybody blocks the card."""
    pace_ms = scene.draw_minutes_ms(0.3, 1.5)
    return plan_series(scene, scene.draw_whole(6, 16), pace_ms, "dear", lines=2)


def family(scene: Scene) -> Plan:
    """Parents and children at neighbouring tills, one card."""
    return plan_series(
        scene, scene.draw_whole(2, 4), scene.draw_minutes_ms(0.3, 1.5), "usual", lines=3
    )


def forgetful(scene: Scene) -> Plan:
    """A customer comes back for forgotten goods."""
    return plan_series(
        scene, scene.draw_whole(2, 3), scene.draw_minutes_ms(4, 12), "usual", lines=1
    )


def lunch_round(scene: Scene) -> Plan:
    """Colleagues fetch lunch one after the other, with the company's card."""
    return plan_series(scene, scene.draw_whole(3, 5), scene.draw_minutes_ms(1, 3), "cheap", lines=2)


def vouchers(scene: Scene) -> Plan:
    """One basket in several parts, since a voucher counts once for each receipt."""
    return plan_series(
        scene, scene.draw_whole(3, 4), scene.draw_minutes_ms(0.5, 1), "usual", lines=2
    )


def school_trip(scene: Scene) -> Plan:
    """A teacher pays for group after group."""
    return plan_series(scene, scene.draw_whole(5, 8), scene.draw_minutes_ms(4, 7), "cheap", lines=3)


def plan_series(scene: Scene, sales: int, pace_ms: int, goods: str, lines: int) -> Plan:
    """This many sales on a card, about this long apart."""
    payer = scene.choose_payer()
    at_ms, deeds = scene.starts_ms, []
    for _ in range(sales):
        till = scene.choose_till()
        deeds.append(Deed(at_ms, scene.store.number, till, "buy", payer, goods, lines, counts=True))
        at_ms += int(pace_ms * scene.draw_between(0.6, 1.4))
    return Plan(deeds)
