"""Groups for several sensitive columns: rows of one group differ in every one of them.

Rows are seated by one column as Anatomy does it, the one with the most frequent value. Rows that then clash, for they
share a value of another column with a row of their group, stand up and take seats of others, in a declared number of
turns, and who still clashes is left out. All of this reads seats, which draws have given, and sensitive values, never a
quasi value: inside a group every assignment of the rows' values to its rows is as likely as any other. The templates
are `sql_templates/methods/several_columns/`.
"""
