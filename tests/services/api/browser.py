"""A real browser that looks at the pages: the system's Chromium, driven by Playwright."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, sync_playwright

from infra.settings import HOST, locate_root

NAMES = ("chromium", "chromium-browser", "google-chrome")
MISSING = "Expected Chromium, found none. Install it: sudo apt-get install chromium"
AXE = locate_root() / "tests" / "vendor" / "axe-core" / "axe.min.js"
FIND_VIOLATIONS = "() => axe.run({iframes: false, resultTypes: ['violations']})"
"""What axe also says of all that keeps the rules would be megabytes."""
MILLISECONDS_MAX = 20_000
Scheme = Literal["light", "dark"]
WIDE, NARROW = (1280, 900), (390, 844)


def find_chromium() -> str | None:
    """The program, if this machine has it."""
    return next((program for name in NAMES if (program := shutil.which(name))), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser, without a window."""
    program = find_chromium()
    assert program is not None, MISSING
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []  # the sandbox refuses root
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    """A tab, and what went wrong in it."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.errors: list[str] = []
        self.elsewhere: list[str] = []
        self._address = address
        page.set_default_timeout(MILLISECONDS_MAX)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("request", lambda request: self._note_request(request.url))

    def open(self, path: str) -> "Visit":
        """Itself, once the page is loaded and all that it asks for is answered."""
        self.page.goto(self._address + path)
        if self.page.locator("#connection").count():
            self.page.wait_for_selector("body[data-connection=live]")
        return self

    def text(self, selector: str) -> str:
        return self.page.locator(selector).first.inner_text()

    def rows(self, selector: str) -> list[list[str]]:
        """The cells of a table's body."""
        cells: list[list[str]] = self.page.locator(f"{selector} tr").evaluate_all(
            "rows => rows.map(row => [...row.children].map(cell => cell.innerText.trim()))"
        )
        return cells

    def await_text(self, selector: str, text: str) -> None:
        self.page.wait_for_function(
            "([selector, text]) => document.querySelector(selector)?.innerText.includes(text)",
            arg=[selector, text],
        )

    def await_asked(self, section: str, text: str) -> None:
        """Wait until the section has asked for an address with this text."""
        self.page.wait_for_function(
            "([section, text]) => document.querySelector(section + ' .address')"
            "?.getAttribute('href')?.includes(text)",
            arg=[section, text],
        )

    def await_connection(self, state: str) -> None:
        self.page.wait_for_selector(f"body[data-connection={state}]")

    def find_violations(self) -> list[str]:
        """What axe finds: the rule, and where it is broken."""
        report: dict[str, Any] = self.page.evaluate(FIND_VIOLATIONS)
        return [
            f"{violation['id']}: {node['html'][:120]} {node['failureSummary']}"
            for violation in report["violations"]
            for node in violation["nodes"]
        ]

    def _note(self, kind: str, text: str) -> None:
        if kind == "error":
            self.errors.append(text)

    def _note_request(self, url: str) -> None:
        if urlsplit(url).hostname != HOST and not url.startswith("data:"):
            self.elsewhere.append(url)


@contextmanager
def visiting(
    browser: Browser,
    address: str,
    scheme: Scheme = "light",
    size: tuple[int, int] = WIDE,
    has_axe: bool = False,
) -> Iterator[Visit]:
    """A tab of its own, with nothing left of another."""
    width, height = size
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": height}, reduced_motion="reduce"
    )
    if has_axe:
        context.add_init_script(path=AXE)
    try:
        yield Visit(context.new_page(), address)
    finally:
        context.close()
