#!/usr/bin/env bash
# Trains in shards as job arrays of Slurm, and returns when all jobs are queued:
#   SHARDS=16 ./slurm.sh clicks.csv clicks.mercer --features 8192
# All nodes have to see the data and the folder PLAN (default: plan, here). SBATCH_PARTITION, SBATCH_ACCOUNT and the like say where.
set -euo pipefail
data=$1 model=$2
shift 2
shards=${SHARDS:-16} plan=${PLAN:-plan} mercer=${MERCER:-mercer}
"$mercer" shard plan "$data" -o "$plan" --shards "$shards" "$@"

# queue NAME OPTION… -- COMMAND… queues a job behind the last one.
last=
queue() {
	local name=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	last=$(sbatch --parsable --job-name="mercer-$name" ${last:+--dependency=afterok:$last} --kill-on-invalid-dep=yes --requeue \
		--output="$plan/$name-%j.log" "${options[@]}" --wrap="$(printf '%q ' "$@")")
}

for round in look survey statistics; do
	queue "$round" --array="0-$((shards - 1))" --cpus-per-task="${CPUS:-4}" --mem="${MEM:-4G}" -- "$mercer" shard run "$plan" --round "$round"
	queue "merge-$round" --cpus-per-task="${CPUS:-4}" --mem="${MERGE_MEM:-8G}" -- "$mercer" shard merge "$plan" --round "$round"
done
queue solve --cpus-per-task="${CPUS:-4}" --mem="${MERGE_MEM:-8G}" -- "$mercer" shard solve "$plan" -o "$model"
echo "queued; job $last makes $model"
