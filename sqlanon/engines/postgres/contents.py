"""What a schema of PostgreSQL's holds: tables, and whatever else can carry a text or run."""

# a release's tables are made of a SELECT and have nothing of this; what comments say is looked at apart
# parameter: the schema
FIND_CONTENTS = """
with home as (select oid, nspname from pg_namespace where nspname = %(schema)s),
held as (select c.* from pg_class as c join home on c.relnamespace = home.oid)
select case relkind when 'r' then 'table' when 'v' then 'view' when 'm' then 'view' when 'S' then 'sequence'
    when 'i' then 'index' when 'c' then 'type' else 'relation ' || relkind::text end, relname::text from held
union
select 'function', proname::text from pg_proc join home on pronamespace = home.oid
union
select 'type', typname::text from pg_type join home on typnamespace = home.oid where typrelid = 0 and typelem = 0
union
select 'constraint of', held.relname::text from pg_constraint join held on conrelid = held.oid
union
select 'trigger of', held.relname::text from pg_trigger join held on tgrelid = held.oid
union
select 'policy of', held.relname::text from pg_policy join held on polrelid = held.oid
union
select 'rule of', held.relname::text from pg_rewrite join held on ev_class = held.oid where held.relkind = 'r'
union
select 'default of', held.relname::text from pg_attrdef join held on adrelid = held.oid
union
select 'comment on schema', nspname::text from pg_description join home on objoid = home.oid
    where classoid = 'pg_namespace'::regclass
"""

FIND_COMMENTS = """
select held.relname::text, coalesce(attname::text, ''), description
from pg_description
join pg_class as held on objoid = held.oid
join pg_namespace as home on held.relnamespace = home.oid and nspname = %(schema)s
left join pg_attribute on attrelid = held.oid and attnum = objsubid and objsubid > 0
where classoid = 'pg_class'::regclass
"""
