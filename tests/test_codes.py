import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pts3h import UserError, hamming, pack, unpack
from pts3h.codes import Layout, as_text, as_words, check_codes, code_bytes, distances, from_text, sign

signs = st.tuples(st.integers(0, 6), st.integers(1, 300)).flatmap(
    lambda shape: arrays(np.int8, shape, elements=st.sampled_from([-1, 1]))
)


@given(signs)
def test_pack_and_unpack_are_inverse(values):
    bits = values.shape[1]
    codes = pack(values)
    assert codes.dtype == np.uint8
    assert codes.shape == (len(values), (bits + 7) // 8) == (len(values), code_bytes(bits))
    np.testing.assert_array_equal(unpack(codes, bits), values)


@given(signs)
def test_codes_as_text_and_back(values):
    texts = ["".join("1" if value > 0 else "0" for value in row) for row in values]
    codes, bits = pack(values), values.shape[1]
    assert as_text(codes, bits) == texts
    np.testing.assert_array_equal(from_text(texts, bits), codes)


@given(signs)
def test_each_row_is_packed_on_its_own(values):
    """Packing a flattened array mixes rows when the width is not a multiple of 8."""
    codes = pack(values)
    for row, code in zip(values, codes, strict=True):
        for bit, value in enumerate(row):
            assert (code[bit // 8] >> (7 - bit % 8)) & 1 == (value > 0)


@given(signs, st.data())
def test_hamming_counts_differing_bits(values, data):
    others = data.draw(arrays(np.int8, (4, values.shape[1]), elements=st.sampled_from([-1, 1])))
    distances = hamming(pack(values), pack(others))
    expected = (values[:, None, :] != others[None, :, :]).sum(axis=2)
    np.testing.assert_array_equal(distances, expected)


def test_the_wire_format():
    assert pack([[1, -1, -1, -1, -1, -1, -1, 1, 1]]).tolist() == [[0b10000001, 0b10000000]]


def test_zero_counts_as_positive():
    assert sign([0.0, -0.0, -1e-30]).tolist() == [1, 1, -1]
    assert pack([[0.0, -1.0]]).tolist() == [[0b10000000]]


def test_one_code_drops_its_axis():
    codes = pack(np.array([[1, 1, -1], [1, -1, -1]]))
    assert hamming(codes[0], codes[1]) == 1
    assert hamming(codes[0], codes).tolist() == [0, 1]


def test_words_keep_distances():
    codes = pack(np.random.default_rng(0).choice([-1, 1], size=(5, 100)))
    words = as_words(codes)
    assert words.shape == (5, 2)
    counts = np.bitwise_count(words[:, None] ^ words[None]).sum(axis=2)
    np.testing.assert_array_equal(counts, hamming(codes, codes))


@pytest.mark.parametrize("bits", [0, -3, 4097, 2.5, True, "64"])
def test_bits_out_of_range(bits):
    with pytest.raises(UserError, match="bits must be a whole number from 1 to 4096"):
        code_bytes(bits)


def test_nan_has_no_sign():
    with pytest.raises(UserError, match="NaN"):
        pack([[np.nan, 1.0]])


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        (np.zeros((2, 5), np.uint8), "6 bytes wide"),
        (np.zeros((2, 6), np.float32), "packed uint8"),
        (np.full((2, 2), 255, np.uint8), "beyond bit 12"),
    ],
)
def test_codes_that_are_none(codes, message):
    with pytest.raises(UserError, match=message):
        check_codes(codes, 12 if codes.shape[1] == 2 else 48)


def test_hamming_of_different_widths():
    with pytest.raises(UserError, match="one width"):
        hamming(np.zeros((1, 2), np.uint8), np.zeros((1, 3), np.uint8))


@given(st.integers(1, 90), st.integers(0, 90), st.integers(1, 16), st.integers(0, 2**32 - 1))
def test_distances_of_two_parts(meaning, look, weight, seed):
    layout = Layout(meaning, look, weight)
    a, b = np.random.default_rng(seed).integers(0, 2, (2, 4, layout.bits)).astype(bool)
    differ = a[:, None] != b[None]
    by_meaning, by_look = differ[..., :meaning].sum(2), differ[..., meaning:].sum(2)
    expected = {"meaning": by_meaning, "look": by_look, "both": layout.weight * by_meaning + by_look}
    for by in ("meaning", "both", "look")[: 3 if look else 2]:
        np.testing.assert_array_equal(distances(pack(a), pack(b), layout, by), expected[by])
        assert distances(pack(a), pack(~a), layout, by).max() == layout.farthest(by)
    np.testing.assert_array_equal(distances(pack(a[0]), pack(b), layout), expected["both"][0])


def test_a_layout_knows_its_length_and_its_largest_distance():
    layout = Layout(48, 32, 3)
    assert (layout.bits, layout.largest, str(layout)) == (80, 3 * 48 + 32, "48 + 32 bits")
    assert [layout.weights(by) for by in ("meaning", "look", "both")] == [(1, 0), (0, 1), (3, 1)]
    assert [layout.farthest(by) for by in ("meaning", "look", "both")] == [48, 32, 176]
    np.testing.assert_array_equal(np.unpackbits(Layout(12, 5).mask), [1] * 12 + [0] * 12)


def test_without_look_bits_every_distance_is_plain():
    layout = Layout(48, 0, 7)
    assert layout == Layout(48) and str(layout) == "48 bits"
    assert layout.largest == layout.farthest("meaning") == layout.farthest("both") == 48
    with pytest.raises(UserError, match=r"these codes have no look bits: fit with look_bits=\.\.\."):
        layout.weights("look")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0,), "bits must be a whole number from 1 to 4096"),
        ((64, -1), "look_bits must be a whole number from 0 to 4095"),
        ((64, 2.0), "look_bits must be"),
        ((64, 32, 0), "weight must be a whole number from 1 to 16"),
        ((64, 32, 17), "weight must be"),
        ((4096, 1), r"at most 4096 bits, got 4096 \+ 1 bits"),
        ((4000, 90, 9), "distances go up to 32767"),
    ],
)
def test_layouts_that_cannot_be(arguments, message):
    with pytest.raises(UserError, match=message) as caught:
        Layout(*arguments)
    assert "\n" not in str(caught.value)


def test_an_unknown_part():
    with pytest.raises(UserError, match="by must be one of meaning, look, both, got 'sound'"):
        Layout(64, 32).weights("sound")


def test_what_counts_unless_someone_says_otherwise():
    layout = Layout(12, 5)
    assert layout.weights() == layout.weights("both") == (1, 1)
    assert Layout(12, 5, 4).farthest() == Layout(12, 5, 4).farthest("both") == 4 * 12 + 5
    codes = pack(np.array([[1] * 12 + [-1] * 5, [-1] * 12 + [1] * 5]))
    assert distances(codes[0], codes[1], Layout(12, 5, 4)) == 4 * 12 + 5


def test_the_longest_codes_and_the_largest_distance():
    assert Layout(4096).bits == Layout(4095, 1).bits == 4096
    assert Layout(1, 4095).bits == code_bytes(4096) * 8 == 4096
    assert Layout(3640, 7, 9).largest == 32767
    with pytest.raises(UserError, match="reach 32768: take fewer bits or a smaller weight"):
        Layout(3640, 8, 9)
    ones = np.full((1, 4095), True)
    assert hamming(pack(ones), pack(~ones)).tolist() == [[4095]]
    far = pack(np.full(3647, True)), pack(np.full(3647, False))
    assert distances(*far, Layout(3640, 7, 9)) == 32767, "as much as an int16 holds"


def test_booleans_and_outputs_pack_the_same():
    outputs = np.random.default_rng(0).normal(size=(3, 11))
    np.testing.assert_array_equal(pack(outputs > 0), pack(outputs))
    assert pack([[True, False, True]]).tolist() == [[0b10100000]]


@pytest.mark.parametrize("shape", [(11,), (2, 11), (2, 3, 11)])
def test_bits_are_on_the_last_axis_of_any_array(shape):
    values = np.random.default_rng(0).choice([-1, 1], size=shape)
    assert pack(values).shape == (*shape[:-1], 2)
    np.testing.assert_array_equal(unpack(pack(values), 11), values)


def test_types_of_signs_and_distances():
    assert sign([1.5, -2.0]).dtype == unpack(np.zeros((1, 1), np.uint8), 5).dtype == np.int8
    codes = np.array([[0b10100000], [0]], np.uint8)
    assert hamming(codes, codes).dtype == distances(codes, codes, Layout(3)).dtype == np.int16
    assert code_bytes(np.int64(9)) == 2 and type(code_bytes(np.int64(9))) is int


@pytest.mark.parametrize("bits", [1, 7, 8, 9, 63, 64, 65, 128, 300])
@pytest.mark.parametrize("start", [0, 1])
def test_words_hold_the_bytes_and_zeros(bits, start):
    """Whatever address the bytes begin at, and without touching them."""
    width = code_bytes(bits)
    raw = np.random.default_rng(bits).integers(0, 256, 3 * width + start, np.uint8)
    codes = raw[start:].reshape(3, width)
    words = as_words(codes)
    assert words.dtype == np.uint64 and words.shape == (3, -(-width // 8)) and words.flags.aligned
    np.testing.assert_array_equal(words.view(np.uint8)[:, :width], codes)
    assert not words.view(np.uint8)[:, width:].any()


def test_checked_codes_are_contiguous():
    codes = np.zeros((4, 6), np.uint8)[:, ::2]
    checked = check_codes(codes, 24)
    assert checked.flags.c_contiguous and checked.shape == (4, 3)


@pytest.mark.parametrize(
    ("codes", "bits", "message"),
    [
        (np.uint8(0), 8, r"8 bits are 1 bytes wide, got an array of shape \(\)"),
        (np.zeros((2, 1), np.int8), 8, "packed uint8"),
        (np.array([[0, 0b00001000]], np.uint8), 12, "beyond bit 12"),
        (np.array([[0, 0b00000001]], np.uint8), 15, "beyond bit 15"),
    ],
)
def test_other_codes_that_are_none(codes, bits, message):
    with pytest.raises(UserError, match=message):
        check_codes(codes, bits)


def test_the_last_byte_may_be_full_up_to_its_padding():
    for bits, last in ((12, 0b11110000), (15, 0b11111110), (16, 0b11111111)):
        assert check_codes(np.array([255, last], np.uint8), bits).tolist() == [255, last]


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (np.zeros((1, 2)), np.zeros((1, 2), np.uint8), "packed uint8 codes .*, got float64 and uint8"),
        (np.zeros((1, 2), np.uint8), np.zeros((1, 2)), "packed uint8 codes .*, got uint8 and float64"),
        (np.zeros((1, 1, 2), np.uint8), np.zeros(2, np.uint8), "one width"),
        (np.zeros(2, np.uint8), np.zeros((1, 1, 2), np.uint8), "one width"),
        (np.uint8(1), np.zeros(1, np.uint8), "one width"),
    ],
)
def test_what_has_no_hamming_distance(a, b, message):
    with pytest.raises(UserError, match=message):
        hamming(a, b)


def test_pack_needs_an_axis_of_bits():
    with pytest.raises(UserError, match="bits on its last axis"):
        pack(1.0)
    with pytest.raises(UserError, match="bits must be a whole number"):
        pack(np.zeros((3, 0)))
    assert pack([1.0, -1.0]).tolist() == [0b10000000]
