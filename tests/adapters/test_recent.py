"""What is remembered of texts that were read."""

from __future__ import annotations

from rag_core.adapters.embedding.recent import Recent


def test_given_keys_seen_before_then_only_the_others_are_made_each_once_and_in_order() -> None:
    recent, asked = Recent[str, int](10), list[list[str]]()

    def make(keys: list[str]) -> list[int]:
        asked.append(keys)
        return [len(key) for key in keys]

    assert recent.values(["a", "bb", "a"], make) == [1, 2, 1]
    assert recent.values(["ccc", "bb", "dddd"], make) == [3, 2, 4]
    assert recent.values(["a", "ccc"], make) == [1, 3]
    assert asked == [["a", "bb"], ["ccc", "dddd"]]
    assert recent.values([], make) == []


def test_given_more_than_its_size_then_the_least_recently_used_are_forgotten_but_all_asked_for_are_there() -> None:
    recent, asked = Recent[int, int](2), list[int]()

    def make(keys: list[int]) -> list[int]:
        asked.extend(keys)
        return [-key for key in keys]

    assert recent.values([1, 2, 3, 4], make) == [-1, -2, -3, -4]
    recent.values([3], make)
    recent.values([5], make)
    recent.values([3, 4], make)

    assert asked == [1, 2, 3, 4, 5, 4]
