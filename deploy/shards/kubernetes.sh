#!/usr/bin/env bash
# Trains in shards as Indexed Jobs of Kubernetes:
#   IMAGE=registry/mercer:1 SHARDS=16 ./kubernetes.sh /data/clicks.csv /data/clicks.mercer --features 8192
# Needs kubectl, envsubst, and a volume claim mercer-data that several pods may mount (ReadWriteMany).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
data=$1 model=$2
shift 2
export IMAGE SHARDS=${SHARDS:-16}

# run FILE NAME applies a job and waits for its end, good or bad.
run() {
	kubectl delete job "$2" --ignore-not-found --wait >/dev/null
	envsubst '$IMAGE $SHARDS $ROUND $STEP $ARGS' <"$here/$1" | kubectl apply -f -
	until kubectl wait --for=condition=complete --timeout=10s "job/$2" >/dev/null 2>&1; do
		if kubectl wait --for=condition=failed --timeout=1s "job/$2" >/dev/null 2>&1; then
			kubectl logs "job/$2" --tail=5 >&2
			exit 1
		fi
	done
}

# step NAME ARG… runs one process.
step() {
	STEP=$1
	shift
	ARGS='['
	for a in "$@"; do
		a=${a//\\/\\\\}
		ARGS+="\"${a//\"/\\\"}\", "
	done
	ARGS="${ARGS%, }]"
	export STEP ARGS
	run kubernetes-step.yaml "mercer-$STEP"
}

step plan plan "$data" -o /data/plan --shards "$SHARDS" "$@"
ROUND=look # of which there is nothing to do if the data are no table
while [ -n "$ROUND" ]; do
	export ROUND
	run kubernetes.yaml "mercer-$ROUND"
	step "merge-$ROUND" merge /data/plan --round "$ROUND" --json
	ROUND=$(kubectl logs "job/mercer-merge-$ROUND" --tail=1 | sed 's/.*"next":"\([^"]*\)".*/\1/')
done
step solve solve /data/plan -o "$model"
