"""Take a Parquet file apart, change it as a forger does, and put it together so that every reader takes it.

Packed and unpacked by pyarrow, not by what is tested.
"""

import struct
from itertools import pairwise

import pyarrow as pa

from sqlanon.releases.parquet.layouts import FILE, MAGIC, PAGE, read_footer
from sqlanon.releases.parquet.thrift import read_struct, write_struct

ZSTD = pa.Codec("zstd")


class Page:
    """A page: its header, and its bytes unpacked; `packed` stands in for them where it is set."""

    def __init__(self, header, raw):
        self.header, self.raw, self.packed = header, raw, None
        self.head = None  # the header's bytes, where they are to be others than its fields give


class Forgery:
    """A file's footer, and the pages of its columns by group and column."""

    def __init__(self, path):
        self.path = path
        self.footer, end = read_footer(path)
        data = path.read_bytes()
        self.behind = b""  # between the pages and the footer
        self.chunks, self.pages = [], []
        starts = []
        for group in self.footer[4]:
            for chunk in group[1]:
                column, listed = chunk[3], []
                at = min(column[number] for number in (9, 11) if number in column)
                starts.append(at)
                stop = at + column[7]
                while at < stop:
                    header, size = read_struct(data[at : at + 500], PAGE)
                    packed = data[at + size : at + size + header[3]]
                    listed.append(Page(header, ZSTD.decompress(packed, header[2]).to_pybytes()))
                    at += size + header[3]
                self.chunks.append(chunk)
                self.pages.append(listed)
        # filters and indexes behind the last page move with it
        self.end = at if self.chunks else 4
        self.behind = data[self.end : end]
        assert all(a < b for a, b in pairwise(starts))

    def column(self, name, group=0):
        """Return the chunk's metadata of a column, and its pages."""
        chunks = [c for c in self.footer[4][group][1] if c[3][3][0] == name.encode()]
        return chunks[0][3], self.pages[[id(c) for c in self.chunks].index(id(chunks[0]))]

    def write(self):
        """Put the file together: places, sizes and sums are those of what stands there."""
        data = bytearray(MAGIC)
        for chunk, pages in zip(self.chunks, self.pages, strict=True):
            column = chunk[3]
            whole = 0
            start = len(data)
            for page in pages:
                packed = page.packed if page.packed is not None else ZSTD.compress(page.raw).to_pybytes()
                page.header |= {2: len(page.raw), 3: len(packed)}
                head = page.head or write_struct(page.header, PAGE)
                if 7 in page.header:
                    column[11] = len(data)
                elif page is next(each for each in pages if 5 in each.header):
                    column[9] = len(data)
                data += head + packed
                whole += len(head) + len(page.raw)
            column |= {6: whole, 7: len(data) - start}
        for chunk in self.chunks:
            for fields, number in ((chunk, 4), (chunk, 6), (chunk[3], 14)):
                if number in fields:
                    fields[number] += len(data) - self.end
        self.end = len(data)
        for group in self.footer[4]:
            columns = [chunk[3] for chunk in group[1]]
            if not columns:
                continue
            group |= {2: sum(c[6] for c in columns), 6: sum(c[7] for c in columns)}
            group |= {5: min(columns[0][n] for n in (9, 11) if n in columns[0])}
        footer = write_struct(self.footer, FILE)
        self.path.write_bytes(bytes(data) + self.behind + footer + struct.pack("<I", len(footer)) + MAGIC)
