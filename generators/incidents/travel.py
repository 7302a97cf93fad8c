"""One card in two stores: somebody uses a copy of it, or its owner travels."""

from generators.incidents.scene import MINUTE_MS, Deeds, Scene, Stories, compute_kilometres
from generators.stores import Store

COPY_KM_MIN = 60  # a gang sells a copied card on to another region
COPY_KMH_MIN = 285
COPY_KMH_MAX = 3_000
COPY_MINUTES_MIN = 2
COPY_MINUTES_MAX = 60
FAR_KM_MIN = 200
NEAR_KM_MAX = 45


def copied_card(scene: Scene) -> Deeds:
    """The owner shops; minutes later somebody else shops far away, once or more often."""
    far = scene.list_others(COPY_KM_MIN)
    if not far:
        return
    km, there = far[int(scene.draw.random() * len(far))]
    quickest, slowest = km / COPY_KMH_MAX * 60, km / COPY_KMH_MIN * 60
    shortest, longest = max(COPY_MINUTES_MIN, quickest), min(COPY_MINUTES_MAX, slowest)
    minutes = shortest + scene.draw.random() ** 2 * (longest - shortest)  # mostly short
    yield from plan_trip(scene, [(there, minutes)], again=scene.draw_whole(0, 2))


def flight(scene: Scene) -> Deeds:
    """The customer shops, flies, and shops again; the time includes airports."""
    return plan_journey(scene, FAR_KM_MIN, kmh=(350, 550), wait_minutes=(100, 180))


def express_train(scene: Scene) -> Deeds:
    return plan_journey(scene, 80, kmh=(140, 210), wait_minutes=(15, 40))


def drive(scene: Scene) -> Deeds:
    return plan_journey(scene, 20, kmh=(60, 110), wait_minutes=(5, 30))


def couple(scene: Scene) -> Deeds:
    """Two people with one account shop in two stores that are close, at nearly the same time."""
    near = scene.list_others(km_max=NEAR_KM_MAX)
    if not near:
        return commuter(scene)
    return plan_trip(scene, [(near[0][1], scene.draw_between(1, 30))])


def commuter(scene: Scene) -> Deeds:
    """The customer shops in the nearest other store and then here again."""
    near = scene.list_others()
    if not near:
        return
    km, there = near[0]
    minutes = km / scene.draw_between(50, 90) * 60 + scene.draw_between(5, 15)
    back = minutes * scene.draw_between(2.1, 3)
    yield from plan_trip(scene, [(there, minutes), (scene.store, back)])


def plan_journey(
    scene: Scene, km_min: float, kmh: tuple[float, float], wait_minutes: tuple[float, float]
) -> Deeds:
    far = scene.list_others(km_min)
    if not far:
        return
    km, there = far[int(scene.draw.random() * len(far))]
    minutes = km / scene.draw_between(*kmh) * 60 + scene.draw_between(*wait_minutes)
    yield from plan_trip(scene, [(there, minutes)])


def plan_trip(scene: Scene, stops: list[tuple[Store, float]], again: int = 0) -> Deeds:
    """Purchases here and, so many minutes later, at each stop; `again` times more at the last.

    The strength is the speed to the first stop, in kilometres per hour.
    """
    payer = scene.choose_payer()
    there, minutes = stops[0]
    scene.strength = int(compute_kilometres(scene.store, there) / minutes * 60)
    last, last_minutes = stops[-1]
    stops = [*stops, *((last, last_minutes + 3 * (n + 1)) for n in range(again))]
    yield scene.plan("buy", payer, goods="usual", lines=2)
    for store, after in stops:
        yield scene.plan("buy", payer, int(after * MINUTE_MS), store=store, lines=2)


STORIES = Stories((copied_card,), (flight, express_train, drive, couple, commuter))
