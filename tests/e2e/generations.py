"""Generations of fraud in a shop: their states, their processes, and the page that changes them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser

from infra.supervisor.parts import kill
from infra.token import read_token
from infra.wait import wait_until
from ops.bench.shops import CommandFailed
from ops.generations.folders import find_checkpoint
from ops.generations.record import Generation, read_generations
from tests.e2e.shop import Shop
from tests.processes import find_drivers
from tests.services.api.browser import Visit, visiting

READY_SECONDS_MAX = 400
RELEASE_SECONDS_MAX = 60
"""The skew of a till's clock, five minutes, is over in three seconds of this world."""


@contextmanager
def visiting_shop(browser: Browser, shop: Shop) -> Iterator[tuple[Visit, Visit]]:
    """Two tabs that wait as long as a replay takes."""
    address = shop.settings.api_url
    with visiting(browser, address) as first, visiting(browser, address) as second:
        for visit in (first, second):
            visit.page.set_default_timeout(READY_SECONDS_MAX * 1_000)
        yield first, second


def press(
    visit: Visit, shop: Shop, step: tuple[str, str], candidate: int = 2, answer: str = ""
) -> None:
    """Press the button of a step, whose dialog names the command of the step.

    The guide's candidate is generation 2.
    """
    button, command = (text.replace("2", str(candidate)) for text in step)
    visit.page.get_by_role("button", name=button, exact=True).click()
    assert visit.text("#confirmation-command") == command
    visit.page.locator("#answer").evaluate("(field, text) => { field.value = text; }", answer)
    token = visit.page.get_by_label("Token")
    if token.is_visible():
        token.fill(read_token(shop.settings))
    visit.page.locator("#confirm").click()


def list_generations(shop: Shop) -> Sequence[Generation]:
    """Every generation of fraud that is kept, as the control topic says."""
    return read_generations(shop.settings)["fraud"].members


def list_states(shop: Shop) -> list[str]:
    return [generation.state.value for generation in list_generations(shop)]


def list_numbers(shop: Shop) -> list[int]:
    return [generation.number for generation in list_generations(shop)]


def locate_generation(shop: Shop, number: int) -> Path:
    return shop.settings.data_dir / "pipelines" / "fraud" / f"g{number}"


def find_driver_pids(shop: Shop) -> dict[int, int]:
    """The process that runs each generation of fraud, by number, once its engine is there."""
    running = find_drivers(shop.find_pid("pipelines"))
    return {
        int(name.removeprefix("fraud/")): driver.pid
        for name, driver in running.items()
        if name.startswith("fraud/")
    }


def kill_and_await(shop: Shop, number: int) -> None:
    """Kill the process that runs the generation; return once its batches go on."""
    before = find_last_batch(shop, number)
    running = find_driver_pids(shop)
    assert len(running) == 2
    kill(running[number])
    wait_until(
        lambda: find_last_batch(shop, number) > before + 1,
        "the killed generation goes on",
        READY_SECONDS_MAX,
    )


def find_last_batch(shop: Shop, number: int) -> int:
    """The last batch that the generation of fraud has finished."""
    return find_checkpoint(shop.settings, "fraud", number).find_newest_finished()


def release_one(shop: Shop) -> None:
    """Release a receipt that came beyond the horizon, once no copy of it may come in time."""
    record = shop.too_late()
    place = f"{record['topic']}/{record['partition']}/{record['offset']}"
    outputs: list[str] = []

    def released() -> bool:
        try:
            outputs.append(shop.run_retail("quarantine", "release", place, "--because", "a test"))
        except CommandFailed as refused:
            if "may still come in time" not in str(refused):
                raise
        return bool(outputs)

    wait_until(released, "it may be released", RELEASE_SECONDS_MAX)
    assert "Released" in outputs[0]
