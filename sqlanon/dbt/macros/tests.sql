{#- Fails for each group in which one value has more than 1/l of the rows: of the model of an ST. -#}
{% test confidence(model, l, group='group_id', count='count') %}
select {{ sqlanon.names([group]) }}
from {{ model }}
group by {{ sqlanon.names([group]) }}
having max({{ sqlanon.names([count]) }}) * {{ l | int }} > sum({{ sqlanon.names([count]) }})
{% endtest %}

{#- Fails for each group that is not as large in the QIT as in the ST: the two saw other states of the source. -#}
{% test fits(model, qit, group='group_id', count='count') %}
with qit as (select {{ sqlanon.names([group]) }} as group_id, count(*) as row_count from {{ qit }} group by all),
st as (select {{ sqlanon.names([group]) }} as group_id, sum({{ sqlanon.names([count]) }}) as row_count from {{ model }} group by all)
select group_id from qit full join st using (group_id) where qit.row_count is distinct from st.row_count
{% endtest %}
