"""Keys: fresh, given, hashed with a warning, and never shown."""

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


def test_other_text_is_hashed_with_a_warning():
    with pytest.warns(sqlanon.PrivacyWarning, match="guesses it can undo"):
        key = Key.of("summer")
    assert len(key.text) == 64
    with pytest.warns(sqlanon.PrivacyWarning):
        assert Key.of("summer") == key


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
    for name in ("binary", "gone", "."):
        with pytest.raises(UsageError, match="cannot read the key file"):
            Key.from_file(tmp_path / name)
