#!/usr/bin/env bash
# Trains in shards with GNU parallel, on this machine, or on those of --sshlogin in PARALLEL:
#   SHARDS=16 JOBS=4 ./parallel.sh clicks.csv clicks.mercer --features 8192
set -euo pipefail
data=$1 model=$2
shift 2
shards=${SHARDS:-16} plan=${PLAN:-plan} mercer=${MERCER:-mercer}
"$mercer" shard plan "$data" -o "$plan" --shards "$shards" "$@"
while round=$("$mercer" shard next "$plan") && [ -n "$round" ]; do
	seq 0 $((shards - 1)) | parallel --jobs "${JOBS:-2}" --retries 3 --halt now,fail=1 "$mercer" shard run "$plan" --round "$round" --shard {} --threads "${THREADS:-1}"
	"$mercer" shard merge "$plan" --round "$round"
done
"$mercer" shard solve "$plan" -o "$model"
