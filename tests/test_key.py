"""Keys: fresh, given, refused where they can be guessed, never shown."""

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


@pytest.mark.parametrize(
    "text", ["abc", "correct horse battery staple", "ab" * 31, "ab" * 33, "é" * 64, "١" * 64, "ab" * 31 + "\nab"]
)
def test_a_key_that_can_be_guessed_is_refused(text, tmp_path):
    """Refuse what is not 64 hex digits by every way in which a key is handed over, and never show the text."""
    (tmp_path / "key").write_text(text)
    for read in (lambda: Key.of(text), lambda: Key.from_file(tmp_path / "key")):
        with pytest.raises(UsageError, match="not 64 hex digits; make one with: openssl rand -hex 32") as refusal:
            read()
        assert text not in str(refusal.value)


def test_a_key_object_holds_hex_digits_alone():
    for text in ("abc", "AB" * 32, "ab" * 32 + "\n"):
        with pytest.raises(UsageError, match="64 hex digits"):
            Key(text)


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
