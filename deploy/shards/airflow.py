"""Trains in shards by Apache Airflow (3.0 or later): a run of this DAG is one round and starts the next one; the last makes the model.

    airflow dags trigger mercer_shards --conf '{"data": "/data/clicks.csv", "model": "/data/clicks.mercer", "plan": "/data/plan", "flags": "--features 8192"}'

All workers must have mercer and see the paths, which may be in an object store. A task that fails is run again; a shard that runs twice counts once. A
run whose tasks have failed for good is cleared, or triggered again with the same words, and goes on from the last round.
"""
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import DAG, task

PARAMS = {"data": "/data/clicks.csv", "model": "/data/clicks.mercer", "plan": "/data/plan", "shards": 16, "flags": ""}
WORDS = {name.upper(): "{{ params.%s }}" % name for name in PARAMS}

with DAG("mercer_shards", schedule=None, catchup=False, params=PARAMS, default_args={"retries": 3}, doc_md=__doc__) as dag:
    # The last line of what a command prints goes to the tasks after it: the round that is next, nothing after the last one.
    plan = BashOperator(task_id="plan", env=WORDS, append_env=True,
                        bash_command='mercer shard plan "$DATA" -o "$PLAN" --shards "$SHARDS" $FLAGS && echo && mercer shard next "$PLAN" | tail -n 1')

    @task.branch
    def choose(which):
        return "shards" if which else "solve"

    @task
    def shards(which, params):
        return [{"PLAN": params["plan"], "ROUND": which, "SHARD": str(i)} for i in range(int(params["shards"]))]

    listed = shards(plan.output)
    run = BashOperator.partial(task_id="run", append_env=True,
                               bash_command='mercer shard run "$PLAN" --round "$ROUND" --shard "$SHARD" --threads 1').expand(env=listed)
    merge = BashOperator(task_id="merge", env={**WORDS, "ROUND": "{{ ti.xcom_pull(task_ids='plan') }}"}, append_env=True,
                         bash_command='mercer shard merge "$PLAN" --round "$ROUND"')
    again = TriggerDagRunOperator(task_id="again", trigger_dag_id="mercer_shards", conf={name: "{{ params.%s }}" % name for name in PARAMS})
    solve = BashOperator(task_id="solve", env=WORDS, append_env=True, bash_command='mercer shard solve "$PLAN" -o "$MODEL"')
    choose(plan.output) >> [listed, solve]
    run >> merge >> again
