"""Pipes, devices, files without end, and JSON that nobody means: refused at once, by whoever reads a file whole."""

import os

import pytest

from sqlanon.bounded_files import UnfitFileError, parse_json, read_bytes, read_text, require_regular


def special_files(folder):
    """Lay a pipe, two devices, a link to one, a socket's like, and a file of a terabyte; return their names."""
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to("/dev/zero")
    with (folder / "sparse").open("wb") as file:
        file.truncate(2**40)
    return [folder / "pipe", "/dev/zero", "/dev/null", folder / "link", folder / "sparse", folder]


def test_only_regular_files_of_a_bounded_size_are_read(tmp_path):
    for place in special_files(tmp_path):
        with pytest.raises(UnfitFileError) as caught:
            read_text(place)
        assert caught.value.strerror.startswith("it ")
    (tmp_path / "text").write_bytes("ü\r\n".encode())
    assert (read_text(tmp_path / "text"), read_bytes(tmp_path / "text", 4)) == ("ü\r\n", "ü\r\n".encode())
    with pytest.raises(UnfitFileError, match="4 bytes, and at most 3"):
        read_bytes(tmp_path / "text", 3)
    with pytest.raises(FileNotFoundError):
        read_text(tmp_path / "missing")


def test_what_an_engine_opens_is_looked_at_first(tmp_path):
    *others, sparse, folder = special_files(tmp_path)
    for place in others:
        with pytest.raises(UnfitFileError):
            require_regular(place)
    for place in (sparse, folder, tmp_path / "missing", "a" * 5000, "a\0b"):
        require_regular(place)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[" * 5000, "brackets|no JSON"),
        ("[" * 101 + "]" * 101, "brackets"),
        ("[" * 200_000 + "]" * 200_000, "brackets"),
        ('{"a":' * 150 + "1" + "}" * 150, "brackets"),
        ("9" * 100_000, "100,000 digits"),
        ("1." + "9" * 100_000, "digits"),
        ('{"a": 1, "a": 2}', "a key twice"),
        ("[NaN]", "NaN"),
        ("-Infinity", "no number"),
        ("", "no JSON"),
        ("{} {}", "no JSON"),
    ],
    ids=range(11),
)
def test_json_that_nobody_means(text, says):
    with pytest.raises(ValueError, match=says):
        parse_json(text)


def test_json_as_it_is_written():
    assert parse_json('{"a": [1, -2.5e-7, null, true, "ü"], "b": {}}') == {"a": [1, -2.5e-7, None, True, "ü"], "b": {}}
