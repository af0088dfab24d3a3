"""Hold how each dialect writes what templates do with lists; one that has no line here has no arrays of ours."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ArraySpelling:
    """How one dialect writes what is done with an array; `{0}` is the array, or what is gathered or compared.

    size: how many items, NULL among them; item: the one at place {1}, from 1, NULL beyond the last; largest, sorted,
    distinct: as they say, `distinct` without NULL; known: how many are not NULL; place: of {1}, from 1; head: the
    first {1} items; gathered: an aggregate, sorted, of what is never NULL; gathered_once: each once, NULL last;
    unnested: a row each. least: an aggregate, the first of rows of several columns, NULL last in each, where {1} is
    each column behind whether it is NULL. parts: of a text {0} between commas, without spaces {1} around them, NULL
    where nothing stands; matching: items that a regular expression {1} finds something in, whose end is written as
    `end`. marks: of attributes and their counts (see `_macros/alternatives`), given
    as lines {0} of attribute, count and place; empty where the dialect says it as DuckDB does. mark: the count of
    attribute {1}.
    """

    size: str
    item: str
    largest: str
    sorted: str
    distinct: str
    known: str
    place: str
    head: str
    gathered: str
    gathered_once: str
    unnested: str
    least: str
    mark: str
    parts: str
    matching: str
    end: str
    marks: str = ""
    line: str = ""


_SPARK = ArraySpelling(
    size="ARRAY_SIZE({0})",
    item="GET({0}, {1} - 1)",
    largest="ARRAY_MAX({0})",
    sorted="ARRAY_SORT({0})",
    distinct="ARRAY_DISTINCT(ARRAY_COMPACT({0}))",
    known="ARRAY_SIZE(ARRAY_COMPACT({0}))",
    place="ARRAY_POSITION({0}, {1})",
    head="SLICE({0}, 1, {1})",
    gathered="SORT_ARRAY(COLLECT_LIST({0}))",
    gathered_once="CONCAT(SORT_ARRAY(COLLECT_SET({0})),"
    " CASE WHEN COUNT(*) > COUNT({0}) THEN ARRAY(NULL) ELSE ARRAY() END)",
    unnested="EXPLODE({0})",
    least="MIN(STRUCT({1}))",
    mark="GET(FILTER({0}, held -> held.`attribute` = {1}), 0).`count`",
    parts="TRANSFORM(SPLIT({0}, ','), part -> NULLIF(TRIM({1} FROM part), ''))",
    matching="FILTER({0}, part -> part RLIKE {1})",
    end=r"\z",
)
# NULL has no items, and what gathers items of none would be an empty array
_ITEMS = "CASE WHEN {0} IS NOT NULL THEN ARRAY(SELECT "
_HELD = " FROM UNNEST({0}) AS held(item)"
# a mark of a release that somebody else made may say anything
_NAMED = "'$[*] ? (@.attribute == $name).count', JSONB_BUILD_OBJECT('name', {1})"
_MARK = f"(JSONB_PATH_QUERY_FIRST({{0}}, {_NAMED}) #>> '{{{{}}}}')"

SPELLINGS = {
    "spark": _SPARK,
    "databricks": _SPARK,
    "postgres": ArraySpelling(
        size="CARDINALITY({0})",
        item="({0})[{1}]",
        largest=f"(SELECT item{_HELD} ORDER BY item DESC NULLS LAST LIMIT 1)",
        sorted=f"{_ITEMS}item{_HELD} ORDER BY item) END",
        distinct=f"{_ITEMS}DISTINCT item{_HELD} WHERE item IS NOT NULL ORDER BY item) END",
        known=f"(SELECT COUNT(item){_HELD})",
        place="ARRAY_POSITION({0}, {1})",
        head="({0})[1:{1}]",
        gathered="ARRAY_AGG({0} ORDER BY {0})",
        gathered_once="ARRAY_AGG(DISTINCT {0} ORDER BY {0})",
        unnested="UNNEST({0})",
        least="(ARRAY_AGG(ROW({0}) ORDER BY ROW({0})))[1]",
        mark=f"CASE WHEN {_MARK} ~ '^[0-9]{{{{1,9}}}}$' THEN CAST({_MARK} AS INT) END",
        parts="ARRAY(SELECT NULLIF(TRIM({1} FROM part), '') FROM UNNEST(STRING_TO_ARRAY({0}, ',')) WITH ORDINALITY"
        " AS held(part, place) ORDER BY place)",
        matching="ARRAY(SELECT item FROM UNNEST({0}) AS held(item) WHERE item ~ {1})",
        end="$",
        # an array of pairs would need a type of its own, which a schema of a release has no place for
        marks="(SELECT COALESCE(JSONB_AGG(JSONB_BUILD_OBJECT('attribute', attribute, 'count', number) ORDER BY place),"
        " '[]') FROM (VALUES {0}) AS line(attribute, number, place) WHERE number <> 1)",
        line="({0}, {1}, {2})",
    ),
}
