# What `slipway run` leaves for a system of continuous integration: one document on stdout however it ends, a
# folder that explains a failure, an annotation of GitHub's.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
export HOME=$tap_dir
unset KUBECONFIG GITHUB_ACTIONS
cd "$tap_dir" || exit 1
chart() { # NAME ANNOTATION
    mkdir -p "$1/templates"
    printf 'apiVersion: v2\nname: %s\nversion: 0.1.0\nannotations: {slipway.dev/wait: all}\n' "$1" >"$1/Chart.yaml"
    cat >"$1/templates/1000-job.yaml" <<Y
apiVersion: batch/v1
kind: Job
metadata: {name: job}
spec:
  backoffLimit: 0
  template:
    metadata: {annotations: {$2}}
    spec: {restartPolicy: Never, containers: [{name: main, image: x, env: [{name: PASSWORD, value: hunter2}]}]}
Y
}
chart failing 'emulator.slipway.dev/exit-code: "3"'
chart endless 'emulator.slipway.dev/run: forever'
run() { "$slipway" run "$@" --emulate --delays 0 >said 2>errs; rc=$?; }
has() { grep -qE -- "$1" "${2:-said}" || { cat said errs; return 1; }; }

folder() {
    run failing --artifacts kept
    [ $rc = 1 ] && has 'container main: exit code 3' kept/explanation.txt && has 'BackoffLimitExceeded' kept/report.json &&
        has '<failure message="Job failing/job' kept/junit.xml && [ -s kept/logs/failing/job-*/main.log ] &&
        [ -s kept/objects/failing/Job-failing-job.yaml ] && [ -s kept/events/failing.txt ] && has 'everything could be read' kept/notes.txt
}
t "--artifacts leaves explanation, report, objects, Events and logs of a failure" folder
secret() { has redacted kept/objects/failing/Job-failing-job.yaml && ! grep -rq hunter2 kept; }
t "without what is secret" secret
unwritable() { : >file && run failing --artifacts file/below && has '--artifacts: file: Not a directory|--artifacts: .*file' errs && [ $rc = 1 ]; }
t "a folder that cannot be made is said, and the exit status stays" unwritable
xml() { run failing -o junit; [ $rc = 1 ] && has '^<\?xml' && has 'tests="1" failures="1"' && [ "$(tail -n 1 said)" = '</testsuites>' ]; }
t "-o junit is one document" xml
json() { run nowhere -o json; [ $rc = 2 ] && has '"message": "nowhere: No such file' && has '"exit": 2'; }
t "-o json is one document where the recipe cannot be read, too" json
junit() { run nowhere -o junit; [ $rc = 2 ] && has 'errors="1"' && has '<error message="nowhere: No such file'; }
t "and so is -o junit" junit
ctrf() { # which has a test that failed, and the time of now
    run nowhere -o ctrf; [ $rc = 2 ] && has '"failed": 1' && has '"message": "nowhere: No such file' && has "\"timestamp\": \"$(date -u +%Y-)"
}
t "and -o ctrf" ctrf
wrong_options() { # of the command line, in each format
    run failing --nope -o junit; [ $rc = 2 ] && has '<error message="unknown option .--nope' || return 1
    run failing --nope --output=ctrf; [ $rc = 2 ] && has '"message": "unknown option .--nope' || return 1
    "$slipway" status --nope -o yaml >said 2>errs; [ $? = 2 ] && has '^exit: 2$' && has "^message: .*unknown option '--nope'"
}
t "also where the command line is wrong" wrong_options
ended() {
    "$slipway" run endless --fail-fast=false --emulate --delays 0 -o json --artifacts ended >said 2>errs &
    pid=$!
    sleep 2 && kill "$pid"
    wait "$pid"
    [ $? = 143 ] && has '"exit": 143' && has '"name": "1000"' && has 'is running' ended/explanation.txt
}
t "SIGTERM ends it with the document and the folder" ended
annotation() { GITHUB_ACTIONS=true run failing; has '^::error title=slipway run failing::state .*BackoffLimitExceeded' errs; }
t "in a job of GitHub's the failure is an annotation" annotation
none() { run failing; ! grep -q '^::error' errs; }
t "and elsewhere it is not" none
plan
