# Steps of a run: what is run, how long it took, and at the end what failed. Sourced by run.
#
#   step NAME COMMAND...    runs a command or a function, shows what it prints, and ends the run if it fails
#   start NAME COMMAND...   begins one beside the steps that follow
#   later NAME COMMAND...   puts one into a queue
#   start_queue N           works the queue off in its order, N at a time, beside the steps that follow
#   await NAME...           waits for what was started or queued, and shows the end of what it printed

logs=$(mktemp -d)
names=() queue=() groups=() failed=
declare -A began

step() {
	nothing_failed
	printf '\n== %s (after %d s)\n' "$1" "$SECONDS"
	set +e # "or true" would take the -e from what is run
	timed "$@" 2>&1 | tee "$logs/$1"
	set -e
	account "$1" "${*:2}"
}

start() {
	began[$1]=${*:2}
	beside timed "$@" >"$logs/$1" 2>&1
}

# beside COMMAND...: runs a command in the background, in a group of processes of its own, so that the end of the run ends all of them.
beside() {
	set -m
	"$@" &
	groups+=($!)
	set +m
}

later() {
	began[$1]=${*:2}
	queue+=("$(printf '%q ' "$@")")
}

start_queue() {
	local worker
	for worker in $(seq "$1"); do beside work_off; done
}

work_off() {
	local line
	for line in "${queue[@]}"; do
		eval "set -- $line"
		mkdir "$logs/$1.taken" 2>/dev/null || continue # another one has it
		timed "$@" >"$logs/$1" 2>&1
		grep -q '^0 ' "$logs/$1.done" || break
	done
}

await() {
	local name
	for name in "$@"; do
		printf '\n== waiting for: %s (after %d s)\n' "$name" "$SECONDS"
		until [ -e "$logs/$name.done" ]; do
			nothing_failed
			sleep 0.2
		done
		tail -n 20 "$logs/$name"
		account "$name" "${began[$name]}"
	done
}

# nothing_failed ends the run if one has failed that runs beside.
nothing_failed() {
	local name
	for name in "${!began[@]}"; do
		grep -qs '^[1-9]' "$logs/$name.done" && account "$name" "${began[$name]}"
	done
	true
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
	local rc=$? name group seconds processor
	trap - EXIT
	for group in "${groups[@]}"; do kill -- "-$group" 2>/dev/null || true; done
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
