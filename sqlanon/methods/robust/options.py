"""What `robust` is asked for."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from sqlanon.methods.grouping import LEFT_OUT, Blocks, KnownSize
from sqlanon.methods.robust.design import MOST_SUPPRESSED
from sqlanon.models.fields import Option
from sqlanon.models.publication import BACKGROUND, Publication
from sqlanon.models.values import COLUMN_SETS, FILES, SHARE, TABLES, FilePath, Names


class RobustOptions(Publication):
    """What `robust` takes."""

    r: Annotated[
        float,
        Option(
            flag="-r",
            words="r = {value:g} protects nobody: a posterior of at most 1/r is none; r is a number above 1",
        ),
    ] = Field(description="No posterior above 1/r, for an adversary who knows the backgrounds; r > 1.", gt=1)
    background: Annotated[object | Sequence[object], TABLES] = Field(
        (),
        description=BACKGROUND,
    )
    background_from: Annotated[Names | Sequence[Names], COLUMN_SETS] = Field(
        (), description="Quasi columns whose distribution is learned from the data; repeatable."
    )
    save_background: Annotated[FilePath | Sequence[FilePath], FILES, Option(compiled=False, job=False)] = Field(
        (),
        description="File (.parquet, .csv) for a learned distribution, one each; it tells of small groups: keep it"
        " secret.",
    )
    max_suppressed: Annotated[float, SHARE, Option(words=LEFT_OUT)] = Field(
        MOST_SUPPRESSED, description="Share of the rows that may be left out, e.g. 0.01 or 1%.", ge=0, lt=1
    )
    known_size: KnownSize
    block: Blocks
