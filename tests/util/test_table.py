from dataclasses import dataclass

import pytest

from pts3h import UserError
from pts3h.util.table import Table, load


@dataclass
class Tool:
    name: str


@pytest.fixture
def tools():
    return Table("tool", Tool, [Tool("hammer"), Tool("saw")])


def test_by_name_in_order(tools):
    assert tools.names() == ["hammer", "saw"] and tools.find("saw").name == "saw"
    assert "saw" in tools and "file" not in tools and len(tools) == 2
    assert [tool.name for tool in tools] == ["hammer", "saw"]


def test_an_unknown_name_is_answered_with_the_nearest(tools):
    with pytest.raises(UserError, match="there is no tool 'hamer': did you mean hammer\\?"):
        tools.find("hamer")
    with pytest.raises(UserError, match="choose from hammer, saw"):
        tools.find("xyz")


def test_a_row_of_ones_own_is_kept_under_its_name(tools):
    own = Tool("plane")
    assert tools.find(own) is own and tools.find("plane") is own
    again = Tool("plane")
    assert tools.find(again) is again and tools.find("plane") is again


def test_own_are_those_that_users_brought(tools):
    assert tools.own() == []
    tools.find(tools.find("saw"))
    assert tools.own() == []
    plane, file = Tool("plane"), Tool("file")
    tools.find(plane)
    tools.find(file)
    tools.find("hammer")
    assert tools.own() == [plane, file] and tools.names() == ["hammer", "saw", "plane", "file"]


def test_ours_are_not_replaced(tools):
    with pytest.raises(UserError, match="already"):
        tools.find(Tool("saw"))
    assert tools.find(tools.find("saw")).name == "saw"


@pytest.mark.parametrize("wrong", [7, None, {"name": "saw"}])
def test_something_else_is_refused(tools, wrong):
    with pytest.raises(UserError, match="a tool is a name or a Tool"):
        tools.find(wrong)


def test_what_a_row_is_made_by_may_wait():
    assert load("json:dumps")([1]) == "[1]" and load(len) is len
