"""Say what may stand in templates where a dialect has arrays: DuckDB's functions of lists, and their types."""

from sqlglot import exp

from sqlanon.sql.arrays.spellings import SPELLINGS

__all__ = ["FUNCTIONS", "NODES", "SPELLINGS", "TYPES"]

# Every node that may stand where a dialect has arrays, with the arguments it may have.
NODES: dict[type[exp.Expr], set[str]] = {
    exp.Array: {"expressions"},
    exp.ArraySize: {"this"},
    exp.ArrayMax: {"this"},
    exp.ArraySort: {"this", "nulls_first"},
    exp.ArrayDistinct: {"this", "check_null"},
    exp.ArrayAgg: {"this"},
    exp.ArrayFilter: {"this", "expression"},
    exp.Bracket: {"this", "expressions"},
    exp.Transform: {"this", "expression"},
    exp.RegexpLike: {"this", "expression"},
    exp.Trim: {"this", "expression"},
    exp.Right: {"this", "expression"},
    exp.Lambda: {"this", "expressions"},
    exp.Dot: {"this", "expression"},
    exp.Struct: {"expressions"},
    exp.PropertyEQ: {"this", "expression"},
    exp.ColumnDef: {"this", "kind"},
    exp.DataType: {"this", "expressions", "nested"},
}
TYPES = {exp.DType.ARRAY, exp.DType.STRUCT, exp.DType.DATE}
FUNCTIONS = {"list_count", "list_position", "list_slice", "create_sort_key"}
