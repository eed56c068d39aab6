"""Groups over HTTP, beyond what the page's own tests do."""


def test_answers_that_newer_ones_contradict_are_named(client):
    """Where alike of alike is alike, the oldest of three that cannot all hold does not count."""
    said = [("00.png", "02.png", False), ("00.png", "01.png", True), ("01.png", "02.png", True)]
    for a, b, similar in said:
        answer = client.post("/api/answers", json={"kind": "pair", "a": a, "b": b, "similar": similar})
        assert answer.status_code == 201
    assert client.get("/api/groups").json()["overruled"] == [
        "00.png is not like 02.png, but a chain of alike pairs joins them: 00.png - 01.png - 02.png"
    ]
    client.post("/api/answers/undo", json={})
    assert client.get("/api/groups").json()["overruled"] == []
