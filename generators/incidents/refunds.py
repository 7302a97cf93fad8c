"""Refunds of goods that were never sold, that were refunded before, or that simply come back."""

from generators.customers import CASH
from generators.incidents.scene import Deeds, Scene, Stories

HIGH_CENTS = (1_900, 12_000)


def invented(scene: Scene) -> Deeds:
    """The refund names a receipt that nobody issued; no goods come back."""
    cents = int(scene.draw_between(*HIGH_CENTS))
    yield scene.plan("return", CASH, cents=cents, invented=True, real=False, counts=True)


def twice(scene: Scene) -> Deeds:
    """A till refunds a receipt, and later once more."""
    payer = scene.choose_payer()
    first, second = scene.draw_minutes_ms(30, 120), scene.draw_minutes_ms(130, 240)
    yield scene.plan("buy", payer, lines=scene.draw_whole(2, 3), units=scene.draw_whole(2, 4))
    yield scene.plan("return", payer, first, receipt=0)
    yield scene.plan("return", payer, second, receipt=0, real=False, counts=True)


def inflated(scene: Scene) -> Deeds:
    """The cashier refunds far more units than were bought."""
    payer = scene.choose_payer()
    percent = scene.draw_whole(4, 9) * 100
    yield scene.plan("buy", payer, units=scene.draw_whole(1, 2))
    later = scene.draw_minutes_ms(20, 180)
    yield scene.plan("return", payer, later, receipt=0, percent=percent, counts=True)


def line_down(scene: Scene) -> Deeds:
    """The till was offline: the receipt is published after its refund."""
    payer = scene.choose_payer()
    yield scene.plan("buy", payer, lines=2, units=3, delay_ms=scene.draw_minutes_ms(70, 115))
    yield scene.plan("return", payer, scene.draw_minutes_ms(20, 60), receipt=0)


def all_of_it(scene: Scene) -> Deeds:
    """A large purchase that nobody at home wanted."""
    payer = scene.choose_payer()
    yield scene.plan("buy", payer, lines=4, units=3)
    yield scene.plan("return", payer, scene.draw_minutes_ms(60, 240), receipt=0)


def in_two_parts(scene: Scene) -> Deeds:
    """The customer returns half of a purchase, and the other half later."""
    payer = scene.choose_payer()
    yield scene.plan("buy", payer, lines=3, units=4)
    yield scene.plan("return", payer, scene.draw_minutes_ms(30, 60), receipt=0, percent=50)
    yield scene.plan("return", payer, scene.draw_minutes_ms(90, 180), receipt=0, percent=50)


def exchange(scene: Scene) -> Deeds:
    """The customer brings a purchase back and buys something else."""
    payer = scene.choose_payer()
    later = scene.draw_minutes_ms(30, 180)
    yield scene.plan("buy", payer, units=4)
    yield scene.plan("return", payer, later, receipt=0)
    yield scene.plan("buy", payer, later, lines=2, units=2)


def goodwill(scene: Scene) -> Deeds:
    """The store refunds half as much again as was bought, for the trouble."""
    payer = scene.choose_payer()
    yield scene.plan("buy", payer, units=2, goods="usual")
    later = scene.draw_minutes_ms(30, 180)
    yield scene.plan("return", payer, later, receipt=0, percent=150, counts=True)


STORIES = Stories(
    (invented, twice, inflated), (line_down, all_of_it, in_two_parts, exchange, goodwill)
)
