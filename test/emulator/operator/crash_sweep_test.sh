# The controller is killed after each of a walk's requests, for every request: without sanitizers, which
# chaos_test.c has for a sample of them.
. test/tap.sh
for recipe in "recipes/nvidia-mig --nodes 3" "charts/example/simple-kmod --nodes 5"; do
    read -r path nodes <<<"$recipe"
    # shellcheck disable=SC2086
    t "$path survives a kill after any request" build/test/chaos $nodes sweep "$path"
done
plan
