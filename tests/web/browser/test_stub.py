"""The made-up server speaks as the real one does: it says all that is documented, and nothing else."""

import pytest

from pts3h.web.routes.duplicates import DuplicatesOut
from pts3h.web.routes.groups import Groups
from pts3h.web.routes.items import Status
from pts3h.web.routes.jobs import Comparison
from pts3h.web.routes.questions import GroupQuestion, PairQuestion
from pts3h.web.schemas import Explained, Found, Job
from tests.web.browser.stub import Stub

DUPLICATES = {"radius": "2", "by": "look", "offset": "0", "limit": "20", "keep": "largest"}
SAID = [
    (Status, lambda stub: stub.status()),
    (Found, lambda stub: stub.hits(stub.codes[0], {})),
    (Explained, lambda stub: stub.explain({"id": stub.ids[0], "other": stub.ids[1]})),
    (DuplicatesOut, lambda stub: stub.duplicates(DUPLICATES)),
    (GroupQuestion, lambda stub: stub.question("groups", [])),
    (PairQuestion, lambda stub: stub.question("pairs", [])),
    (Groups, lambda stub: stub.group_list()),
    (Job, lambda stub: stub.new_job()),
    (Comparison, lambda stub: stub.compare()),
]


@pytest.mark.parametrize(("kind", "say"), SAID, ids=[kind.__name__ for kind, _ in SAID])
def test_the_made_up_server_says_what_the_real_one_says(kind, say):
    stub = Stub(100)
    stub.answer({"kind": "place", "item": stub.ids[0], "new": True})
    kind.model_validate(say(stub), extra="forbid")
