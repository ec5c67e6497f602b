# Steps of a run: what is run, how long it took, and at the end what failed. Sourced by run.

logs=$(mktemp -d)
names=() failed=
declare -A began

# step NAME COMMAND...: runs a command or a function, shows what it prints, and ends the run if it fails.
step() {
	printf '\n== %s (after %d s)\n' "$1" "$SECONDS"
	set +e # "or true" would take the -e from what is run
	timed "$@" 2>&1 | tee "$logs/$1"
	set -e
	account "$1" "${*:2}"
}

# start NAME COMMAND...: begins a command beside what follows. await NAME waits for its end and shows what it printed.
start() {
	began[$1]=${*:2}
	timed "$@" >"$logs/$1" 2>&1 &
}

await() {
	printf '\n== waiting for: %s (after %d s)\n' "$1" "$SECONDS"
	until [ -e "$logs/$1.done" ]; do sleep 0.2; done
	tail -n 20 "$logs/$1"
	account "$1" "${began[$1]}"
}

# timed NAME COMMAND...: runs a command, and notes its exit code, its seconds, and those of the processor.
timed() (
	local from=$SECONDS rc
	set +e
	(set -e; "${@:2}") </dev/null
	rc=$?
	times >"$logs/$1.times"
	awk -v rc=$rc -v s=$((SECONDS - from)) 'NR == 2 { split($1 "m" $2, t, /[ms]+/); print rc, s, int(t[1] * 60 + t[2] + t[3] * 60 + t[4]) }' \
		"$logs/$1.times" >"$logs/$1.end"
	mv "$logs/$1.end" "$logs/$1.done"
)

# account NAME COMMAND: ends the run if a command that has ended failed.
account() {
	local rc
	names+=("$1")
	read -r rc _ <"$logs/$1.done"
	[ "$rc" = 0 ] || { failed=$1 command_of_failed=$2; exit 1; }
}

# finish prints each step's seconds, and as the last thing what failed.
finish() {
	local rc=$? name seconds processor
	trap - EXIT
	# shellcheck disable=SC2046
	kill $(jobs -p) 2>/dev/null || true
	printf '\nseconds  of them by a processor\n'
	for name in "${names[@]}"; do
		read -r _ seconds processor <"$logs/$name.done"
		printf '%7d %7d  %s\n' "$seconds" "$processor" "$name"
	done
	printf '%7d          in all\n' "$SECONDS"
	if [ -n "$failed" ]; then
		printf '\nFAILED: %s\n  command: %s\n  the last lines of what it printed:\n' "$failed" "$command_of_failed"
		tail -n 40 "$logs/$failed"
	fi
	rm -rf "$logs"
	exit "$rc"
}
trap finish EXIT
