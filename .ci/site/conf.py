"""What Sphinx is told; `build.py` beside this file puts the pages into its source folder."""

from typing import Any

from sqlanon.version import VERSION

project = "sqlanon"
version = release = VERSION
copyright = "the authors of sqlanon, Apache-2.0"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

# the pages are Markdown; headings can be linked to, and a link that leads nowhere fails the build
myst_heading_anchors = 4
nitpicky = True
nitpick_ignore_regex = [(r"py:.*", r".*")]  # types in signatures need no page of their own

# a template in SQL, a crontab: text that Pygments has no words for is shown as it is
suppress_warnings = ["misc.highlighting_failure"]

# notebooks show the outputs that were kept: a test runs them, the site does not
nb_execution_mode = "off"

# docstrings are prose with `code` in it, and the shell's words stay as they are typed
default_role = "code"
smartquotes = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_custom_sections = [("Parameters", "params_style")]
add_module_names = False
maximum_signature_line_length = 100

html_theme = "furo"
html_title = f"sqlanon {VERSION}"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}


def escape_asterisks(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Let an asterisk in a docstring be one, where it stands outside of code."""
    for number, line in enumerate(lines):
        parts = line.split("`")
        lines[number] = "`".join(
            [part.replace("*", r"\*") if place % 2 == 0 else part for place, part in enumerate(parts)]
        )


def setup(app: Any) -> None:
    """Register what Sphinx calls for every docstring."""
    app.connect("autodoc-process-docstring", escape_asterisks, priority=100)  # before napoleon writes its own
