{#- Published tables as models: each macro is the SELECT of one, and calls the macros that `sqlanon macros` stored. -#}

{#- Return the hook that reads the key of the session's draws from a file: logs and compiled files name the file alone. -#}
{% macro read_key(file=none) -%}
set variable sqlanon_key = (select regexp_extract(content, '[0-9a-fA-F]{64}') from read_text({{ sqlanon.text(file or var('sqlanon_key_file', 'sqlanon.key')) }}))
{%- endmacro %}

{#- QIT of Anatomy: the quasi columns as they are, and the group. -#}
{% macro anatomy_qit(people, quasi, sensitive, l, id=[], nulls='refuse', unique_sensitive='refuse') -%}
{{ sqlanon.require_table() -}}
select * from anatomy_qit({{ sqlanon.text(people.render()) }}, {{ sqlanon.texts(quasi) }}, {{ sqlanon.text(sensitive) }}, {{ l | int }}, id := {{ sqlanon.texts(id) }}, nulls := {{ sqlanon.text(nulls) }}, unique_sensitive := {{ sqlanon.text(unique_sensitive) }})
{%- endmacro %}

{#- ST of Anatomy: each group's sensitive values and how often each occurs. -#}
{% macro anatomy_st(people, sensitive, l, id=[], nulls='refuse', unique_sensitive='refuse') -%}
{{ sqlanon.require_table() -}}
select * from anatomy_st({{ sqlanon.text(people.render()) }}, {{ sqlanon.text(sensitive) }}, {{ l | int }}, id := {{ sqlanon.texts(id) }}, nulls := {{ sqlanon.text(nulls) }}, unique_sensitive := {{ sqlanon.text(unique_sensitive) }})
{%- endmacro %}

{#- QIT of groups whose rows agree in the background columns: nobody's value is likelier than 1/r to who knows these. -#}
{% macro robust_qit(people, quasi, sensitive, background, r, id=[], nulls='refuse', unique_sensitive='refuse') -%}
{{ sqlanon.require_table() -}}
select * from robust_qit({{ sqlanon.text(people.render()) }}, {{ sqlanon.texts(quasi) }}, {{ sqlanon.text(sensitive) }}, {{ sqlanon.texts(background) }}, {{ r | float }}, id := {{ sqlanon.texts(id) }}, nulls := {{ sqlanon.text(nulls) }}, unique_sensitive := {{ sqlanon.text(unique_sensitive) }})
{%- endmacro %}

{#- ST of the same groups. -#}
{% macro robust_st(people, sensitive, background, r, id=[], nulls='refuse', unique_sensitive='refuse') -%}
{{ sqlanon.require_table() -}}
select * from robust_st({{ sqlanon.text(people.render()) }}, {{ sqlanon.text(sensitive) }}, {{ sqlanon.texts(background) }}, {{ r | float }}, id := {{ sqlanon.texts(id) }}, nulls := {{ sqlanon.text(nulls) }}, unique_sensitive := {{ sqlanon.text(unique_sensitive) }})
{%- endmacro %}

{#- Randomized values: the quasi columns as they are, the sensitive value drawn, in the order of what is published. -#}
{% macro splu_data(people, quasi, sensitive, gamma, id=[], nulls='refuse', unique_sensitive='refuse') -%}
{{ sqlanon.require_table() -}}
select {{ sqlanon.names(quasi + [sensitive]) }}
from splu_release({{ sqlanon.text(people.render()) }}, {{ sqlanon.text(sensitive) }}, {{ gamma | int }}, id := {{ sqlanon.texts(id) }}, nulls := {{ sqlanon.text(nulls) }}, unique_sensitive := {{ sqlanon.text(unique_sensitive) }})
order by {{ sqlanon.names(quasi + [sensitive]) }}
{%- endmacro %}

{#- A view would draw anew, or fail, whenever somebody reads it: two draws of one person tell more than one. -#}
{% macro require_table() -%}
{%- if execute and model.resource_type == 'model' and model.config.materialized != 'table' -%}
{{ exceptions.raise_compiler_error("a release is a table, not a " ~ model.config.materialized ~ ": write config(materialized='table', pre_hook=sqlanon.read_key())") }}
{%- endif -%}
{%- endmacro %}

{#- A text as SQL writes it; a list of texts; names of columns. -#}
{% macro text(value) -%}'{{ (value | string).replace("'", "''") }}'{%- endmacro %}

{% macro texts(values) -%}
[{%- for value in ([values] if values is string else values) -%}{{ sqlanon.text(value) }}{{ ", " if not loop.last }}{%- endfor -%}]
{%- endmacro %}

{% macro names(values) -%}
{%- for value in values -%}"{{ value.replace('"', '""') }}"{{ ", " if not loop.last }}{%- endfor -%}
{%- endmacro %}
