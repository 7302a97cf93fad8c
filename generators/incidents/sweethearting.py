"""Sales below the price: a cashier gives goods to friends, or the store reduces them for all."""

from typing import Any

from generators.incidents.scene import MINUTE_MS, Deeds, Scene, Stories

SHIFT_LEFT_MS_MIN = 60 * MINUTE_MS


def friends(scene: Scene) -> Deeds:
    """Friends come to a cashier's till again and again; some of what they take costs next to
    nothing.
    """
    if scene.left_ms < SHIFT_LEFT_MS_MIN:
        return
    till = scene.choose_till()
    percent = scene.draw_whole(0, 51)
    payers = [scene.choose_payer() for _ in range(scene.draw_whole(1, 3))]
    for after_ms in scene.draw_times_ms(scene.draw_whole(4, 9), scene.draw_minutes_ms(60, 300)):
        lines, units = scene.draw_whole(2, 4), scene.draw_whole(1, 3)
        reduced_lines = scene.draw_whole(1, 4)
        yield scene.plan(
            "buy",
            payers[int(scene.draw.random() * len(payers))],
            after_ms,
            till=till,
            lines=lines,
            units=units,
            percent=percent,
            reduced_lines=reduced_lines,
            counts=True,
        )


def clearance(scene: Scene) -> Deeds:
    """Reduced prices on goods that have to go, for every customer."""
    percent = scene.draw_whole(50, 75)
    times = scene.draw_times_ms(scene.draw_whole(8, 20), scene.draw_minutes_ms(60, 240))
    return sell_at_all_tills(scene, times, percent, lines=3, reduced_lines=2, units=2)


def staff_discount(scene: Scene) -> Deeds:
    """Employees pay a little less for all that they buy."""
    times = scene.draw_times_ms(scene.draw_whole(3, 6), scene.draw_minutes_ms(30, 240))
    return sell_at_all_tills(scene, times, scene.draw_whole(80, 90), lines=4, reduced_lines=4)


def free_gift(scene: Scene) -> Deeds:
    """A small gift with every purchase of a campaign."""
    times = scene.draw_times_ms(scene.draw_whole(5, 10), scene.draw_minutes_ms(60, 240))
    return sell_at_all_tills(scene, times, 0, goods="cheap", lines=2)


def slip(scene: Scene) -> Deeds:
    """The cashier types a digit too few."""
    times = scene.draw_times_ms(scene.draw_whole(1, 2), scene.draw_minutes_ms(1, 60))
    return sell_at_all_tills(scene, times, 10, lines=3)


def dented(scene: Scene) -> Deeds:
    """Damaged goods are sold for about half."""
    times = scene.draw_times_ms(scene.draw_whole(2, 4), scene.draw_minutes_ms(10, 180))
    return sell_at_all_tills(scene, times, scene.draw_whole(40, 70), lines=2)


def sell_at_all_tills(
    scene: Scene,
    times_ms: list[int],
    percent: int,
    goods: str = "usual",
    reduced_lines: int = 1,
    **details: Any,
) -> Deeds:
    for after_ms in times_ms:
        till, payer = scene.choose_till(), scene.choose_payer()
        yield scene.plan(
            "buy",
            payer,
            after_ms,
            till=till,
            goods=goods,
            percent=percent,
            reduced_lines=reduced_lines,
            counts=True,
            **details,
        )


STORIES = Stories((friends,), (clearance, staff_discount, free_gift, slip, dented))
