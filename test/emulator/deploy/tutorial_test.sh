# The tutorial, as somebody follows it who copies its commands one after another: each prints what stands there.
. test/tap.sh
kubectl patch --help 2>/dev/null | grep subresource >/dev/null || { skip "the tutorial" "no kubectl of 1.24 or newer here"; plan; exit; }
. test/follow.sh
follow docs/tutorial.md
plan
