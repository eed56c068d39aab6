"""ITQ as a system; see :mod:`pts3h.unsupervised.itq`."""

from ...unsupervised.itq import learn_itq
from ...unsupervised.linear import LinearCoder
from .known import Known


def learn(known: Known, bits: int, seed: int) -> LinearCoder:
    """ITQ looks at the items alone."""
    return learn_itq(known.features, bits, seed)
