"""pts3h data: data sets and their splits."""

import json
from pathlib import Path


def test_digits_and_their_split(here, run):
    done = run("data", "digits", "--split", "split.json", "--json")
    assert done.json["items"] == 1797 and done.json["queries"] == 200 and done.json["labelled"] == 100
    stored = json.loads(Path("split.json").read_text())
    assert len(stored["queries"]) == 200 and len(stored["database"]) == 1597
    spoken = run("data", "digits")
    assert "1,797" in spoken.out and done.json["split"] in spoken.out


def test_data_sets(refused):
    refused("data", "cifar100", says="there is no data set 'cifar100'")
    refused("data", "cifar10", "--from", "photos", says="there is no photos/cifar-10-binary.tar.gz")
    refused("data", "nuswide21", says="say which folder")
    refused("data", "nuswide21", "--from", "photos", says="database.txt is missing")
