# cluster_programs.sh: sourced by the tests that end programs of the real cluster and start them again.

# program_again NAME SECONDS [COMMAND...]: kills a program of hack/cluster.sh, and starts it SECONDS
# later as it was started then, by COMMAND where one is given. (An API server that is asked to end
# waits a minute for watches.)
program_again() {
    local name=$1 away=$2 pid args
    shift 2
    pid=$(cat "$SLIPWAY_CLUSTER_DIR/pid/$name")
    mapfile -d '' -t args <"/proc/$pid/cmdline"
    kill -KILL "$pid" && until_ok 30 eval "! kill -0 $pid 2>/dev/null" || return 1
    sleep "$away"
    setsid "$@" "${args[@]}" >>"$SLIPWAY_CLUSTER_DIR/log/$name.log" 2>&1 </dev/null &
    echo $! >"$SLIPWAY_CLUSTER_DIR/pid/$name"
}
