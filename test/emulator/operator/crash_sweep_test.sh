# The controller is killed after each of a walk's requests: one request in four, unless SW_ALL is set.
# Without sanitizers; chaos_test.c has fewer kills, with them.
. test/tap.sh
for recipe in "recipes/nvidia-mig --nodes 3" "charts/example/simple-kmod --nodes 5"; do
    read -r path nodes <<<"$recipe"
    # shellcheck disable=SC2086
    t "$path survives a kill after any request" build/test/chaos $nodes --sample 4 sweep "$path"
done
plan
