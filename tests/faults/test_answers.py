"""An answer that was acknowledged is never lost: three people answer at once, and the process is killed."""

from pts3h.teaching.answers import Answers
from tests.faults.tally import Lost


def test_acknowledged_answers_survive_kills(full, zygote, place, rng, tally):
    path = place / "answers.db"
    counted = tally("kill -9, while three people answer: answers")
    acknowledged = {}  # (who, what, taken back) by the number of the answer
    for session in range(200 if full else 20):
        with counted.trying(f"session {session}"):
            outcome = zygote.run("answer_without_end", path, session, kill_after=rng.uniform(0, 0.2))
            assert outcome.killed, outcome
            for number, what, who, undone in outcome.said:
                acknowledged[number] = f"{session} {who}", str(what), who, what % 3 == 0, undone
            with Answers(path) as answers:
                held = {one.number: one for one in answers.list(limit=1_000_000)}
                check(acknowledged, held)
                assert len(held) <= len(acknowledged) + 3 * (session + 1), "at most one each was under way"
                assert answers.counts().answers == sum(not one.undone for one in held.values())
    assert len(acknowledged) > session, "some answers came through"


def check(acknowledged, held):
    for number, (a, b, who, similar, undone) in acknowledged.items():
        one = held.get(number)
        if one is None or (undone and not one.undone):
            raise Lost(f"answer {number}")
        assert (one.a, one.b, one.who, one.similar) == (a, b, who, similar)
        assert one.undone == undone or int(b) % 4 == 0, "taken back without a word"
