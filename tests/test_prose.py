"""Templates of prose: lines that are joined, values that are missing, names that no template gives a meaning."""

import jinja2
import pytest

from sqlanon.prose import _environment, write, write_parts

HOSTILE = "{{ 7 * 7 }}{% raw %}|<b>`x`</b>\n* \u001b[31m"


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write a template of a folder of its own."""

    def with_text(template, text, **values):
        (tmp_path / f"{template}.j2").write_text(text)
        environment = _environment(template.endswith(".html")).overlay()
        environment.loader = type(environment.loader)(tmp_path)
        monkeypatch.setattr("sqlanon.prose._environment", lambda html: environment)
        return write(template, values)

    return with_text  # fmt: skip


def test_lines_of_sentences_are_joined_by_a_space_and_by_nothing_at_a_tag(written):
    text = "{# a head #}\nfour\n    of {{ n }}\npeople\n{% if n > 1 %}\n, and more\n{% endif %}\n.\n"
    assert written("x.txt", text, n=7) == "four of 7 people, and more."


@pytest.mark.parametrize("name", ["x.txt", "x.md", "x.html"])
def test_a_missing_value_is_an_error(written, name):
    with pytest.raises(LookupError, match="'n' is undefined"):
        written(name, "of {{ n }}")


def test_a_name_is_no_template_and_no_markup(written):
    escaped = "{{ 7 * 7 }}{% raw %}|&lt;b&gt;`x`&lt;/b&gt;\n* \\x1b[31m"
    assert written("x.html", "<i>{{ name }}</i>", name=HOSTILE) == f"<i>{escaped}</i>"
    assert written("x.md", "{{ name | markdown }}", name=HOSTILE) == (
        "{{ 7 \\* 7 }}{% raw %}\\|\\<b\\>\\`x\\`\\</b\\> \\* \u001b\\[31m"
    )
    assert written("x.md", "{{ name | code }}", name=HOSTILE) == "``{{ 7 * 7 }}{% raw %}\\|<b>`x`</b> * \u001b[31m``"
    assert written("x.txt", "{{ name }}", name=HOSTILE) == HOSTILE  # escaped where it is printed


@pytest.mark.parametrize("name", ["safe", "escape", "tojson", "format"])
def test_no_filter_passes_a_value_on_as_markup(written, name):
    with pytest.raises(jinja2.TemplateAssertionError):
        written("x.html", f"{{{{ name | {name} }}}}", name=HOSTILE)


def test_parts_come_from_the_first_template_that_has_them():
    values = {"rows": 4000, "where": "ward", "groups": 2, "verified": {"smallest_group": 4, "largest_group": 5},
              "columns": {"sensitive": ["a"]}, "sets": False}  # fmt: skip
    names = ["say_published", "say_nothing_that_is_there"]
    own, shared = "forms/randomized/words.txt", "forms/words.txt"
    assert write_parts([own, shared], names, values) == {"say_published": "4,000 rows: ward"}
    assert write_parts([shared], names, values) == {"say_published": "4,000 rows in 2 groups of 4 to 5: ward"}
