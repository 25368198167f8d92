"""axe-core over a state of the page: contrast, labels, alternative texts and names for screen readers, light and dark,
wide and narrow.

Screenshots of every state that is checked are kept in build/screens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from browser_kit import SCHEMES, ground, settled
from playwright.sync_api import Page, ViewportSize

RULES = {"runOnly": ["wcag2a", "wcag2aa"]}
# the rules that read colours; labels and names are the same in the dark
COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}
# What Streamlit itself draws and a page cannot change; each is looked at again when Streamlit is updated.
NOT_OURS = ('[data-testid="stMainMenu"]', '[data-testid="stToolbar"]')
SIZES: dict[str, ViewportSize] = {"wide": {"width": 1440, "height": 900}, "narrow": {"width": 390, "height": 844}}
LOOKED, REDRAWN_MS = 4, 1_500  # how often a page with a finding is looked at, and how long it is waited in between
LOOKS = (("narrow", SCHEMES[0]), ("wide", SCHEMES[0]), ("wide", SCHEMES[1]))  # a narrow window shows nothing of its own


def violations(page: Page, rules: Mapping[str, list[str]]) -> list[str]:
    """What axe-core finds and still finds after a while, as "rule: element": a busy machine draws a new theme part by
    part.
    """
    for _ in range(LOOKED):
        settled(page)
        found = (
            Axe()
            .run(page, options=rules, context={"exclude": [[selector] for selector in NOT_OURS]})
            .response["violations"]
        )
        if not found:
            break
        page.wait_for_timeout(REDRAWN_MS)
    return [
        f"{rule['id']}: {node['target']} {node['failureSummary'][:200]}" for rule in found for node in rule["nodes"]
    ]


def overflow(page: Page) -> int:
    """By how many pixels the page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def checker(page: Page, screens: Path) -> Callable[[str], dict[str, list[str]]]:
    """Checks a state of the page by its name, narrow, wide, and wide in the dark, where it ends; what was found so far
    by state.
    """
    found: dict[str, list[str]] = {}

    def check(name: str) -> dict[str, list[str]]:
        backgrounds = set()
        for size, scheme in LOOKS:
            page.set_viewport_size(SIZES[size])
            page.emulate_media(color_scheme=scheme)
            wrong = violations(page, RULES if scheme == "light" else COLOURS)
            page.screenshot(path=screens / f"{name}-{scheme}-{size}.png", full_page=True)
            if overflow(page) > 0:
                wrong.append(f"the page is {overflow(page)} pixels wider than the window")
            if wrong:
                found[f"{name}, {scheme}, {size}"] = wrong
            backgrounds.add(ground(page))
        assert len(backgrounds) == len(SCHEMES)  # or the page did not follow
        return found

    return check
