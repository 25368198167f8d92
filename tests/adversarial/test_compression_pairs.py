"""Good compressions in a model's own words under the preset `compliance`, which allows them, and bad ones and further
lies by default.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import yaml
from leaving_out_kit import engine_over
from model_server import ModelServer
from rewording_kit import OBSERVED, lies, pairs, run

from rag_core.settings import DEFAULT_PRESET

HERE = Path(__file__).parent
FRESH = HERE / "fresh_lies.yaml"
FOURTH = HERE / "fourth_lies.yaml"


def test_there_are_ten_pairs_in_each_of_four_languages_with_as_many_kinds() -> None:
    drafts = pairs()

    assert Counter((one.document, one.good) for one in drafts) == {
        (lang, good): 10 for lang in ("en", "cs", "de", "hi") for good in (True, False)
    }
    assert {one.kind for one in drafts if one.document == "hi"} == {one.kind for one in drafts}
    assert set(OBSERVED.values()) == {"observe"}


def test_given_the_preset_compliance_when_a_model_rewords_then_good_ones_are_shown_and_by_default_every_fourth_bad_one_is_not(  # noqa: E501
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """S0-25: ten more pairs in each language."""
    good, bad = ([one for one in pairs() if one.good is wanted] for wanted in (True, False))
    stated = {lang: [one.source for one in good if one.document == lang] for lang in ("en", "cs", "de", "hi")}
    with ModelServer() as server, engine_over(server, tmp_path_factory.mktemp("pairs"), stated) as engine:
        shown, hidden = (
            list(run(good, engine, server, "compliance")),
            list(run(bad[::4], engine, server, DEFAULT_PRESET)),
        )

    assert [(one.draft.text, one.why) for one in shown if not one.shown] == []
    assert [one.draft.text for one in hidden if one.shown] == []


def test_given_every_sixth_fresh_lie_when_asked_by_default_then_none_is_shown(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    stated, drafts = lies(FRESH)
    with ModelServer() as server, engine_over(server, tmp_path_factory.mktemp("fresh"), stated) as engine:
        found = list(run(drafts[::6], engine, server, DEFAULT_PRESET))

    assert len(found) == 10
    assert [one.draft.text for one in found if one.shown] == []


def test_given_every_thirtieth_lie_of_a_fourth_attacker_when_asked_by_default_then_none_is_shown(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """A drawn share; `left` are shown still, and may become fewer only."""
    stated, drafts = lies(FOURTH)
    with ModelServer() as server, engine_over(server, tmp_path_factory.mktemp("fourth"), stated) as engine:
        found = list(run(drafts[::30], engine, server, DEFAULT_PRESET))

    assert len(found) >= 14
    assert [one.draft.text for one in found if one.shown] == []
    assert len(yaml.safe_load(FOURTH.read_text(encoding="utf-8"))["left"]) <= 16
