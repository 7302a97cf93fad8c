"""The pages in a real browser: what they show, what they load, and whether all can use them."""

import re
from collections.abc import Iterator
from hashlib import sha256
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser

from contracts import RECEIPTS, STORE_SALES
from tests.services.api.browser import AXE, NARROW, Visit, chromium, visiting
from tests.services.api.pictures import CASE, PAGES
from tests.services.memory import MemoryLog
from tests.services.serving import TOKEN, Answers
from tests.services.showing import RULE, SHELF, Shop, serving_shop
from tests.services.writing import invalidate, promote

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(120)]

STORE, SKU = SHELF
ASKED_MAX = 20
"""Products in one request for names."""
HOUR = "2026-03-02T11:00"


@pytest.fixture(scope="module")
def log() -> MemoryLog:
    return MemoryLog()


@pytest.fixture(scope="module")
def shop(log: MemoryLog) -> Shop:
    return Shop(log)


@pytest.fixture(scope="module")
def api(log: MemoryLog, shop: Shop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    with serving_shop(log, tmp_path_factory.mktemp("shop")) as answers:
        yield answers


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as program:
        yield program


@pytest.fixture
def tab(api: Answers, browser: Browser) -> Iterator[Visit]:
    """A tab of its own, where something may go wrong."""
    with visiting(browser, api.address) as own:
        yield own


@pytest.fixture
def visit(tab: Visit) -> Iterator[Visit]:
    """A tab of its own, where nothing goes wrong."""
    yield tab
    assert tab.errors == []


def test_the_rules_are_those_that_were_published() -> None:
    digest = sha256(AXE.read_bytes()).hexdigest()
    assert digest in (AXE.parent / "README.md").read_text()


@pytest.mark.parametrize("path", PAGES.values())
def test_a_page_can_be_used_by_all_has_no_error_and_loads_nothing_from_elsewhere(
    api: Answers, browser: Browser, path: str
) -> None:
    with visiting(browser, api.address, has_axe=True) as light:
        assert light.open(path).find_violations() == []
    with visiting(browser, api.address, "dark", NARROW, has_axe=True) as dark:
        assert dark.open(path).find_violations() == []
        width = dark.page.evaluate("() => document.documentElement.scrollWidth")
        assert width <= NARROW[0], "nothing but tables scrolls sideways"
    assert (light.errors, dark.errors) == ([], [])
    assert (light.elsewhere, dark.elsewhere) == ([], [])


def test_stock_shows_every_shelf_that_the_api_lists_and_keeps_its_filters_in_the_address(
    api: Answers, visit: Visit
) -> None:
    listed = api.json("/v1/stock", limit=50)["items"]
    names = {product["sku"]: product["name"] for product in api.json("/v1/products")["items"]}
    visit.open("/stock").await_text("#shelf-rows tr:last-child", names[listed[-1]["sku"]])
    rows = visit.rows("#shelf-rows")
    assert [[row[0], row[3]] for row in rows] == [
        [f"{names.get(shelf['sku'], '')} {shelf['sku']}".strip(), f"{shelf['units_on_hand']:,}"]
        for shelf in listed
    ]
    assert len({shelf["sku"] for shelf in listed}) > ASKED_MAX, "names come by several requests"
    visit.page.get_by_role("searchbox", name="Product").fill("00041")
    visit.await_asked("#shelves", "search=00041")
    visit.page.wait_for_function("() => document.querySelectorAll('#shelf-rows tr').length == 1")
    assert [row[:4] for row in visit.rows("#shelf-rows")] == [
        ["Whole milk 41 SKU-00041", "Leeds, Mill Lane 4 S004", "below zero", "-3"]
    ]
    assert visit.page.url.endswith("/stock?search=00041")
    visit.page.reload()
    visit.await_text("#shelf-rows", "SKU-00041")
    assert visit.page.get_by_role("searchbox", name="Product").input_value() == "00041"


def test_a_store_is_chosen_and_a_product_is_found_by_name(visit: Visit) -> None:
    chooser = visit.open("/stock").page.locator("select[name=store_id]")
    chooser.select_option("Leeds, Mill Lane 4 · S004")
    visit.await_asked("#shelves", "store_id=S004")
    visit.page.get_by_role("searchbox", name="Product").fill("RYE")
    visit.page.wait_for_function("() => document.querySelectorAll('#shelf-rows tr').length == 1")
    assert visit.rows("#shelf-rows")[0][0] == "Rye bread 42 SKU-00042"
    visit.page.locator("#shelves summary").click()
    visit.await_text("#shelves .marker", "Generation 1, batch ")
    visit.open("/replenishment").page.get_by_label("Product").type("rye bread 4")
    visit.page.wait_for_selector("#products option[value=SKU-00042]", state="attached")
    visit.page.get_by_label("Product").fill("SKU-00042")
    visit.await_asked("#orders", "sku=SKU-00042")
    assert [row[0] for row in visit.rows("#order-rows")] == ["Rye bread 42 SKU-00042"]
    visit.open("/stock?store_id=S999")
    assert chooser.input_value() == "S999", "an asked filter stays"


def test_a_shelf_changes_on_screen_without_a_reload_and_shows_its_past(
    api: Answers, visit: Visit, shop: Shop
) -> None:
    visit.open(f"/stock?store_id={STORE}&sku={SKU}")
    visit.await_text("#on-hand .value", "30")
    visit.await_text("#movement-rows", "adjusted")
    movements = api.json(f"/v1/history/movements/{STORE}/{SKU}")["items"]
    units = [movement["units_on_hand_change"] for movement in movements]
    changes = [f"{change:+,}".replace("+0", "0") for change in units]
    assert [row[2] for row in visit.rows("#movement-rows")] == changes[::-1]
    [out] = visit.rows("#stock-out-rows")
    assert out[2:] == ["30 min", "0"]
    prices = [row[1:3] for row in visit.rows("#price-rows")]
    planned = [row[2:] for row in visit.rows("#promotion-rows")]
    assert planned == [["£2.49", "£1.79", "planned"], ["£2.49", "£1.79", "holds now"]]
    assert prices == [["£2.49", "announced"], ["£1.79", "holds now"], ["£2.49", "past"]]
    shop.inventory.row(4, SKU, 29, version=2)
    shop.inventory.mark()
    visit.await_text("#on-hand .value", "29")


def test_a_case_shows_its_rule_what_was_measured_and_its_events(api: Answers, visit: Visit) -> None:
    visit.open("/alerts")
    rows = visit.rows("#case-rows")
    assert len(rows) == len(api.json("/v1/alerts")["items"]) == 6
    visit.page.get_by_label("Status").select_option("withdrawn")
    visit.page.wait_for_function("() => document.querySelectorAll('#case-rows tr').length == 1")
    assert visit.rows("#case-rows")[0][0] == "Refund rate"
    visit.open(f"/alerts?{urlencode(CASE)}")
    visit.await_text("#measured .value", "1,842 km/h")
    assert visit.text("#limit .value") == "300 km/h"
    assert len(visit.rows("#evidence-rows")) == 1


def test_a_candidate_is_promoted_by_mouse_with_the_token_that_is_asked_for_once(tab: Visit) -> None:
    tab.open("/replay?pipeline=fraud")
    listed = [row[:2] for row in tab.rows("#generation-rows")]
    assert listed == [["g2", "promoted"], ["g3", "ready"]]
    tab.await_text("#difference .added", "2")
    tab.await_text("#changes", "card_sales_per_window_max 5 → 3, pipelines/fraud/thresholds.py")
    [row] = tab.rows("#view-list .moved tbody")
    assert row[1:] == ["new", "measured 4 · threshold 3"]
    tab.page.get_by_role("button", name="Promote g3").click()
    tab.page.get_by_label("Token").fill("a guess")
    tab.page.locator("#confirm").click()
    tab.await_text("#confirmation-problem", "Token needed")
    tab.page.get_by_label("Token").fill(TOKEN)
    tab.page.locator("#confirm").click()
    command = "replay promote fraud --number 3"
    tab.await_text("#said", f"retail {command}: {command}")
    tab.page.get_by_role("button", name="Compare").click()
    assert not tab.page.get_by_label("Token").is_visible()
    tab.page.locator("#cancel").click()
    [refused] = tab.errors
    assert "401" in refused


def test_a_replay_is_started_by_mouse_with_another_threshold(visit: Visit) -> None:
    visit.open("/replay?pipeline=inventory")
    visit.page.get_by_role("button", name="Start a replay").click()
    visit.page.get_by_label("Threshold to set").fill("low_max=3")
    visit.page.get_by_label("Token").fill(TOKEN)
    visit.page.locator("#confirm").click()
    command = "replay start inventory --set low_max=3"
    visit.await_text("#said", f"retail {command}: {command}")


def test_the_load_is_turned_by_mouse(visit: Visit) -> None:
    visit.open("/")
    visit.page.get_by_label("Speed", exact=True).fill("30")
    visit.page.get_by_label("Hit").fill("SKU-00417=8")
    visit.page.get_by_role("button", name="Turn the load").click()
    visit.page.get_by_label("Token").fill(TOKEN)
    visit.page.locator("#confirm").click()
    command = "simulate --speed=30.0 --hit=SKU-00417=8"
    visit.await_text("#said", f"retail {command}: {command}")


def test_the_quarantine_shows_reasons_and_a_record_and_releases_it(
    api: Answers, visit: Visit
) -> None:
    visit.open("/pipelines")
    visit.await_text("#reason-rows", "undecodable")
    counts = api.json("/v1/quarantine")["counts"]
    assert sorted(visit.rows("#reason-rows")) == sorted(
        [count["reason"], count["topic"], f"{count['records']:,}"] for count in counts
    )
    visit.page.locator("#reason-rows a", has_text="late").click()
    visit.await_asked("#quarantine", "reason=late")
    visit.await_text("#rejected-rows", f"{RECEIPTS.name}/2/1")
    assert [row[1] for row in visit.rows("#rejected-rows")] == ["late", "late"]
    visit.page.locator("#rejected-rows a", has_text=f"{RECEIPTS.name}/2/1").click()
    visit.await_text("#field-rows", "SKU-00417")
    read = api.json(f"/v1/quarantine/{RECEIPTS.name}/2/1")["fields"]
    assert [row[0] for row in visit.rows("#field-rows")] == list(read)
    visit.page.get_by_role("button", name="Release it").click()
    visit.page.get_by_label("Why it shall count").fill("it was seen on the till")
    visit.page.get_by_label("Token").fill(TOKEN)
    visit.page.locator("#confirm").click()
    visit.await_text("#said", "quarantine release --because=it was seen on the till")


def test_a_failed_check_is_an_alert_with_its_rows(tab: Visit) -> None:
    tab.open("/pipelines")
    tab.await_text("#checks-alert", "1 expectation fails. 1 check could not run.")
    tab.await_text("#failure-rows", RULE)
    tab.await_text("#failure-rows", '"event_id":"damaged"')
    tab.await_text("#check-rows", "could not run: MemoryError")


def test_a_record_that_cannot_be_read_says_so_and_is_not_released(tab: Visit) -> None:
    tab.open(f"/pipelines?record={RECEIPTS.name}/2/2")
    tab.await_text("#rejected-fault", "It cannot be read: ")
    tab.await_text("#rejected-remedy", "corrected event")
    assert tab.page.get_by_role("button", name="Release it").count() == 0


def test_markdowns_are_listed_and_a_chosen_product_shows_its_prices(
    api: Answers, visit: Visit
) -> None:
    visit.open("/prices")
    visit.await_text("#markdown-rows", "SKU-2")
    states = ["announced", "holds now", "ended 11:30:00"]
    assert [[row[0], *row[1:4], row[5]] for row in visit.rows("#markdown-rows")] == [
        [sku, "£2.00", "£1.50", "25", state]
        for sku, state in zip(("SKU-1", "SKU-0", "SKU-2"), states, strict=True)
    ]
    proposals = visit.page.get_by_role("link", name="proposals").get_attribute("href")
    assert len(api.json(str(proposals))["items"]) == 1
    visit.page.get_by_label("State").select_option("ended")
    visit.page.wait_for_function("() => document.querySelectorAll('#markdown-rows tr').length == 1")
    assert not visit.page.locator("#prices").is_visible()
    visit.page.get_by_role("link", name="SKU-2", exact=True).click()
    visit.await_text("#price-rows", "holds now")
    prices = [row[1:3] for row in visit.rows("#price-rows")]
    assert prices == [["£2.00", "holds now"], ["£1.50", "past"], ["£2.00", "past"]]
    visit.page.get_by_label("State").select_option("open")
    visit.await_text("#markdowns .none", "half an hour of the world after its start")


def test_the_api_can_be_tried_on_its_page(visit: Visit) -> None:
    visit.open("/docs")
    shelf = visit.page.locator("#operations-stock-getShelf")
    shelf.locator(".opblock-summary-control").click()
    shelf.get_by_placeholder("store_id").fill(STORE)
    shelf.get_by_placeholder("sku").fill(SKU)
    shelf.get_by_role("button", name="Execute").click()
    shelf.locator(".live-responses-table", has_text=f'"sku": "{SKU}"').wait_for()
    assert visit.elsewhere == []


@pytest.mark.parametrize(
    ("path", "section", "words"),
    [
        ("/stock?store_id=S999&sku=NONE", "#shelf", "Unknown shelf. "),
        ("/stock?cursor=a+guess", "#shelves", "Invalid cursor. "),
        (f"/alerts?{urlencode({**CASE, 'subject': 'nobody'})}", "#case", "Unknown row. "),
        (f"/pipelines?record={RECEIPTS.name}/2/999", "#rejected", "Not in quarantine. "),
        ("/replay?pipeline=nothing", "#generations", "Unknown pipeline. "),
    ],
)
def test_what_nobody_knows_is_explained(
    api: Answers, tab: Visit, path: str, section: str, words: str
) -> None:
    tab.page.goto(api.address + path)
    tab.await_text(f"{section} .notice", words)


def test_the_shop_shows_the_numbers_that_the_api_gives(api: Answers, visit: Visit) -> None:
    visit.open("/")
    visit.await_text("#best-rows", "SKU")
    best = api.json("/v1/best-sellers", top=10)["items"]
    assert [[row[0].split()[-1], row[1]] for row in visit.rows("#best-rows")] == [
        [product["sku"], f"{product['units']:,}"] for product in best
    ]
    sales = api.json(f"/v1/views/{STORE_SALES.name}/rows", store_id="S001", limit=500)["items"]
    cents = sum(row["revenue_cents"] for row in sales if row["window_start"] >= HOUR)
    assert visit.rows("#stores")[0][:2] == ["Leeds, Mill Lane 1 S001", f"£{cents / 100:,.2f}"]
    opened = api.json("/v1/alerts", status="open")["items"]
    visit.await_text("#open-alerts .value", str(len(opened)))
    rules = {alert["rule"].replace("-", " ").capitalize() for alert in opened}
    assert {row[0] for row in visit.rows("#alert-rows")} <= rules
    out = api.json("/v1/stock", state="out", limit=50)["items"]
    visit.await_text("#short .value", str(len(out)))
    ordered = [[cell.split()[-1] for cell in row[:2]] for row in visit.rows("#order-rows")]
    assert sorted(ordered) == sorted(
        [order["sku"], order["store_id"]] for order in api.json("/v1/orders")["items"]
    )


def test_the_way_of_the_records_is_drawn_with_what_the_api_says_of_it(
    api: Answers, visit: Visit, shop: Shop
) -> None:
    shop.reorder.mark_again(1, took_ms=204)
    visit.open("/pipelines")
    visit.page.wait_for_function(
        "() => document.querySelector('#flow').textContent.includes('batch 0.2 s')"
    )
    pipelines = api.json("/v1/pipelines")["pipelines"]
    drawn = set(visit.page.locator("#flow text").all_text_contents())
    served = {f"{pipeline['pipeline']} · g{pipeline['generation']}" for pipeline in pipelines}
    assert {"API", *served} <= drawn
    names = {view for pipeline in pipelines for view in pipeline["views"]}
    names |= {topic for pipeline in pipelines for topic in pipeline["lag_records_by_input"]}
    assert {name.removeprefix("public.").removesuffix(".v1") for name in names} <= drawn
    assert "books balanced" in drawn
    edges = visit.page.locator("#flow .edge").count()
    topics = sum(len(pipeline["lag_records_by_input"]) for pipeline in pipelines)
    assert edges == topics + 2 * sum(len(pipeline["views"]) for pipeline in pipelines)


def test_a_page_says_that_its_view_is_withdrawn_and_recovers_by_itself(
    tab: Visit, log: MemoryLog, shop: Shop
) -> None:
    tab.open("/alerts")
    invalidate(log, shop.fraud, "its state was lost")
    tab.await_text("#cases .notice", "its state was lost")
    assert tab.rows("#case-rows"), "what was known stays"
    promote(log, shop.fraud, shop.candidate)
    tab.await_connection("live")
    tab.page.wait_for_selector("#cases .notice", state="hidden")


def test_a_lost_connection_is_shown_and_resumed(tab: Visit, shop: Shop) -> None:
    tab.open("/").await_text("#alert-rows", "Impossible travel")
    before = tab.rows("#alert-rows")
    tab.page.context.set_offline(True)
    tab.await_connection("gone")
    tab.await_text("#connection", "tries again by itself")
    assert tab.rows("#alert-rows") == before, "what was known stays"
    shop.sell(1)
    shop.analytics.mark()
    tab.page.context.set_offline(False)
    tab.await_connection("live")
    tab.await_text("#sales-until", "12:01")


def test_every_control_is_reached_by_the_keyboard(tab: Visit) -> None:
    tab.open("/stock")
    tab.page.keyboard.press("Tab")
    assert tab.page.evaluate("() => document.activeElement.className") == "skip"
    names = set[str]()
    for _ in range(30):
        tab.page.keyboard.press("Tab")
        names.add(tab.page.evaluate("() => document.activeElement.name ?? ''"))
    assert {"search", "store_id", "state", "sort"} <= names


def test_a_page_draws_at_most_ten_times_a_second(tab: Visit, shop: Shop) -> None:
    tab.open("/")
    tab.page.evaluate(
        "() => { window.drawn = 0; new MutationObserver(() => { window.drawn += 1; })"
        ".observe(document.querySelector('#receipts-chart'), {childList: true}); }"
    )
    began = tab.page.evaluate("() => performance.now()")
    for version in range(2, 60):
        shop.sell(-1, version)
        shop.analytics.mark()
    tab.page.wait_for_timeout(1_000)
    seconds = (tab.page.evaluate("() => performance.now()") - began) / 1_000
    assert 1 <= tab.page.evaluate("() => window.drawn") <= 10 * seconds
    assert re.search(r"\d", tab.text("#receipts-chart"))
