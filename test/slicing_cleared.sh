# slicing_cleared.sh: sourced by the tests that put parts of slicing on a cluster of many tests.

# slicing_cleared NAMESPACE: takes away what such a test may have left there, in every scope.
slicing_cleared() {
    local left
    kubectl delete node mig-a mig-b --ignore-not-found # no kubelet is on them
    kubectl delete pods -n default --all --force --grace-period=0 --ignore-not-found 2>/dev/null
    kubectl delete namespace "$1" --ignore-not-found --timeout=240s
    left=$(kubectl get clusterrole,clusterrolebinding,mutatingwebhookconfiguration -o name | grep '/das-')
    [ -z "$left" ] || kubectl delete $left
    left=$(kubectl -n kube-system get role,rolebinding -o name | grep '/das-')
    [ -z "$left" ] || kubectl -n kube-system delete $left
    left=$(kubectl get crd -o name | grep 'inference.redhat.com$')
    [ -z "$left" ] || kubectl delete $left --timeout=240s
    kubectl delete priorityclass urgent --ignore-not-found
    kubectl label nodes --all nvidia.com/mig.capable-
}
