"""The gallery: lists, details, pictures."""

import io

from PIL import Image


def names(answer):
    return [item["id"] for item in answer.json()["items"]]


def test_all_items_in_order_page_by_page(client):
    everything = [f"{number:02}.png" for number in range(60)]
    pages = [client.get(f"/api/items?offset={offset}&limit=25") for offset in (0, 25, 50, 75)]
    assert [name for page in pages for name in names(page)] == everything
    assert {page.json()["total"] for page in pages} == {60}
    assert pages[0].json()["items"][4] == {"id": "04.png", "meta": {"kind": 1}, "picture": True}


def test_filter_and_names(client):
    assert names(client.get("/api/items", params={"where": '{"kind": 2}'})) == [
        f"{number:02}.png" for number in range(2, 60, 3)
    ]
    assert names(client.get("/api/items?names=5.PNG")) == [f"{tens}5.png" for tens in range(6)]


def test_details(client, world):
    body = client.get("/api/item?id=00.png").json()
    assert (body["width"], body["height"]) == (32, 32)
    assert body["bytes"] == (world.photos / "00.png").stat().st_size
    assert body["path_shown"] == "00.png"
    assert len(bytes.fromhex(body["code"])) == 4
    assert (body["group"], body["group_name"]) == (None, None)


def test_details_name_the_group(client):
    client.post("/api/answers", json={"kind": "place", "item": "00.png", "new": True})
    client.patch("/api/groups/1", json={"name": "Boats"})
    body = client.get("/api/item?id=00.png").json()
    assert (body["group"], body["group_name"]) == (1, "Boats")
    assert client.get("/api/item?id=01.png").json()["group"] is None


def test_a_thumbnail_is_the_picture(client, world):
    answer = client.get("/api/thumbnail?id=00.png&size=64")
    assert answer.headers["content-type"] == "image/webp"
    image = Image.open(io.BytesIO(answer.content)).convert("RGB")
    assert image.size == (32, 32)  # never enlarged
    with Image.open(world.photos / "00.png") as original:
        (r, g, b), (r2, g2, b2) = (one.resize((1, 1)).getpixel((0, 0)) for one in (image, original))
    assert abs(r - r2) + abs(g - g2) + abs(b - b2) < 20


def test_a_picture_is_asked_for_once(client):
    tag = client.get("/api/thumbnail?id=00.png").headers["etag"]
    again = client.get("/api/thumbnail?id=00.png", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/api/thumbnail?id=01.png", headers={"If-None-Match": tag}).status_code == 200
