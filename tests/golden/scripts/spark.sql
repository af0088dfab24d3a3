-- sqlanon anatomy for spark: l = 4, block = 64, draws = keyed, nulls = refuse, rows_per_person = one
-- Xiao and Tao, Anatomy: Simple and Effective Privacy Preservation, VLDB 2006
-- It makes `sqlanon_qit`, `sqlanon_st`, and nothing else that it makes may be handed on.
-- It needs a key of 64 hex digits, and who has the key can undo the release.
-- Make one with: openssl rand -hex 32
-- Hand it over before the script runs: set sqlanon.key=…
-- The engine puts the key into the text of the queries that it logs.
-- publish runs these statements on spark, but:
-- * under a key of its own it draws by the numbers of rows, which a script does not have
-- * quasi columns that all hold whole numbers are packed into one number, by their least and greatest values

-- key: what the session was given
create temporary view `sqlanon_key` as
select lower('${sqlanon.key}') as `secret`;

select case when refusal is not null then raise_error(refusal) end as checked
from (
    select
      case
        when count(*) <> 1 or coalesce(max(length(`secret`)), 0) <> 64
        then 'the key is missing: hand over 64 hex digits'
      end as `refusal`
    from `sqlanon_key`
) as checked;

-- source: its rows under names of our own, so that no column of the user's meets one of ours

-- population: the rows that are published

-- persons: nobody has several rows, for the guarantee is per row

-- tally: how often each sensitive value occurs with each signature, NULL included

-- known: every row has a sensitive value, or it is said what becomes of those without

-- feasible: nobody can hide a value that more than one in 4 rows have

-- uniqueness: no quasi column has a value of its own in most rows

-- own_values_1: most rows share their sensitive value with others

-- key: rows are hashed under the key, each as it is told apart with its sensitive values, and the hashes summed up: in one scan, in any order

-- class: everybody is of one class

-- ranked: the values of each class by falling count, equal counts in keyed order, tail: the rows of the values from its place on

-- capacity: the largest number of groups of N = 4 different values that a class can give: m = min over j < N of floor(tail_j / (N - j)), 0 where it has fewer values

-- population: every row with the text that identifies it: its identifier columns, which are unique

-- population: every row with its draws: from the key and what tells the row apart, alike on every engine

-- frequency: step 1: of each value at most m rows are kept, m the groups of its class, in positions of the class's own, groups in B = max(1, floor(m / 64)) blocks, which are numbered over all classes

-- coded: the rows with the code of their class and value: a whole number is sorted at a fraction of what a text costs

-- sharded: step 2: the rows of each shard of the draws by value and random order, numbered from anywhere on

-- run: where the rows of each value and shard begin, behind those of all before them

-- positioned: the position of every row in this order, from 0 on

-- block: step 4: in each block the values stand in a keyed order of their own, a value's rows hold neighbouring seats, so that moving the run to where those before it end numbers the whole block

-- numbered: steps 3 and 4: the rows of a value take the buckets from its first position on, bucket mod B is the block, bucket div B the seat in it, who is beyond what is kept has no block

-- grouped: step 5: every row with its group, its number in the block mod the groups of the block, made global

-- qit: the quasi-identifier table: everybody's exact quasi values and the group

-- st: the sensitive table: each group's values, each of which stands in a group once

-- the rest is microdata and the key: forget it
drop table `sqlanon_grouped`;
drop view `sqlanon_numbered`;
drop table `sqlanon_block`;
drop view `sqlanon_positioned`;
drop table `sqlanon_run`;
drop table `sqlanon_sharded`;
drop view `sqlanon_coded`;
drop table `sqlanon_frequency`;
drop view `sqlanon_population_3`;
drop view `sqlanon_population_2`;
drop table `sqlanon_capacity`;
drop table `sqlanon_ranked`;
drop table `sqlanon_class`;
drop table `sqlanon_key_2`;
drop table `sqlanon_tally`;
drop view `sqlanon_population`;
drop view `sqlanon_source`;
drop view `sqlanon_key`;
