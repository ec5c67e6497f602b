# Steps of a run: what is run, how long it took, and at the end what failed. Sourced by run and explore.

logs=$(mktemp -d)
names=() seconds=() failed= command_of_failed= log_of_failed=
declare -A began waits

# step NAME COMMAND...: runs a command or a function, shows what it prints, and ends the run if it fails.
step() {
	local name=$1 from=$SECONDS log rc
	shift
	log=$logs/${#names[@]}
	printf '\n== %s (after %d s)\n' "$name" "$SECONDS"
	set +e
	(set -e; "$@") </dev/null 2>&1 | tee "$log"
	rc=${PIPESTATUS[0]}
	set -e
	names+=("$name") seconds+=($((SECONDS - from)))
	[ "$rc" = 0 ] || fail "$name" "$log" "$@"
}

# start NAME COMMAND...: begins a command that waits for the network, beside what follows. await NAME waits for its end.
start() {
	local name=$1
	shift
	(set -e; "$@") </dev/null >"$logs/$name" 2>&1 &
	waits[$name]=$! began[$name]="$*"
}

await() {
	local from=$SECONDS rc
	printf '\n== waiting for: %s (after %d s)\n' "$1" "$SECONDS"
	set +e
	wait "${waits[$1]}"
	rc=$?
	set -e
	tail -n 5 "$logs/$1"
	names+=("waiting for: $1") seconds+=($((SECONDS - from)))
	# shellcheck disable=SC2086
	[ "$rc" = 0 ] || fail "$1" "$logs/$1" ${began[$1]}
}

fail() {
	failed=$1 log_of_failed=$2
	shift 2
	command_of_failed=$*
	exit 1
}

# finish prints each step's seconds, and as the last thing what failed.
finish() {
	local rc=$? i
	trap - EXIT
	# shellcheck disable=SC2046
	kill $(jobs -p) 2>/dev/null || true
	printf '\n'
	for i in "${!names[@]}"; do printf '%5d s  %s\n' "${seconds[i]}" "${names[i]}"; done
	printf '%5d s  in all\n' "$SECONDS"
	if [ -n "$failed" ]; then
		printf '\nFAILED: %s\n  command: %s\n  the last lines of what it printed:\n' "$failed" "$command_of_failed"
		tail -n 40 "$log_of_failed"
	fi
	rm -rf "$logs"
	exit "$rc"
}
trap finish EXIT
