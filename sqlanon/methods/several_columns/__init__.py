"""Groups for several sensitive columns: rows of one group differ in every one of them.

Rows are seated as Anatomy does it, by the column of the most frequent value. Rows that then share a value of another
column with a row of their group clash: they change seats with other rows, for a fixed number of turns, and rows that
still clash are left out. All of this reads seats, which were drawn at random, and sensitive values, never a quasi
value: inside a group every assignment of the values to its rows stays equally likely. The templates are
`sql_templates/methods/several_columns/`.
"""
