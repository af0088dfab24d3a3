"""Plans: what is to run, as pure data; nothing here meets a database.

The words of the project, which mean the same in every module, template and message:

    source             the table, view, files or query whose rows are published
    quasi              a column that others may know of a person (quasi-identifier), published exactly or coarser
    sensitive          a column whose value nobody shall infer for a person
    identifier         a column that tells persons apart, never published
    key                64 hex digits from which every keyed draw follows; whoever has it can undo a release
    draw               a pseudo-random whole number of a row, which orders rows and picks groups
    payload            columns that go with a row from step to step, and that no step on the way reads
    population         the rows of the source that take part
    code               a sensitive value as a whole number: its place by falling frequency
    position           a row's place when rows are sorted by code and draw
    bucket             position mod the number of groups
    block              a set of groups that is filled by itself, so that no sort is larger
    group              rows that are published together; its number is group_id
    class              rows that look alike to an adversary with background knowledge
    background         a distribution of sensitive values by quasi values that an adversary knows
    decoy              a row whose value may be published in place of another's
    box                what rows share in a generalized release: a range or set for each quasi column
    QIT, ST            the tables of quasi values with groups, and of groups with sensitive values
    form               what kind of tables a release has, and everything that follows from it
    step, statement    one template with its values; the SELECT that it becomes
    kind               how the result of a statement is kept: as a table, as a view, or not at all (a query)
    check, report      a step whose row may refuse; one whose row is figures for the manifest
    manifest           release.json: what was published, promised and verified
    guarantee          what a release promises, as a number that `verify` proves from its tables
    confidence         how sure an adversary is of somebody's value, from a release alone
    posterior          the same for an adversary with background knowledge
    ledger             what keeps releases of the same people in step: persons as hashes, their groups
    cell               one group of a query's GROUP BY; without one there is a single cell
    dialect            a language of SQL; an engine is what runs it here
    trait              what an engine does cheaply, which decides between templates with one meaning
"""
