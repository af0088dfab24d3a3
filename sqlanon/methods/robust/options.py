"""What `robust` is asked for."""

import os
from collections.abc import Sequence
from typing import Annotated, Required

from sqlanon.methods.grouping import LEFT_OUT, Blocks, KnownSize
from sqlanon.methods.kinds import SHARE
from sqlanon.methods.name_kinds import COLUMN_SETS, FILES, TABLES
from sqlanon.methods.parameters import Parameter, Range
from sqlanon.methods.request_options import Names, RequestOptions, SeveralSensitive
from sqlanon.methods.robust.design import MOST_SUPPRESSED


class RobustOptions(RequestOptions, total=False):
    """What `robust` takes."""

    sensitive: Required[SeveralSensitive]
    r: Required[
        Annotated[
            float,
            Parameter(
                "No posterior above 1/r, for an adversary who knows the backgrounds; r > 1.",
                flag="-r",
                within=Range(
                    "r = {value:g} protects nobody: a posterior of at most 1/r is none; r is a number above 1",
                    {"exclusiveMinimum": 1},
                ),
            ),
        ]
    ]
    background: Annotated[
        object | Sequence[object],
        TABLES,
        Parameter(
            "What the adversary knows: a table (any SOURCE) with quasi columns, the sensitive column and probability;"
            " repeatable.",
            (),
        ),
    ]
    background_from: Annotated[
        Names | Sequence[Names],
        COLUMN_SETS,
        Parameter("Quasi columns whose distribution is learned from the data; repeatable.", ()),
    ]
    save_background: Annotated[
        str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        FILES,
        Parameter(
            "File (.parquet, .csv) for a learned distribution, one each; it tells of small groups: keep it secret.",
            (),
            compiled=False,
            job=False,
        ),
    ]
    max_suppressed: Annotated[
        float,
        SHARE,
        Parameter("Share of the rows that may be left out, e.g. 0.01 or 1%.", MOST_SUPPRESSED, within=LEFT_OUT),
    ]
    known_size: KnownSize
    block: Blocks
