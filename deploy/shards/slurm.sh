#!/usr/bin/env bash
# Trains in shards as job arrays of Slurm, one after another, and returns when the model is there:
#   SHARDS=16 ./slurm.sh clicks.csv clicks.mercer --features 8192
# All nodes have to see the data and the folder PLAN (default: plan, here). SBATCH_PARTITION, SBATCH_ACCOUNT and the like say where.
set -euo pipefail
data=$1 model=$2
shift 2
shards=${SHARDS:-16} plan=${PLAN:-plan} mercer=${MERCER:-mercer}
"$mercer" shard plan "$data" -o "$plan" --shards "$shards" "$@"

# job NAME OPTION… -- COMMAND… runs a job and waits for its end.
job() {
	local name=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	sbatch --wait --job-name="mercer-$name" --requeue --output="$plan/$name-%j.log" "${options[@]}" --wrap="$(printf '%q ' "$@")"
}

while round=$("$mercer" shard next "$plan") && [ -n "$round" ]; do
	job "$round" --array="0-$((shards - 1))" --cpus-per-task="${CPUS:-4}" --mem="${MEM:-4G}" -- "$mercer" shard run "$plan" --round "$round"
	job "merge-$round" --cpus-per-task="${CPUS:-4}" --mem="${MERGE_MEM:-8G}" -- "$mercer" shard merge "$plan" --round "$round"
done
job solve --cpus-per-task="${CPUS:-4}" --mem="${MERGE_MEM:-8G}" -- "$mercer" shard solve "$plan" -o "$model"
