"""Domain profiles over HTTP: a caller names a domain, proposes a change, and somebody with the scope admin accepts it or goes back."""

from __future__ import annotations

import pytest
from service_kit import WARRANTY, Server

from rag_core.client import Client, ServiceError

LABELS = [
    {"id": "1", "question": WARRANTY, "answerable": True, "answers": ["24 months"]},
    {"id": "2", "question": "What is the capital of France?", "answerable": False},
]


def test_given_a_domain_when_a_question_is_asked_then_its_profile_is_named_and_the_caller_s_own_settings_win(server: Server) -> None:
    """S3-26, S3-27: the domain is set by the caller or detected, and the decision names the version."""
    with Client(server.address, server.tokens["alpha"]) as client:
        plain = client.query(WARRANTY, "alpha")
        legal = client.query(WARRANTY, "alpha", domain="legal")
        own = client.query(WARRANTY, "alpha", domain="legal", top_k=2)
        auto = client.query("Does the contract say when the invoice is due?", "alpha", domain="auto")
        detected = client.domain("Does the contract say when the invoice is due?", "alpha")
        kept = client.decision(legal.id, "alpha").metadata
        replayed = client.replay(legal.id, "alpha", settings={"min_correctness": 1.0})
        with pytest.raises(ServiceError) as unknown:
            client.query(WARRANTY, "alpha", domain="law")

    assert "profile" not in plain.metadata
    assert plain.answer == legal.answer
    assert legal.metadata["profile"] == kept["profile"] == replayed.metadata["profile"] == "legal@0"
    assert len(legal.retrieved) > len(plain.retrieved) > len(own.retrieved) == 2
    assert auto.metadata["profile"] == detected.profile == "legal@0"
    assert auto.metadata["profile_why"] == detected.why == "The question uses a word of it."
    assert (unknown.value.status, "legal" in unknown.value.remedy) == (422, True)


def test_given_a_proposal_when_an_admin_accepts_it_then_questions_are_asked_under_it_until_somebody_goes_back(server: Server) -> None:
    """S3-26: every version is kept, and any can be in force again."""
    with Client(server.address, server.tokens["alpha"]) as client, Client(server.address, server.tokens["admin"]) as admin:
        run = client.run("labels", LABELS, "alpha")
        assert [job.state for job in client.events(run.id)][-1] == "finished"
        tried = client.propose("medical", {"top_k": 4}, "alpha", why="fewer", run=run.run)
        assert [job.state for job in client.events(tried.id)][-1] == "finished"
        version = client.versions("medical", "alpha").items[-1]
        waiting = {one.domain: one.proposals for one in client.profiles("alpha").items}
        with pytest.raises(ServiceError) as refused:
            client.put_in_force("medical", version.version, "alpha")
        before = client.query(WARRANTY, "alpha", domain="medical").metadata["profile"]
        accepted = admin.put_in_force("medical", version.version, "alpha").items[-1]
        under = client.query(WARRANTY, "alpha", domain="medical")
        admin.put_in_force("medical", 0, "alpha")
        back = client.query(WARRANTY, "alpha", domain="medical").metadata["profile"]
        again = client.propose("medical", {"min_correctness": 1.0}, "alpha")
        assert [job.state for job in client.events(again.id)][-1] == "finished"
        kept = client.versions("medical", "alpha").items[-1]
        declined = admin.decline("medical", kept.version, "alpha").items[-1]
        problems = []
        for call in (
            lambda: client.propose("medical", {"top_k": 4}, "alpha", run=9999), lambda: client.propose("law", {"top_k": 4}, "alpha"),
            lambda: client.propose("medical", {"model": "x"}, "alpha"), lambda: admin.put_in_force("medical", 99, "alpha"),
            lambda: client.propose("medical", {"top_k": 4}, "alpha", set="nowhere"),
        ):  # fmt: skip
            with pytest.raises(ServiceError) as problem:
                call()
            problems.append(problem.value.status)

    assert (refused.value.status, before, back) == (403, "medical@0", "medical@0")
    assert waiting["medical"] == 1
    assert version.evidence["before"]["right"]["n"] == 2
    assert (version.state, version.in_force, accepted.state, accepted.in_force) == ("proposed", False, "accepted", True)
    assert under.metadata["profile"] == f"medical@{version.version}"
    assert len(under.retrieved) == 4
    assert (kept.evidence["kind"], kept.evidence["questions"], kept.evidence["flipped"]) == ("kept", 3, 3)
    assert (declined.state, declined.in_force) == ("declined", False)
    assert problems == [404, 404, 422, 404, 404]


def test_given_work_under_a_profile_when_it_is_recorded_then_its_figures_stand_at_the_version(server: Server) -> None:
    """S3-26: confidence, citation coverage, outcome and feedback are kept."""
    with Client(server.address, server.tokens["alpha"]) as client:
        id = client.query(WARRANTY, "alpha", domain="textbook").id
        for wrong, said in ((False, "helpful"), (True, "wrong_answer")):
            client.record_execution("rag_strategy", 0.5 + 0.4 * wrong, 1.0, wrong, "alpha", feedback=said, decision=id)
        client.record_execution("rag_generation", 0.1, 0.5, False, "alpha", outcome="refused", profile="textbook@7")
        (shipped,) = client.versions("textbook", "alpha").items
    with Client(server.address, server.tokens["reader"]) as reader, pytest.raises(ServiceError) as foreign:
        reader.record_execution("rag_strategy", 1.0, 1.0, False, "alpha", decision=id)

    found = shipped.recorded
    assert (found["executions"], found["citation_coverage"], found["hallucinations"]["k"]) == (2, 1.0, 1)
    assert found["confidence"] == pytest.approx(0.7)
    assert (found["outcomes"], found["feedback"]) == ({"answered": 2}, {"helpful": 1, "wrong_answer": 1})
    assert foreign.value.status == 404, "another caller's decision"


def test_given_a_domain_when_documents_are_indexed_then_they_are_cut_as_its_profile_says(server: Server) -> None:
    with Client(server.address, server.tokens["admin"]) as client:
        client.index([{"content": "The tenant pays.", "id": "a"}], "cut", domain="legal")
        client.index_files([("b.txt", b"The lessor pays.")], "cut", domain="code")
        client.index([{"content": "Nobody pays.", "id": "c"}], "cut", domain="auto")
        client.index([{"content": "Somebody pays.", "id": "d"}], "cut", domain="legal", settings={"strategy": "research"})
        found = {one.name: one.strategy for one in client.documents("cut").items}

    assert found == {"a": "legal", "b.txt": "code", "c": "technical", "d": "research"}


def test_given_a_quota_when_documents_are_sent_then_those_that_do_not_fit_are_told_one_by_one(server: Server) -> None:
    with Client(server.address, server.tokens["admin"]) as client:
        client.create("small")
        client.set_quota("small", documents=1, bytes=500)
        sent = client.index([{"content": "One rule."}, {"content": "Two rules.", "id": "two"}], "small")
        held = client.quota("small")
        lifted = client.set_quota("small")
        again = client.index([{"content": "Two rules.", "id": "two"}], "small")

    assert [(one.state, "may have 1 documents" in one.problem) for one in sent.documents] == [("indexed", False), ("problem", True)]
    assert (held.documents, held.bytes, held.most_documents, held.most_bytes) == (1, 9, 1, 500)
    assert (lifted.most_documents, lifted.most_bytes, again.indexed) == (None, None, 1)


ASKERS = "abcdefghijklmn"


def test_given_two_versions_when_live_questions_are_split_then_each_asker_stays_on_a_side_and_counts_once(server: Server) -> None:
    """S3-26: a comparison on live questions, by readers' words."""
    with Client(server.address, server.tokens["alpha"]) as client, Client(server.address, server.tokens["admin"]) as admin:
        tried = client.propose("textbook", {"min_correctness": 0.9}, "alpha", run=client.run("labels", LABELS, "alpha").run)
        assert [job.state for job in client.events(tried.id)][-1] == "finished"
        new = client.versions("textbook", "alpha").items[-1].version
        with pytest.raises(ServiceError) as refused:
            client.compare("textbook", 0, new, "alpha")
        (begun,) = admin.compare("textbook", 0, new, "alpha").items
        # so many that all of them fall on one side once in 8,000 comparisons: the draw has the comparison's time in it
        asked = {session: [client.query(WARRANTY, "alpha", domain="textbook", session=session) for _ in range(2)] for session in ASKERS}
        for session, decisions in asked.items():
            for decision in decisions:
                client.feedback(decision.id, "helpful" if session != "a" else "wrong_answer", "alpha")
        (found,) = admin.comparisons("textbook", "alpha").items
        problems = []
        for call in (
            lambda: admin.compare("textbook", 0, new, "alpha"), lambda: admin.compare("textbook", 0, 99, "alpha"),
            lambda: admin.compare("textbook", 0, 0, "alpha"),
        ):  # fmt: skip
            with pytest.raises(ServiceError) as problem:
                call()
            problems.append(problem.value.status)
        (stopped,) = admin.stop_comparing("textbook", "alpha").items
        after = client.query(WARRANTY, "alpha", domain="textbook", session="b").metadata["profile"]
        with pytest.raises(ServiceError) as twice:
            admin.stop_comparing("textbook", "alpha")

    sides = {session: {one.metadata["profile"] for one in decisions} for session, decisions in asked.items()}
    assert all(len(side) == 1 for side in sides.values())
    assert set().union(*sides.values()) == {"textbook@0", f"textbook@{new}"}
    assert (found.a.answers + found.b.answers, found.a.good + found.b.good) == (len(ASKERS), len(ASKERS) - 1)
    assert found.a.answers == sum(side == {"textbook@0"} for side in sides.values())
    assert (found.better, found.stopped, begun.p) == (None, "", 1.0)
    assert (stopped.a, bool(stopped.stopped), after) == (found.a, True, "textbook@0")
    assert (refused.value.status, problems, twice.value.status) == (403, [422, 404, 422], 422)


def test_given_labelled_questions_when_a_change_is_looked_for_over_http_then_it_is_a_job_that_proposes_only_what_is_better(
    server: Server,
) -> None:
    with Client(server.address, server.tokens["alpha"]) as client:
        run = client.run("labels", LABELS, "alpha").run
        before = len(client.versions("code", "alpha").items)
        job = client.learn("code", "alpha", run=run)
        assert [one.state for one in client.events(job.id)][-1] == "finished"
        assert len(client.versions("code", "alpha").items) == before
        with pytest.raises(ServiceError) as none:
            client.learn("code", "alpha")
    assert none.value.status == 422
