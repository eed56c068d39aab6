"""What the tests of this folder share."""

import numpy as np
import pytest

from pts3h.errors import UserError

CODES = np.arange(24, dtype=np.uint8).reshape(3, 8)


def refused(message, action):
    """The one line with which an action is refused."""
    with pytest.raises(UserError, match=message) as caught:
        action()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def name_of(address):
    """The table of an address."""
    return address.rpartition("/")[2]
