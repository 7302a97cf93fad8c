"""Much of one product: to sell it on with a stolen card, or to feed many."""

from generators.customers import CASH, Payer
from generators.incidents.deed import NOBODYS, Deed, Plan
from generators.incidents.scene import Scene, plan_purchase

CATERERS = 5  # of a store; they come again and again


def resold(scene: Scene) -> Plan:
    """As much of one dear product as the card will bear, on one receipt or a few."""
    packs = scene.draw_between(3.8, 14)
    parts = scene.draw_whole(1, 3)
    payer = scene.choose_payer() if parts > 1 or scene.draw.random() < 0.7 else CASH
    gap_ms = scene.draw_minutes_ms(2, 10)
    return Plan(
        [
            buy_packs(
                scene, packs / parts, payer, after_ms=part * gap_ms, like=0 if part else NOBODYS
            )
            for part in range(parts)
        ]
    )


def caterer(scene: Scene) -> Plan:
    """Feeds a hundred people a day, and is known by name."""
    one = int(scene.draw.random() * CATERERS) / CATERERS
    payer = scene.customers.cast(scene.store.number, one, known=True)
    return Plan([buy_packs(scene, scene.draw_between(3, 10), payer, lines=scene.draw_whole(1, 3))])


def office(scene: Scene) -> Plan:
    """The monthly order of coffee and paper, on the firm's account."""
    return Plan([buy_packs(scene, scene.draw_between(2, 6), scene.choose_payer(known=True))])


def party(scene: Scene) -> Plan:
    return Plan(
        [
            buy_packs(
                scene,
                scene.draw_between(1.5, 3),
                scene.choose_payer(),
                lines=scene.draw_whole(1, 2),
            )
        ]
    )


def school_fete(scene: Scene) -> Plan:
    """As many as four packs, of something cheap, in cash."""
    return Plan([buy_packs(scene, scene.draw_between(3, 4), CASH, goods="cheap")])


def stocking_up(scene: Scene) -> Plan:
    """While it is on offer many take a pack or two."""
    times = scene.draw_times_ms(scene.draw_whole(4, 8), scene.draw_minutes_ms(30, 180))
    return Plan(
        [
            buy_packs(
                scene, scene.draw_between(1, 2), scene.choose_payer(), after_ms=at - scene.starts_ms
            )
            for at in times
        ]
    )


def neighbours(scene: Scene) -> Plan:
    """One car, one card, a pack of this and a pack of that for a whole street."""
    return Plan([buy_packs(scene, 1, scene.choose_payer(), lines=scene.draw_whole(4, 6))])


def buy_packs(
    scene: Scene,
    packs: float,
    payer: Payer,
    lines: int = 1,
    after_ms: int = 0,
    goods: str = "dear",
    like: int = NOBODYS,
) -> Deed:
    """A purchase counted in packs. `like`: the deed whose products are bought again."""
    purchase = plan_purchase(scene, payer, lines, goods=goods, after_ms=after_ms)
    return purchase._replace(packs_hundredths=int(packs * 100), receipt=like, counts=True)
