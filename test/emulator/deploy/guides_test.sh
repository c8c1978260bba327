# The how-to guides, as somebody follows them who copies their commands one after another: each prints what stands there.
. test/tap.sh
kubectl patch --help 2>/dev/null | grep subresource >/dev/null || { skip "the guides" "no kubectl of 1.24 or newer here"; plan; exit; }
. test/follow.sh
for guide in $(git grep -l '^```console' -- docs | grep -v docs/tutorial.md); do
    follow "$guide"
done
plan
