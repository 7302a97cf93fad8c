"""Sales below the price: a cashier gives goods to friends, or the store reduces them for all."""

from generators.incidents.deed import NOTHING, Deed, Plan
from generators.incidents.scene import MINUTE_MS, Scene

SHIFT_LEFT_MS_MIN = 60 * MINUTE_MS


def friends(scene: Scene) -> Plan:
    """Friends come to a cashier's till again and again; some of what they take costs next to
    nothing.
    """
    if scene.left_ms < SHIFT_LEFT_MS_MIN:
        return NOTHING
    till = scene.choose_till()
    percent = scene.draw_whole(0, 51)
    payers = [scene.choose_payer() for _ in range(scene.draw_whole(1, 3))]
    return Plan(
        [
            create_sale(
                scene,
                at_ms,
                till,
                percent,
                goods="dear",
                lines=scene.draw_whole(2, 4),
                units=scene.draw_whole(1, 3),
                reduced_lines=scene.draw_whole(1, 4),
                payer=payers[int(scene.draw.random() * len(payers))],
            )
            for at_ms in scene.draw_times_ms(scene.draw_whole(4, 9), scene.draw_minutes_ms(60, 300))
        ]
    )


def clearance(scene: Scene) -> Plan:
    """Reduced prices on goods that have to go, for every customer."""
    percent = scene.draw_whole(50, 75)
    times = scene.draw_times_ms(scene.draw_whole(8, 20), scene.draw_minutes_ms(60, 240))
    return sell_at_all_tills(scene, times, percent, lines=3, reduced_lines=2, units=2)


def staff_discount(scene: Scene) -> Plan:
    """Employees pay a little less for all that they buy."""
    times = scene.draw_times_ms(scene.draw_whole(3, 6), scene.draw_minutes_ms(30, 240))
    return sell_at_all_tills(scene, times, scene.draw_whole(80, 90), lines=4, reduced_lines=4)


def free_gift(scene: Scene) -> Plan:
    """A small gift with every purchase of a campaign."""
    times = scene.draw_times_ms(scene.draw_whole(5, 10), scene.draw_minutes_ms(60, 240))
    return sell_at_all_tills(scene, times, 0, goods="cheap", lines=2, reduced_lines=1)


def slip(scene: Scene) -> Plan:
    """The cashier types a digit too few."""
    times = scene.draw_times_ms(scene.draw_whole(1, 2), scene.draw_minutes_ms(1, 60))
    return sell_at_all_tills(scene, times, 10, lines=3, reduced_lines=1)


def dented(scene: Scene) -> Plan:
    """Damaged goods are sold for about half."""
    times = scene.draw_times_ms(scene.draw_whole(2, 4), scene.draw_minutes_ms(10, 180))
    return sell_at_all_tills(scene, times, scene.draw_whole(40, 70), lines=2, reduced_lines=1)


def sell_at_all_tills(
    scene: Scene,
    times: list[int],
    percent: int,
    goods: str = "usual",
    lines: int = 1,
    reduced_lines: int = 1,
    units: int = 1,
) -> Plan:
    return Plan(
        [
            create_sale(
                scene, at_ms, scene.choose_till(), percent, goods, lines, units, reduced_lines
            )
            for at_ms in times
        ]
    )


def create_sale(
    scene: Scene,
    at_ms: int,
    till: int,
    percent: int,
    goods: str,
    lines: int,
    units: int,
    reduced_lines: int,
    payer: tuple[str | None, str | None] | None = None,
) -> Deed:
    return Deed(
        at_ms,
        scene.store.number,
        till,
        "buy",
        payer or scene.choose_payer(),
        goods,
        lines,
        units,
        percent,
        reduced_lines,
        counts=True,
    )
