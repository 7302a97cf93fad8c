"""Refunds without a receipt at one till: a cashier pockets the money, or customers lost theirs."""

from generators.customers import CASH, Payer
from generators.incidents.scene import MINUTE_MS, Deed, Deeds, Scene, Stories

SHIFT_LEFT_MS_MIN = 120 * MINUTE_MS
CASH_SHARE = 0.7  # of false refunds; the others go to a card of the cashier's


def false_refunds(scene: Scene) -> Deeds:
    """A cashier refunds all shift long, for goods that nobody brought."""
    if scene.left_ms < SHIFT_LEFT_MS_MIN:
        return
    till, accomplice = scene.choose_till(), scene.choose_payer()
    for after_ms in scene.draw_times_ms(scene.draw_whole(8, 24), scene.left_ms):
        payee = CASH if scene.draw.random() < CASH_SHARE else accomplice
        yield refund_blindly(scene, after_ms, till, (350, 2_500), payee, real=False)


def gift_returns(scene: Scene) -> Deeds:
    """After the holidays people bring back their gifts, each with their own card."""
    return refund_at_one_till(scene, (10, 25), (120, 300), cents=(350, 2_500))


def recall(scene: Scene) -> Deeds:
    """A spoilt batch: sold in the morning, brought back with the receipt."""
    till = scene.choose_till()
    times_ms = scene.draw_times_ms(scene.draw_whole(8, 16), scene.draw_minutes_ms(30, 90))
    for number, after_ms in enumerate(times_ms):
        payer = scene.choose_payer()
        back_ms = after_ms + scene.draw_minutes_ms(30, 120)
        yield scene.plan("buy", payer, after_ms, goods="usual", units=2)
        yield scene.plan("return", payer, back_ms, till=till, goods="usual", receipt=2 * number)


def spoilt_fruit(scene: Scene) -> Deeds:
    """Small refunds in cash, without questions."""
    return refund_at_one_till(scene, (6, 14), (60, 300), cents=(50, 250), payee=CASH, goods="cheap")


def printer_out_of_paper(scene: Scene) -> Deeds:
    """A till prints no receipts for an hour; some buyers come back and are refunded by card."""
    return refund_at_one_till(scene, (4, 8), (60, 240), cents=(300, 2_000))


def bad_day(scene: Scene) -> Deeds:
    """A few refunds in cash for lost receipts, as on any day, but all at one till."""
    return refund_at_one_till(scene, (2, 4), (60, 300), cents=(350, 1_500), payee=CASH)


def leftovers(scene: Scene) -> Deeds:
    """One customer brings back the rest of a party, item by item."""
    till, payer = scene.choose_till(), scene.choose_payer()
    for after_ms in scene.draw_times_ms(scene.draw_whole(2, 5), scene.draw_minutes_ms(3, 10)):
        yield refund_blindly(scene, after_ms, till, (350, 1_500), payer)


def refund_at_one_till(
    scene: Scene,
    count: tuple[int, int],
    within_minutes: tuple[float, float],
    cents: tuple[float, float],
    payee: Payer | None = None,
    goods: str = "usual",
) -> Deeds:
    """Refunds without a receipt, to the payee, or each to another card."""
    till = scene.choose_till()
    times_ms = scene.draw_times_ms(scene.draw_whole(*count), scene.draw_minutes_ms(*within_minutes))
    for after_ms in times_ms:
        yield refund_blindly(scene, after_ms, till, cents, payee, goods=goods)


def refund_blindly(
    scene: Scene,
    after_ms: int,
    till: int,
    cents: tuple[float, float],
    payee: Payer | None,
    real: bool = True,
    goods: str = "usual",
) -> Deed:
    """A refund that names no receipt. `payee` None: anybody with a card."""
    amount = int(scene.draw_between(*cents))
    payee = payee or scene.choose_payer()
    return scene.plan(
        "return", payee, after_ms, till=till, goods=goods, cents=amount, real=real, counts=True
    )


STORIES = Stories(
    (false_refunds,), (gift_returns, recall, spoilt_fruit, printer_out_of_paper, bad_day, leftovers)
)
