"""Format tables for the terminal: numbers and short texts never wrap, on a narrow one each row becomes a block."""

from collections.abc import Callable, Iterable, Sequence
from html import escape

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sqlanon.plain_values import cell, plain, visible, words

WIDTH = 160  # letters of a line into a pipe, a file or a notebook's cell
_GAP = 2  # letters between columns
_SHORT = 14  # letters of a text that stays on one line
_LONGEST_WORD = 20  # a word of at most so many letters is never broken, even on a narrow terminal


def lay_out(
    heads: Sequence[str],
    rows: Sequence[Sequence[object]],
    width: int,
    header: bool = True,
    cut: bool = False,
    write: Callable[[object], str] = cell,
) -> str:
    """Return a table in lines of at most `width` letters, as far as its figures let it.

    cut: longer words than there is room for end in an ellipsis, where they would be continued below. write: what makes
    a text of a value. Where even that does not fit, each row is a block of lines.
    """
    texts = [[visible(write(value)) for value in row] for row in rows]
    names = [visible(str(head)) for head in heads]
    sizes = [_sizes(number, names[number] if header else "", texts, rows) for number in range(len(names))]
    if header and sum(least for least, _ in sizes) + _GAP * (len(names) - 1) > width:
        return _write_blocks(names, texts)
    table = Table(show_header=header, box=None, pad_edge=False, header_style="bold")
    for number, letters in enumerate(_widths(sizes, width)):
        numeric = bool(rows) and all(isinstance(row[number], int | float | None) for row in rows)
        justify, overflow = "right" if numeric else "left", "ellipsis" if cut and header else "fold"
        table.add_column(Text(names[number]), justify=justify, overflow=overflow, width=letters)  # type: ignore[arg-type]
    for line in texts:
        table.add_row(*map(Text, line))
    console = Console(highlight=False, markup=False, width=width + _GAP * (len(names) + 1))
    with console.capture() as printed:
        console.print(table)
    return "".join(f"{line.rstrip()}\n" for line in printed.get().splitlines())


def _sizes(number: int, head: str, texts: Sequence[Sequence[str]], rows: Sequence[Sequence[object]]) -> tuple[int, int]:
    """Return the least and the best width of a column."""
    words = [word for text in (head, *(line[number] for line in texts)) for word in text.split()]
    least = min(max(map(cell_len, words), default=1), _LONGEST_WORD)
    whole = [line[number] for line, row in zip(texts, rows, strict=True) if isinstance(row[number], int | float)]
    whole += [line[number] for line in texts if cell_len(line[number]) <= _SHORT]
    best = max((cell_len(part) for line in (head, *(l[number] for l in texts)) for part in line.split("\n")), default=1)
    return max(least, *map(cell_len, whole), 1) if whole else max(least, 1), max(best, 1)


def _widths(sizes: Sequence[tuple[int, int]], width: int) -> list[int]:
    """Return a width for each column: the widest ones are cut down to one level, none below its least."""
    room = width - _GAP * (len(sizes) - 1)
    for level in range(max((best for _, best in sizes), default=1), 0, -1):
        widths = [max(least, min(best, level)) for least, best in sizes]
        if sum(widths) <= room:
            return widths
    return [least for least, _ in sizes]


def _write_blocks(names: Sequence[str], texts: Sequence[Sequence[str]]) -> str:
    """Return each row as lines of name and value; what is blank has none."""
    longest = max(map(cell_len, names), default=0)
    blocks = (
        "".join(
            f"{name}{' ' * (longest - cell_len(name))}  {text}\n"
            for name, text in zip(names, line, strict=True)
            if text
        )
        for line in texts
    )
    return "\n".join(blocks) or "  ".join(names) + "\n"


# notebooks differ: some align every cell to the right, some leave no room between cells
_CELL = "padding:.25em .5em;vertical-align:top"
_TEXT = f"{_CELL};text-align:left"


def write_text(value: object) -> str:
    """Return a value as a terminal shows it, with nothing in it that a browser would act on."""
    return escape(visible(words(plain(value))))


def write_table(heads: Sequence[str], lines: Iterable[Sequence[object]], caption: str = "") -> str:
    """Return a table of figures and texts (values of a database as `cell` writes them); blank heads are left out."""
    title = f'<caption style="text-align:left">{write_text(caption)}</caption>' if caption else ""
    names = "".join(f'<th scope="col" style="{_TEXT}">{write_text(name)}</th>' for name in heads)
    head = f"<tr>{names}</tr>" if any(heads) else ""
    rows = ("".join(map(_write_cell, line)) for line in lines)
    return f"<table>{title}{head}{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def _write_cell(value: object) -> str:
    return f'<td style="{_TEXT if isinstance(value, str) else _CELL}">{write_text(value)}</td>'


def write_paragraphs(texts: Iterable[str]) -> str:
    """Return a paragraph for each text."""
    return "".join(f"<p>{write_text(text)}</p>" for text in texts)
