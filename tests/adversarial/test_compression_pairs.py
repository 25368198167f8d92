"""Forty good and forty bad compressions in a model's own words, through the product under the preset `compliance`.

`python -m tests.campaign.rewording` prints what is shown.
"""

from __future__ import annotations

from collections import Counter

import pytest
from model_server import ModelServer

from tests.campaign.leaving_out import engine_over
from tests.campaign.rewording import OBSERVED, PRESET, pairs, run

SHOWN: list[str] = []  # the bad ones that are shown, as measured


def test_there_are_ten_pairs_in_each_of_four_languages_with_as_many_kinds() -> None:
    drafts = pairs()

    assert Counter((one.document, one.good) for one in drafts) == {
        (lang, good): 10 for lang in ("en", "cs", "de", "hi") for good in (True, False)
    }
    assert {one.kind for one in drafts if one.document == "hi"} == {one.kind for one in drafts}
    assert set(OBSERVED.values()) == {"observe"}


def test_given_the_preset_compliance_when_a_model_rewords_then_good_ones_are_shown_and_bad_ones_are_not(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """S0-25, S0-26: ten more pairs in each language."""
    drafts = pairs()
    stated = {lang: [one.source for one in drafts if one.good and one.document == lang] for lang in ("en", "cs", "de", "hi")}
    with ModelServer() as server, engine_over(server, tmp_path_factory.mktemp("pairs"), stated) as engine:
        found = list(run(drafts, engine, server, PRESET))

    assert [(one.draft.text, one.why) for one in found if one.draft.good and not one.shown] == []
    assert [one.draft.text for one in found if one.shown and not one.draft.good] == SHOWN
