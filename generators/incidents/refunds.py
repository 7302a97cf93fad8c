"""Refunds of goods that were never sold, that were refunded before, or that simply come back."""

from generators.customers import CASH, Payer
from generators.incidents.deed import NOBODYS, Deed, Plan
from generators.incidents.scene import Scene, plan_purchase

HIGH_CENTS = (1_900, 12_000)


def invented(scene: Scene) -> Plan:
    """The refund names a receipt that nobody issued; no goods come back."""
    cents = int(scene.draw_between(*HIGH_CENTS))
    return Plan([refund_purchase(scene, 0, cents=cents, invented=True, real=False, counts=True)])


def twice(scene: Scene) -> Plan:
    """A till refunds a receipt, and later once more."""
    payer = scene.choose_payer()
    first, second = scene.draw_minutes_ms(30, 120), scene.draw_minutes_ms(130, 240)
    return Plan(
        [
            plan_purchase(scene, payer, lines=scene.draw_whole(2, 3), units=scene.draw_whole(2, 4)),
            refund_purchase(scene, first, payer, receipt=0),
            refund_purchase(scene, second, payer, receipt=0, real=False, counts=True),
        ]
    )


def inflated(scene: Scene) -> Plan:
    """The cashier refunds far more units than were bought."""
    payer = scene.choose_payer()
    percent = scene.draw_whole(4, 9) * 100
    return Plan(
        [
            plan_purchase(scene, payer, lines=1, units=scene.draw_whole(1, 2)),
            refund_purchase(
                scene,
                scene.draw_minutes_ms(20, 180),
                payer,
                receipt=0,
                percent=percent,
                counts=True,
            ),
        ]
    )


def line_down(scene: Scene) -> Plan:
    """The till was offline: the receipt is published after its refund."""
    payer = scene.choose_payer()
    return Plan(
        [
            plan_purchase(scene, payer, lines=2, units=3, delay_ms=scene.draw_minutes_ms(70, 115)),
            refund_purchase(scene, scene.draw_minutes_ms(20, 60), payer, receipt=0),
        ]
    )


def all_of_it(scene: Scene) -> Plan:
    """A large purchase that nobody at home wanted."""
    payer = scene.choose_payer()
    return Plan(
        [
            plan_purchase(scene, payer, lines=4, units=3),
            refund_purchase(scene, scene.draw_minutes_ms(60, 240), payer, receipt=0),
        ]
    )


def in_two_parts(scene: Scene) -> Plan:
    """The customer returns half of a purchase, and the other half later."""
    payer = scene.choose_payer()
    return Plan(
        [
            plan_purchase(scene, payer, lines=3, units=4),
            refund_purchase(scene, scene.draw_minutes_ms(30, 60), payer, receipt=0, percent=50),
            refund_purchase(scene, scene.draw_minutes_ms(90, 180), payer, receipt=0, percent=50),
        ]
    )


def exchange(scene: Scene) -> Plan:
    """The customer brings a purchase back and buys something else."""
    payer = scene.choose_payer()
    later = scene.draw_minutes_ms(30, 180)
    return Plan(
        [
            plan_purchase(scene, payer, lines=1, units=4),
            refund_purchase(scene, later, payer, receipt=0),
            plan_purchase(scene, payer, lines=2, units=2, after_ms=later),
        ]
    )


def goodwill(scene: Scene) -> Plan:
    """The store refunds half as much again as was bought, for the trouble."""
    payer = scene.choose_payer()
    return Plan(
        [
            plan_purchase(scene, payer, lines=1, units=2, goods="usual"),
            refund_purchase(
                scene, scene.draw_minutes_ms(30, 180), payer, receipt=0, percent=150, counts=True
            ),
        ]
    )


def refund_purchase(
    scene: Scene,
    after_ms: int,
    payer: Payer = CASH,
    receipt: int = NOBODYS,
    percent: int = 100,
    cents: int = 0,
    invented: bool = False,
    real: bool = True,
    counts: bool = False,
) -> Deed:
    return Deed(
        scene.starts_ms + after_ms,
        scene.store.number,
        scene.choose_till(),
        "return",
        payer,
        "dear",
        percent=percent,
        receipt=receipt,
        cents=cents,
        invented=invented,
        real=real,
        counts=counts,
    )
