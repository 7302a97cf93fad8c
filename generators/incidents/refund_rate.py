"""Refunds without a receipt at one till: a cashier pockets the money, or customers lost theirs."""

from generators.customers import CASH, Payer
from generators.incidents.deed import NOTHING, Deed, Plan
from generators.incidents.scene import MINUTE_MS, Scene

SHIFT_LEFT_MS_MIN = 120 * MINUTE_MS
CASH_SHARE = 0.7  # of false refunds; the others go to a card of the cashier's


def false_refunds(scene: Scene) -> Plan:
    """A cashier refunds all shift long, for goods that nobody brought."""
    if scene.left_ms < SHIFT_LEFT_MS_MIN:
        return NOTHING
    till, accomplice = scene.choose_till(), scene.choose_payer()
    times = scene.draw_times_ms(scene.draw_whole(8, 24), scene.left_ms)
    return Plan(
        [
            refund_blindly(scene, at_ms, till, scene.draw_between(350, 2_500), payee, real=False)
            for at_ms in times
            for payee in [CASH if scene.draw.random() < CASH_SHARE else accomplice]
        ]
    )


def gift_returns(scene: Scene) -> Plan:
    """After the holidays people bring back their gifts, each with their own card."""
    return refund_by_card(scene, (10, 25), within_minutes=(120, 300), cents=(350, 2_500))


def recall(scene: Scene) -> Plan:
    """A spoilt batch: sold in the morning, brought back with the receipt."""
    till = scene.choose_till()
    deeds: list[Deed] = []
    for number, at_ms in enumerate(
        scene.draw_times_ms(scene.draw_whole(8, 16), scene.draw_minutes_ms(30, 90))
    ):
        payer = scene.choose_payer()
        back_ms = at_ms + scene.draw_minutes_ms(30, 120)
        store = scene.store.number
        deeds.append(Deed(at_ms, store, scene.choose_till(), "buy", payer, "usual", 1, 2))
        deeds.append(Deed(back_ms, store, till, "return", payer, receipt=2 * number))
    return Plan(deeds)


def spoilt_fruit(scene: Scene) -> Plan:
    """Small refunds in cash, without questions."""
    till = scene.choose_till()
    times = scene.draw_times_ms(scene.draw_whole(6, 14), scene.draw_minutes_ms(60, 300))
    return Plan(
        [
            refund_blindly(scene, at, till, scene.draw_between(50, 250), goods="cheap")
            for at in times
        ]
    )


def printer_out_of_paper(scene: Scene) -> Plan:
    """A till prints no receipts for an hour; some buyers come back and are refunded by card."""
    return refund_by_card(scene, (4, 8), within_minutes=(60, 240), cents=(300, 2_000))


def bad_day(scene: Scene) -> Plan:
    """A few refunds in cash for lost receipts, as on any day, but all at one till."""
    till = scene.choose_till()
    times = scene.draw_times_ms(scene.draw_whole(2, 4), scene.draw_minutes_ms(60, 300))
    return Plan([refund_blindly(scene, at, till, scene.draw_between(350, 1_500)) for at in times])


def leftovers(scene: Scene) -> Plan:
    """One customer brings back the rest of a party, item by item."""
    till, payer = scene.choose_till(), scene.choose_payer()
    times = scene.draw_times_ms(scene.draw_whole(2, 5), scene.draw_minutes_ms(3, 10))
    return Plan(
        [refund_blindly(scene, at, till, scene.draw_between(350, 1_500), payer) for at in times]
    )


def refund_by_card(
    scene: Scene,
    count: tuple[int, int],
    within_minutes: tuple[float, float],
    cents: tuple[float, float],
) -> Plan:
    """Refunds without a receipt at one till, each to another card."""
    till = scene.choose_till()
    times = scene.draw_times_ms(scene.draw_whole(*count), scene.draw_minutes_ms(*within_minutes))
    return Plan(
        [
            refund_blindly(scene, at, till, scene.draw_between(*cents), scene.choose_payer())
            for at in times
        ]
    )


def refund_blindly(
    scene: Scene,
    at_ms: int,
    till: int,
    cents: float,
    payee: Payer = CASH,
    real: bool = True,
    goods: str = "usual",
) -> Deed:
    """A refund that names no receipt."""
    return Deed(
        at_ms,
        scene.store.number,
        till,
        "return",
        payee,
        goods,
        cents=int(cents),
        real=real,
        counts=True,
    )
