"""The log of answers, and what must hold whatever became of it."""

from dataclasses import replace

from pts3h.teaching.answers import Answers
from tests.faults.writer import Writer, need


class AnswerLog(Writer):
    name = "answers"
    first, beyond = 9, 24

    def prepare(self):
        (self.source / "before").mkdir()
        self.order("give_answers", self.source / "before" / "answers.db", 1, self.first)
        self.order("give_answers", self.source / "other.db", 1, self.beyond)
        with Answers(self.source / "other.db") as answers:
            self.expected = [self.timeless(one) for one in answers.list()]

    def timeless(self, answer):
        """An answer without its time, and without what later ones made of it."""
        return replace(answer, at="", undone=False)

    def begin(self):
        super().begin()
        self.reached = self.first

    def work(self):
        return "give_answers", self.target / "answers.db", self.reached, self.beyond

    def check(self, outcome):
        """What was acknowledged is there, and the answer under way is there wholly or not at all."""
        held = self.held()
        need(held >= self.first + len(outcome.said), f"{len(outcome.said)} answers were acknowledged")
        assert held <= self.first + len(outcome.said) + 1
        self.reached = held

    def held(self):
        """The number that the next event gets."""
        with Answers(self.target / "answers.db") as answers:
            found = answers.list(limit=1000)
            assert [self.timeless(one) for one in found] == self.expected[-len(found) :]
            undone = sum(one.undone for one in found)
            assert {one.number for one in found if one.undone} == {4, 11, 18}.intersection(
                range(1 + 7 * undone)
            )
            return 1 + len(found) + undone

    def check_end(self):
        assert self.held() == self.beyond and self.names() == {"answers.db"}
