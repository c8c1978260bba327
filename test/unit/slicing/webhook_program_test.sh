# slipway-webhook on the command line: flags, the state's own arguments, signals.
. test/tap.sh
program=$(dirname "${SLIPWAY:-build/test/slipway}")/slipway-webhook
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost -keyout "$tap_dir/tls.key" -out "$tap_dir/tls.crt" 2>/dev/null

fails() { # WORDS ARGS...: exit 2, one line that says WORDS
    local words=$1 rc=0
    shift
    "$program" "$@" >"$tap_dir/got" 2>"$tap_dir/err" || rc=$?
    cat "$tap_dir/err"
    [ $rc -eq 2 ] && [ ! -s "$tap_dir/got" ] && [ "$(wc -l <"$tap_dir/err")" -eq 1 ] &&
        grep -qF -- "$words" "$tap_dir/err"
}

start() { # ARGS...: runs until stopped; sets $pid and $port
    rm -f "$tap_dir/log"
    "$program" --listen=127.0.0.1 --port=0 --tlscert="$tap_dir/tls.crt" --tlskey="$tap_dir/tls.key" \
        "$@" 2>"$tap_dir/log" &
    pid=$!
    until_ok 10 grep -qs listening "$tap_dir/log" || return 1
    port=$(sed -n 's/.* port=\([0-9]*\).*/\1/p' "$tap_dir/log")
}

get() { curl -sS --max-time 10 --cacert "$tap_dir/tls.crt" "https://localhost:$port$1"; }

lives_and_dies() {
    start serve --tls=true --drain=0 || return 1
    [ "$(get /healthz)" = ok ] && [ "$(get /readyz)" = ok ] || return 1
    kill -TERM $pid
    wait $pid
}

ipv6() { # clusters may have nothing else
    start --drain=0 --listen=0.0.0.0 || return 1
    local both=0
    [ "$(curl -sSk --max-time 10 "https://[::1]:$port/readyz")" = ok ] && [ "$(curl -sSk --max-time 10 "https://127.0.0.1:$port/readyz")" = ok ] && both=1
    kill -TERM $pid
    wait $pid
    [ $both -eq 1 ]
}

mutates() { # as the state starts it, but for paths and port
    start --drain=0 --scheduler-name=my-scheduler --runtime-class= --user-fields=keep \
        --visible-devices=strip --tls-min-version=VersionTLS13 \
        --tls-cipher-suites=TLS_AES_128_GCM_SHA256 || return 1
    curl -sS --max-time 10 --cacert "$tap_dir/tls.crt" -H 'Content-Type: application/json' \
        --data-binary @test/bench/admission.json "https://localhost:$port/mutate-pod?timeout=10s" >"$tap_dir/answer"
    kill -TERM $pid
    wait $pid || return 1
    sed 's/.*"patch":"\([^"]*\)".*/\1/' "$tap_dir/answer" | base64 -d >"$tap_dir/patch"
    cat "$tap_dir/patch" "$tap_dir/log"
    grep -q my-scheduler "$tap_dir/patch" && ! grep -q runtimeClassName "$tap_dir/patch" &&
        grep -q 'pod mutated.*pod=ml-serving/inference-7d9c5b8f4-\*' "$tap_dir/log"
}

says_why() { # WORDS ARGS...: waits for a certificate that can be used, and says what is wrong with this one
    local words=$1
    shift
    start --drain=0 "$@" || return 1
    kill -TERM $pid
    wait $pid
    cat "$tap_dir/log"
    grep 'certificate not usable' "$tap_dir/log" | grep -qF -- "$words"
}

# every argument of the state's Deployment is a flag of the program
knows_the_states_flags() {
    "$program" --help >"$tap_dir/help" || return 1
    local flag
    for flag in $(sed -n 's/^ *- --\([a-zA-Z-]*\)=.*/\1/p' states/webhook/templates/server.yaml); do
        grep -q "^ *--$flag " "$tap_dir/help" || { echo "no --$flag"; return 1; }
    done
}

t 'serves until SIGTERM' lives_and_dies
if grep -qs ' lo$' /proc/net/if_inet6; then t 'serves IPv6 and IPv4' ipv6; fi
t "mutates by the flags' policy" mutates
t "knows the flags that the state passes" knows_the_states_flags
t 'a command that is none' fails "'watch' is no command" watch
t 'an unknown flag' fails "'--nope'" --nope=1
t 'a flag without its value' fails "option '--tlscert' needs a value" --tlscert
t 'no number' fails "'x' is not a number" --port=x
t 'no policy' fails "'maybe'" --user-fields=maybe
t 'no certificate given' fails 'certificate and a key file' --port=0
t 'an unknown TLS version' fails "'TLS1.2'" --port=0 --tlscert=a --tlskey=b --tls-min-version=TLS1.2
: >"$tap_dir/empty"
head -n 3 "$tap_dir/tls.crt" >"$tap_dir/half"
t 'no certificate there' says_why 'nowhere/tls.crt'"': No such file" --tlscert=nowhere/tls.crt
t 'an empty certificate' says_why 'empty'"': there is no PEM block" --tlscert="$tap_dir/empty"
t 'half a certificate' says_why 'half'"': its PEM block is" --tlscert="$tap_dir/half"
t 'an empty key' says_why 'empty'"': there is no key in it" --tlskey="$tap_dir/empty"
t 'checks and exits' "$program" --testHooks --listen=127.0.0.1 --port=0 --tlscert="$tap_dir/tls.crt" --tlskey="$tap_dir/tls.key"
unusable() { # ARGS...: exit 1
    local rc=0
    "$program" --testHooks --listen=127.0.0.1 --port=0 --tlscert="$tap_dir/tls.crt" --tlskey="$tap_dir/tls.key" "$@" || rc=$?
    [ $rc -eq 1 ]
}
t 'checks the certificate, too' unusable --tlskey="$tap_dir/empty"
plan
