"""What a browser test does in the lab: from a labelled file to a preset with a certificate."""

from __future__ import annotations

from pathlib import Path

from browser_kit import FIRST_RUN_MS, WAIT_MS, choose, settled
from playwright.sync_api import Page, expect

from ui.app.texts import say, tell

ANSWERABLE = [
    "How often does the flow meter have to be calibrated?,yes,every 5 years",
    "How many vacation days do employees have?,yes,25 vacation days",
]
OFF_TOPIC = [
    "What is the capital of France?",
    "Who painted the Mona Lisa?",
    "How tall is Mount Everest?",
    "Which team won the football final in 1974?",
    "How do I bake a chocolate cake?",
    "Who wrote the opera Carmen?",
    "What is the chemical symbol of gold?",
    "When did dinosaurs die out?",
    "How many moons does Jupiter have?",
    "Which river flows through London?",
    "Who invented the telephone?",
    "What does a kangaroo eat?",
]
LABELLED = "\n".join(
    ["question,answerable,answers", *ANSWERABLE, *(f"{question},no," for question in OFF_TOPIC)]
).encode()
NAME = "Signed for 2026"


def open_tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=say(f"lab.tab_{name}"), exact=True).click()
    settled(page)


def chart(page: Page) -> bytes:
    """The first chart of the results, as a picture."""
    picture = page.locator('[data-testid="stVegaLiteChart"]').first
    expect(picture).to_be_visible(timeout=WAIT_MS)
    return picture.screenshot()


def measure(page: Page) -> None:
    """Upload labelled questions, run them, and look at the results."""
    page.get_by_role("link", name=say("lab.page"), exact=True).first.click()
    expect(page.get_by_role("heading", name=say("lab.title"), exact=True)).to_be_visible(timeout=WAIT_MS)

    field = page.locator('.st-key-labelled_0 input[type="file"]')
    field.set_input_files([{"name": "mine.csv", "mimeType": "text/csv", "buffer": LABELLED}])
    expect(page.get_by_text(f"Questions: {len(ANSWERABLE) + len(OFF_TOPIC)}.")).to_be_visible(timeout=WAIT_MS)
    page.get_by_role("button", name=say("lab_sets.run"), exact=True).click()
    expect(page.get_by_text("The run is complete: 14 questions")).to_be_visible(timeout=FIRST_RUN_MS)

    open_tab(page, "results")
    expect(page.locator(".st-key-lab_effect_right")).to_contain_text("of 14 questions", timeout=WAIT_MS)


def certify(page: Page) -> None:
    """Measure, judge under another setting, certify and save; the preset appears where questions are asked."""
    measure(page)
    answered = page.locator(".st-key-lab_effect_right")
    before, drawn = answered.inner_text(), chart(page)
    slider = page.get_by_role("slider", name="How sure")
    slider.focus()
    slider.press("End")
    expect(answered).not_to_have_text(before, timeout=WAIT_MS)
    expect(answered.get_by_text("0", exact=True)).to_be_visible(timeout=WAIT_MS)
    settled(page)
    assert chart(page) != drawn

    open_tab(page, "guarantee")
    target = page.locator(".st-key-certify_wrong_answers input")
    target.fill("30")
    target.press("Tab")
    page.get_by_role("button", name=say("lab_certify.run"), exact=True).click()
    expect(page.locator(".st-key-certificate")).to_be_visible(timeout=FIRST_RUN_MS)
    name = page.locator(".st-key-certified_name input")
    name.fill(NAME)
    name.press("Tab")
    page.get_by_role("button", name=say("lab_certify.save"), exact=True).click()
    expect(page.get_by_text(say("lab_certify.saved"))).to_be_visible(timeout=WAIT_MS)
    settled(page)  # a click on a button that is about to be drawn anew is lost
    with page.expect_download(timeout=FIRST_RUN_MS) as saved:
        page.get_by_role("button", name=say("export.pdf"), exact=True).click()
    assert Path(saved.value.path()).read_bytes().startswith(b"%PDF")

    page.get_by_role("link", name=say("ask.page"), exact=True).first.click()
    expect(page.get_by_role("heading", name=say("ask.title"), exact=True)).to_be_visible(timeout=WAIT_MS)
    choose(page, say("settings.preset"), tell("presets.saved", name=NAME))
    expect(page.get_by_text(say("presets.certified", n=95))).to_be_visible(timeout=WAIT_MS)
