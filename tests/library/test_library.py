"""Adding, finding, describing and deleting documents; collections; what a library refuses."""

from __future__ import annotations

import re
from itertools import pairwise

import pymupdf
import pytest
from folding import each
from library_kit import SETTINGS, HashEmbedder, check_whole, found, library, pdf, rebuilt, text, traces

from rag_core.domain.documents import DateSource, Metadata
from rag_core.errors import InvalidInput, LibraryError, ModelMismatch
from rag_core.ingest.reading import ocr_engines
from rag_core.library.indexing import embedding
from rag_core.library.stored.sources import Source, sources_from


def test_given_new_documents_when_added_then_another_process_finds_them_whole(tmp_path):
    """S2-27: the index is saved to disk and loaded again."""
    report = library(tmp_path).add(
        [
            text("contract", "The notice period is three months."),
            Source("cats.pdf", pdf("Cats sleep.", "Dogs run."), "pdf"),
        ],
        SETTINGS,
    )

    assert [document.name for document in report.added] == ["contract", "cats.pdf"]
    opened = library(tmp_path)
    check_whole(opened)
    assert found(opened, "notice period") == [report.added[0].id]
    assert found(opened, "dogs") == [report.added[1].id]
    assert opened.snapshot.documents == report.added
    assert opened.snapshot.page_text(report.added[1].id, 2).strip() == "Dogs run."
    page = opened.snapshot.page(report.added[1].id, 2)
    assert [page.text[word.start : word.end] for word in page.words] == ["Dogs", "run."]
    assert opened.source(report.added[1].id) == pdf("Cats sleep.", "Dogs run.")


def test_given_a_text_when_added_then_its_page_is_the_text_character_for_character(tmp_path):
    body = "\ufeffOne\r\n\ttwo \u00a0three \U0001f600\x00 end \n\n"
    opened = library(tmp_path)

    id = opened.add([text("odd", body)], SETTINGS).added[0].id

    assert opened.snapshot.page_text(id, 1) == body


def test_given_what_a_pdf_says_of_itself_when_added_then_it_is_metadata_unless_the_caller_gave_some(tmp_path):
    """S3-28: source, date, authority, verified."""
    data = pdf("Annual report.", title="The Annual Report of 2024", author="A. Uthor", creationDate="D:20240229120000Z")
    opened = library(tmp_path)

    document = opened.add([Source("a.pdf", data, "pdf", metadata=Metadata(authority=0.4))], SETTINGS).added[0]
    assert document.metadata == Metadata("The Annual Report of 2024", "", 0.4, values={"author": "A. Uthor"})
    assert (document.date, document.date_source) == ("2024-02-29", DateSource.FILE)

    again = opened.add([Source("a.pdf", data, "pdf").described({"date": "2023"})], SETTINGS).unchanged[0]
    assert (again.metadata.title, again.metadata.date, again.metadata.authority) == (
        "The Annual Report of 2024",
        "2023",
        0.4,
    )


def test_given_equal_bytes_when_added_again_then_nothing_is_embedded_and_both_names_are_known(tmp_path):
    embedder = HashEmbedder()
    opened = library(tmp_path, embedder=embedder)
    data = pdf("Cats sleep.")
    opened.add([Source("a.pdf", data, "pdf")], SETTINGS)
    embedded = embedder.embedded

    report = opened.add([Source("b.pdf", data, "pdf"), Source("c.pdf", data, "pdf")], SETTINGS)

    assert (report.added, [document.name for document in report.unchanged]) == ((), ["c.pdf"])
    assert embedder.embedded == embedded
    assert len(opened.snapshot.documents) == 1
    for name in ("a.pdf", "b.pdf", "c.pdf"):
        assert opened.snapshot.rows([name]) == [0]


def test_given_other_ingest_settings_when_added_again_then_it_is_cut_anew_and_keeps_what_the_user_wrote(tmp_path):
    opened = library(tmp_path)
    body = " ".join(f"Sentence number {number} says something new." for number in range(200))
    id = opened.add([text("long", body, language="en")], SETTINGS).added[0].id
    opened.set_metadata(id, Metadata(title="Mine"))
    before = len(opened.snapshot.passages)

    report = opened.add([text("long", body, language="en")], SETTINGS.changed(passage_tokens=64))

    assert [document.metadata.title for document in report.added] == ["Mine"]
    assert len(opened.snapshot.passages) > before
    assert len(opened.snapshot.documents) == 1
    check_whole(opened)


def test_given_a_model_that_reads_512_tokens_then_each_strategy_cuts_passages_of_its_own_size(tmp_path):
    """S3-2, S3-4: technical 512, research 384, legal 256, with the 512 of the source's configuration; never more than
    the setting says.
    """
    embedder = HashEmbedder()
    embedder.max_tokens = 512
    # one paragraph, one clause
    body = " ".join(f"Sentence number {number} says something new." for number in range(300))

    def longest(strategy: str, passage_tokens: int) -> int:
        opened = library(tmp_path, f"{strategy}{passage_tokens}", embedder)
        opened.add(
            [text("long", body, language="en")], SETTINGS.changed(strategy=strategy, passage_tokens=passage_tokens)
        )
        return max(embedder.count_tokens([passage.text for passage in opened.snapshot.passages]))

    sizes = {strategy: longest(strategy, 512) for strategy in ("technical", "research", "legal")}
    assert 384 < sizes["technical"] <= 512
    assert 256 < sizes["research"] <= 384
    assert 128 < sizes["legal"] <= 256
    assert longest("technical", 256) <= 256


def test_given_an_overlap_then_the_passages_of_a_library_repeat_the_sentences_before_and_none_without(tmp_path):
    """S3-2: an overlap of 50 tokens at most, in whole sentences."""
    body = " ".join(f"Sentence number {number} says something new." for number in range(120))

    def repeated(overlap: int) -> list[int]:
        opened = library(tmp_path, f"overlap{overlap}")
        opened.add([text("long", body, language="en")], SETTINGS.changed(strategy="technical", overlap_tokens=overlap))
        found = [set(re.findall(r"number \d+", passage.text)) for passage in opened.snapshot.passages]
        return [len(one & other) for one, other in pairwise(found)]

    assert repeated(0)
    assert set(repeated(0)) == {0}
    assert min(repeated(50)) >= 1
    assert max(repeated(50)) <= 50 // 5  # a sentence has more than five tokens


def test_given_a_broken_file_among_good_ones_when_added_then_it_is_a_problem_and_the_others_are_there(tmp_path):
    (tmp_path / "bad.pdf").write_bytes(b"<html>not a pdf</html>")
    (tmp_path / "good.txt").write_text("Good text.", encoding="utf-8")
    (tmp_path / "noise.txt").write_bytes(b"\x89PNG\0\0\0")
    (tmp_path / "blank.txt").write_text(" \n", encoding="utf-8")
    opened = library(tmp_path / "library")
    names = ("bad.pdf", "good.txt", "noise.txt", "blank.txt", "gone.pdf")

    report = opened.add(sources_from([tmp_path / name for name in names]), SETTINGS)

    assert [document.name for document in report.added] == ["good.txt"]
    assert [error.kind for _, error in report.problems] == ["IngestError", "NotAPdf", "IngestError", "EmptyDocument"]
    assert opened.unfinished() == ()
    assert [path.name for path in (tmp_path / "library/default/sources").iterdir()] == [
        report.added[0].id.removeprefix("sha256:")
    ]


def test_given_a_text_with_too_many_different_words_when_added_then_the_others_go_on(tmp_path, monkeypatch):
    monkeypatch.setattr(embedding, "MAX_TERMS", 5)

    report = library(tmp_path).add([text("a", "One two three four five six."), text("b", "No danger here.")], SETTINGS)

    assert [document.name for document in report.added] == ["b"]
    assert [(name, error.kind) for name, error in report.problems] == [("a", "LimitExceeded")]
    assert "more than 5 different words (reached on page 1)" in report.problems[0][1].problem


class SlowEmbedder(HashEmbedder):
    """Takes `seconds` of a clock that the test holds for a text that says "slow", and for any other `usual`."""

    def __init__(self, seconds: float, usual: float = 0.0) -> None:
        super().__init__()
        self.now, self._seconds, self._usual = 0.0, seconds, usual

    def embed(self, texts, kind="passage"):
        self.now += sum(self._seconds if "slow" in text else self._usual for text in texts)
        return super().embed(texts, kind)


def test_given_a_file_that_takes_too_long_to_embed_then_it_is_named_and_the_others_go_on(tmp_path, monkeypatch):
    embedder = SlowEmbedder(seconds=40.0)
    monkeypatch.setattr(embedding, "monotonic", lambda: embedder.now)
    slow = "\n\n".join(f"Sentence {number} is slow. " + "It has many words that fill it. " * 30 for number in range(40))
    opened = library(tmp_path, embedder=embedder)

    report = opened.add([text("slow", slow), text("b", "No danger here."), text("c", "Nor here.")], SETTINGS)

    assert [document.name for document in report.added] == ["b", "c"]
    ((name, error),) = report.problems
    assert (name, error.kind) == ("slow", "LimitExceeded")
    assert "more than the" in error.problem
    assert "passages; " in error.problem
    assert opened.unfinished() == ()
    check_whole(opened)


def test_given_a_slow_machine_when_embedding_takes_as_long_as_allowed_then_nothing_is_refused(tmp_path, monkeypatch):
    embedder = SlowEmbedder(seconds=0.0, usual=embedding.SECONDS_PER_PASSAGE)
    monkeypatch.setattr(embedding, "monotonic", lambda: embedder.now)

    many = "\n\n".join(f"Sentence {number}. " + "It has many words that fill it. " * 30 for number in range(200))
    opened = library(tmp_path, embedder=embedder)

    report = opened.add([text("a", many)], SETTINGS)

    assert report.problems == ()
    assert len(opened.snapshot.passages) == embedder.now > embedding.SECONDS


def test_given_a_document_when_deleted_then_it_is_gone_and_can_be_added_again(tmp_path):
    opened = library(tmp_path)
    source = Source("cats.pdf", pdf("Cats sleep."), "pdf")
    id = opened.add([source, text("keep", "Dogs run.")], SETTINGS).added[0].id

    opened.delete(id)

    assert [document.name for document in library(tmp_path).snapshot.documents] == ["keep"]
    assert found(opened, "cats") == []
    with pytest.raises(InvalidInput):
        opened.delete(id)
    assert [document.id for document in opened.add([source], SETTINGS).added] == [id]
    assert found(opened, "cats") == [id]
    check_whole(opened)


def test_given_a_deleted_document_then_no_file_holds_a_word_or_a_vector_of_it(tmp_path):
    opened = library(tmp_path)
    id = opened.add([text("secret", "The zyxoquant is fortytwo."), text("keep", "Dogs run.")], SETTINGS).added[0].id
    vector = opened.snapshot.vectors.vectors([0]).tobytes()
    assert traces(tmp_path, b"zyxoquant", vector)

    opened.delete(id)

    assert traces(tmp_path, b"zyxoquant", b"secret", vector, id.removeprefix("sha256:").encode()) == []
    check_whole(opened)


def test_given_metadata_and_filters_when_rows_are_chosen_then_only_matching_documents_are_ranked(tmp_path):
    """S2-27: retrieval filters such as class and subject."""
    opened = library(tmp_path)
    facts = {
        "maths": {"class": "10", "subject": "Maths", "date": "2024-03-01"},
        "physics": {"class": "10", "verified": "true"},
        "other": {},
    }
    opened.add([text(name, f"Text of {name}.").described(values) for name, values in facts.items()], SETTINGS)
    rows = opened.snapshot.rows

    assert rows(None, {}) is None
    assert rows(None, {"class": "10"}) == [0, 1]
    assert rows(None, {"class": "10", "subject": " maths "}) == [0]
    assert rows(None, {"date": "2024"}) == [0]
    assert rows(None, {"date": ""}) == []
    assert rows(None, {"verified": "True"}) == [1]
    assert rows(None, {"title": "OTHER"}) == [2]
    assert rows(None, {"nothing": ""}) == []
    assert rows(["other", "maths", "other"], {}) == [0, 2]
    assert rows([], {}) == []
    assert rows(["other"], {"class": "10"}) == []
    with pytest.raises(InvalidInput):
        rows(["unknown"], {})


def test_given_metadata_set_when_reopened_then_they_are_kept_and_no_index_was_built_again(tmp_path):
    """S3-28: metadata can be edited."""
    opened = library(tmp_path)
    id = opened.add([text("a", "Alpha.")], SETTINGS).added[0].id
    before = opened.snapshot

    opened.set_metadata(id, Metadata("Title", "2024", 1.0, True, {"class": "10"}))

    assert library(tmp_path).snapshot.document(id).metadata == Metadata("Title", "2024", 1.0, True, {"class": "10"})
    assert (opened.snapshot.vectors, opened.snapshot.lexical) == (before.vectors, before.lexical)
    check_whole(library(tmp_path))
    with pytest.raises(InvalidInput):
        opened.set_metadata("sha256:0", Metadata())


@each("name", ["../a", "a/b", "", "A", "a" * 65, "a\n", ".", "a\\b", "ä", "a b"])
def test_given_a_name_that_is_not_a_collection_when_opened_then_it_is_refused_and_nothing_is_written(tmp_path, name):
    """S3-25: collections isolate collections."""
    with pytest.raises(InvalidInput):
        library(tmp_path / "folder", name)
    assert list(tmp_path.iterdir()) == []


def test_given_two_collections_of_one_folder_when_searched_then_neither_sees_the_other(tmp_path):
    """S3-25: collections isolate collections."""
    one, two = library(tmp_path, "one"), library(tmp_path, "two")
    shared = text("shared", "Both have this text about sharing.")
    one.add([shared, text("first", "Only the first has apples.")], SETTINGS)
    two.add([text("second", "Only the second has pears."), shared], SETTINGS)
    shared_id = f"sha256:{shared.digest}"

    one, two = library(tmp_path, "one"), library(tmp_path, "two")
    assert found(two, "apples first") == []
    assert found(one, "pears second") == []
    assert shared_id in found(one, "sharing")
    two.delete(shared_id)
    one.refresh()
    assert one.snapshot.page_text(shared_id, 1) == "Both have this text about sharing."
    check_whole(one)
    for other, name in ((one, "second"), (two, "first")):
        assert other.snapshot.find(name) == ()
        with pytest.raises(InvalidInput):
            other.snapshot.rows([name])


def test_given_another_model_or_precision_when_opened_then_it_is_refused_with_a_remedy_until_rebuilt(tmp_path):
    opened = library(tmp_path)
    data = pdf("Cats sleep.")
    opened.add([Source("cats.pdf", data, "pdf"), text("dogs", "Dogs run.")], SETTINGS)
    opened.add([Source("felines.pdf", data, "pdf")], SETTINGS)
    opened.set_metadata(opened.snapshot.documents[1].id, Metadata(title="Mine"))
    other = HashEmbedder("hash@bfloat16")

    with pytest.raises(ModelMismatch, match=r"hash@float32.*hash@bfloat16.*rebuild"):
        library(tmp_path, embedder=other)

    anew, report = rebuilt(tmp_path, other)
    assert [document.title for document in report.added] == ["felines.pdf", "Mine"]
    assert anew.unfinished() == ()
    assert other.embedded == len(anew.snapshot.passages)
    reopened = library(tmp_path, embedder=other)
    assert reopened.snapshot.documents == anew.snapshot.documents
    assert reopened.snapshot.rows(["cats.pdf"]) == [0]
    check_whole(reopened)
    with pytest.raises(ModelMismatch):
        opened.refresh()


def test_given_an_older_index_version_when_opened_then_it_says_to_rebuild(tmp_path, monkeypatch):
    library(tmp_path).add([text("dogs", "Dogs run.")], SETTINGS)
    for module in ("rag_core.library.library", "rag_core.library.indexing.indexer"):
        monkeypatch.setattr(f"{module}.INDEX_VERSION", 999)

    with pytest.raises(LibraryError, match="Rebuild"):
        library(tmp_path)

    check_whole(rebuilt(tmp_path)[0])
    assert [document.name for document in library(tmp_path).snapshot.documents] == ["dogs"]


def test_given_a_rebuild_cancelled_halfway_then_the_old_version_stands_and_the_next_one_goes_on(tmp_path):
    sources = [Source("a.pdf", pdf("Alpha."), "pdf"), Source("b.pdf", pdf("Beta."), "pdf")]
    library(tmp_path).add(sources, SETTINGS)
    other = HashEmbedder("other@float32")

    _, report = rebuilt(tmp_path, other, cancelled=lambda: other.embedded > 0)

    assert (report.cancelled, [document.name for document in report.added]) == (True, ["a.pdf"])
    old = library(tmp_path)
    assert [document.name for document in old.snapshot.documents] == ["a.pdf", "b.pdf"]
    check_whole(old)
    anew, report = rebuilt(tmp_path, other)
    assert [document.name for document in report.added] == ["a.pdf", "b.pdf"]
    assert other.embedded == 2
    check_whole(anew)


def test_given_pages_that_could_not_be_read_when_ocr_is_there_now_then_the_file_is_read_again(tmp_path, monkeypatch):
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), "A page with text.")
    picture = pymupdf.open()
    picture.new_page().insert_text((72, 300), "Scanned words", fontsize=40)
    page = document.new_page()
    page.insert_image(page.rect, pixmap=picture[0].get_pixmap(dpi=72))
    source = Source("scan.pdf", document.tobytes(), "pdf")
    opened = library(tmp_path)
    monkeypatch.setattr(ocr_engines, "find_tessdata", lambda: ((), ""))
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))

    report = opened.add([source], SETTINGS)
    assert report.problems == ()
    assert report.added[0].unreadable_pages == (2,)
    assert opened.add([source], SETTINGS).added == ()

    monkeypatch.setattr(ocr_engines, "find_tessdata", lambda: (("eng",), "there"))
    assert len(opened.add([source], SETTINGS).added) == 1


@pytest.mark.slow
def test_given_many_texts_when_added_then_they_are_embedded_in_groups_and_published_a_few_times(tmp_path):
    calls = []

    class Counting(HashEmbedder):
        def embed(self, texts, kind="passage"):
            calls.append(len(texts))
            return super().embed(texts, kind)

    opened = library(tmp_path, embedder=Counting())
    report = opened.add([text(f"d{n}", f"Document {n} is about item{n}.", language="en") for n in range(320)], SETTINGS)

    assert len(report.added) == 320
    assert len(calls) <= 320 / 16
    assert opened.snapshot.version <= 6
    assert found(opened, "item300") == [report.added[300].id]
    reopened = library(tmp_path)
    reopened.verify()
    assert [*reopened.snapshot.passages] == [*opened.snapshot.passages]


def test_given_a_question_to_try_when_kept_then_it_goes_with_its_document(tmp_path):
    opened = library(tmp_path)
    kept, gone = (opened.add([text(name, f"{name} sleep.")], SETTINGS).added[0].id for name in ("Cats", "Dogs"))
    for id in (kept, gone):
        opened.keep_question(id, "Opening hours?")
    assert library(tmp_path).questions() == dict.fromkeys((kept, gone), "Opening hours?")

    opened.delete(gone)
    opened.keep_question(gone, "Again?")

    assert library(tmp_path).questions() == {kept: "Opening hours?"}
