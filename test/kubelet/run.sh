# run.sh FILE.py [ARGUMENT]...: sourced by the tests that play kubelet; skips where Python's grpcio is missing.
for python in python3 /usr/bin/python3; do
    "$python" -c 'import grpc, google.protobuf' 2>/dev/null && break
    python=
done
if [ -z "$python" ]; then
    echo "ok 1 - $1 # SKIP Python's grpcio and protobuf are not here (Debian: python3-grpcio python3-protobuf)"
    echo 1..1
    exit 0
fi
export PYTHONPATH=test/kubelet PYTHONDONTWRITEBYTECODE=1 GRPC_VERBOSITY=NONE PYTHONUNBUFFERED=1
exec "$python" "test/kubelet/$1" "${@:2}"
