import base64
import io

import numpy as np
from PIL import Image

from pts3h.util.pictures import as_data, to_jpeg, to_png


def test_a_page_holds_the_picture_itself():
    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, 3), np.uint8)
    address = as_data(to_png(Image.fromarray(pixels)))
    kind, _, content = address.partition(";base64,")
    assert kind == "data:image/png"
    np.testing.assert_array_equal(np.array(Image.open(io.BytesIO(base64.b64decode(content)))), pixels)


def test_thumbnails_are_jpeg():
    pixels = np.full((12, 10, 3), (200, 40, 90), np.uint8)
    read = Image.open(io.BytesIO(to_jpeg(Image.fromarray(pixels))))
    assert read.format == "JPEG"
    np.testing.assert_allclose(np.array(read), pixels, atol=4)
