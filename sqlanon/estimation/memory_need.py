"""Check whether what an answer needs in memory, beside the engine, will fit; its shape tells before it is computed.

The engine keeps to its own limit and spills. Arrays grow with groups, values and questions, and do not spill.
"""

from sqlanon.engines.base import Engine
from sqlanon.errors import AnswerError
from sqlanon.wording import option

ALWAYS = 256_000_000  # bytes that any answer may hold beside the engine, however little its limit leaves
NUMBER = 8  # bytes
UNIFORM_FITS = f"{option('estimator', 'uniform')} solves nothing and takes less"


LINE, ANSWER, SET = 6, 15, 8  # numbers of a line that is read, of an answer, of a value in one of several sets


def require_memory(engine: Engine, fixed: float, cells: int = 1, each: float = 0.0, remedy: str = "") -> None:
    """Raise AnswerError where an answer would hold more numbers at once than the engine's memory limit leaves.

    fixed: numbers whatever is grouped by. cells: groups of the answer. each: numbers of one of them. remedy: what to do
    where no number of groups fits.
    """
    needed = NUMBER * (fixed + cells * each)
    if needed <= ALWAYS or (free := engine.free_memory()) is None:
        return
    free = max(free, ALWAYS)
    if needed <= free:
        return
    fitting = int((free / NUMBER - fixed) // each) if each else 0
    if cells > 1 and fitting > 0:
        remedy = f"{fitting:,} of its {cells:,} groups would fit: group by fewer columns, or narrow WHERE"
    raise AnswerError(
        f"the answer would hold about {_write(needed)} beside the engine, and {option('memory_limit')} leaves"
        f" {_write(free)}; {remedy or 'ask for less at once'}, or raise the limit by {_write(needed - free)}"
    )


def _write(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
