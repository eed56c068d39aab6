"""Collections whose kinds are known, and people who answer by them."""

import numpy as np
from sklearn.datasets import make_blobs

from pts3h.teaching.kept_back import kept_back


def blobs(count, kinds, *, spread=0.1, seed=0):
    """Ids, vectors in clusters, and the cluster of each id; ``count`` in all, or of each cluster."""
    centers = np.eye(kinds, max(kinds, 8))
    rows, labels = make_blobs(count, centers=centers, cluster_std=spread, random_state=seed)
    ids = [f"{number}.jpg" for number in range(len(rows))]
    return ids, rows.astype(np.float32), dict(zip(ids, labels.tolist(), strict=True))


def place(answers, item, kind_of):
    """Put an item where it belongs."""
    groups = {kind_of[group.items[0]]: group.number for group in answers.groups()}
    group = groups.get(kind_of[item])
    return answers.place(item, group, new=group is None)


def teachable(count, prefix="item"):
    """Names of which none is kept back."""
    names = (f"{prefix}{number}" for number in range(10 * count))
    return [name for name in names if not kept_back(name)][:count]
