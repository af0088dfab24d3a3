"""Keys: fresh, given, hashed with a warning, refused where they can be guessed, never shown."""

import hashlib
import secrets
import warnings

import pytest

import sqlanon
from sqlanon.errors import UsageError
from sqlanon.key import Key


@pytest.mark.fresh_keys
def test_fresh_keys_are_256_bits_and_differ():
    keys = {Key.fresh().text for _ in range(50)}
    assert len(keys) == 50
    assert all(len(key) == 64 and int(key, 16) >= 0 for key in keys)


def test_hex_digits_are_taken_as_they_are():
    assert Key.of(" " + "AB" * 32 + "\n").text == "ab" * 32


LONG = "Xq3hV9sL2mZ8pR5tK7wB4n"  # 22 letters of 62: 131 bits
DICE = "clamp rigid opal thud verse mango fox ledge quilt brisk"  # ten words of 7776: 129 bits


@pytest.mark.parametrize("text", ["0123456789abcdef" * 2, "FEDCBA9876543210" * 2, LONG, DICE, "8301947562" * 4])
def test_other_text_is_hashed_with_a_warning(text):
    with pytest.warns(sqlanon.PrivacyWarning, match="guesses it can undo"):
        key = Key.of(text)
    assert key.text == hashlib.sha256(text.encode()).hexdigest()
    with pytest.warns(sqlanon.PrivacyWarning):
        assert Key.of(f" {text}\n") == key


@pytest.mark.parametrize(
    "text",
    [
        "abc",
        "summer",
        "0123456789abcdef0123456789abcde",  # 31 hex digits: 124 bits
        LONG[:-1],
        DICE.rsplit(maxsplit=1)[0],
        "Correct-Horse-Battery-Staple",
        "83019475628301947562830194756283019475",  # 38 digits: 126 bits
        "3f2b8c1d-9e47-4a60-b1f5-7d8c2e0a9b34",  # a UUID
        "ab" * 31,
        "letmein " * 20,
        "é" * 100,
    ],
)
def test_a_key_that_can_be_guessed_is_refused(text, tmp_path):
    """Refuse fewer than 128 bits by every way in which a key is handed over, and never show the text."""
    (tmp_path / "key").write_text(text)
    for read in (lambda: Key.of(text), lambda: Key.from_file(tmp_path / "key")):
        with pytest.raises(UsageError, match="fewer than 128 bits") as refusal:
            read()
        assert text not in str(refusal.value)


def test_random_texts_of_128_bits_are_taken():
    """One in 200,000 is refused: digits alone, or letters of one case."""
    makers = (lambda: secrets.token_hex(16), lambda: secrets.token_hex(16).upper(), lambda: secrets.token_urlsafe(16))
    refused = 0
    with warnings.catch_warnings(action="ignore"):
        for text in (make() for make in makers for _ in range(500)):
            try:
                assert Key.of(text).given
            except UsageError:
                refused += 1
    assert refused <= 1


def test_a_key_object_holds_hex_digits_alone():
    for text in ("abc", "AB" * 32, "ab" * 32 + "\n"):
        with pytest.raises(UsageError, match="64 hex digits"):
            Key(text)


def test_an_empty_key_is_refused():
    with pytest.raises(UsageError, match="openssl rand -hex 32"):
        Key.of(" \n")


def test_a_key_does_not_show_itself():
    key = Key.of("cd" * 32)
    assert "cdcd" not in f"{key!r} {key} {[key]} {vars(sqlanon.Key)}"


def test_key_files(tmp_path):
    (tmp_path / "key").write_text("ef" * 32 + "\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    assert Key.from_file(tmp_path / "key").text == "ef" * 32
    for name in ("binary", "."):
        with pytest.raises(UsageError, match="cannot read the key file"):
            Key.from_file(tmp_path / name)
    with pytest.raises(UsageError, match=r"no key file .*openssl rand"):
        Key.from_file(tmp_path / "gone")
