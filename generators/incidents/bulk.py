"""Much of one product: to sell it on with a stolen card, or to feed many."""

from typing import Any

from generators.customers import CASH, Payer
from generators.incidents.scene import NOBODYS, Deed, Deeds, Scene, Stories

CATERERS = 5  # of a store; they come again and again


def resold(scene: Scene) -> Deeds:
    """As much of one dear product as the card will bear, on one receipt or a few."""
    packs = scene.draw_between(3.8, 14)
    parts = scene.draw_whole(1, 3)
    payer = scene.choose_payer() if parts > 1 or scene.draw.random() < 0.7 else CASH
    gap_ms = scene.draw_minutes_ms(2, 10)
    for part in range(parts):  # the same products again
        receipt = 0 if part else NOBODYS
        yield buy_packs(scene, packs / parts, payer, part * gap_ms, receipt=receipt)


def caterer(scene: Scene) -> Deeds:
    """Feeds a hundred people a day, and is known by name."""
    share = int(scene.draw.random() * CATERERS) / CATERERS
    payer = scene.customers.cast(scene.store.number, share, has_id=True)
    yield buy_packs(scene, scene.draw_between(3, 10), payer, lines=scene.draw_whole(1, 3))


def office(scene: Scene) -> Deeds:
    """The monthly order of coffee and paper, on the firm's account."""
    yield buy_packs(scene, scene.draw_between(2, 6), scene.choose_payer(has_id=True))


def party(scene: Scene) -> Deeds:
    packs, payer = scene.draw_between(1.5, 3), scene.choose_payer()
    yield buy_packs(scene, packs, payer, lines=scene.draw_whole(1, 2))


def school_fete(scene: Scene) -> Deeds:
    """As many as four packs, of something cheap, in cash."""
    yield buy_packs(scene, scene.draw_between(3, 4), CASH, goods="cheap")


def stocking_up(scene: Scene) -> Deeds:
    """While it is on offer many take a pack or two."""
    for after_ms in scene.draw_times_ms(scene.draw_whole(4, 8), scene.draw_minutes_ms(30, 180)):
        yield buy_packs(scene, scene.draw_between(1, 2), scene.choose_payer(), after_ms)


def neighbours(scene: Scene) -> Deeds:
    """One car, one card, a pack of this and a pack of that for a whole street."""
    yield buy_packs(scene, 1, scene.choose_payer(), lines=scene.draw_whole(4, 6))


def buy_packs(scene: Scene, packs: float, payer: Payer, after_ms: int = 0, **details: Any) -> Deed:
    """A purchase counted in packs."""
    hundredths = int(packs * 100)
    return scene.plan("buy", payer, after_ms, packs_hundredths=hundredths, counts=True, **details)


STORIES = Stories((resold,), (caterer, office, party, school_fete, stocking_up, neighbours))
