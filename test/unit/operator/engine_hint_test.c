/* What can be done about a pod that fits nowhere, by what keeps most of the nodes away: messages as
 * the schedulers of Kubernetes 1.20, 1.32 and 1.36 write them. */
#include "operator/engine/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void assert_hint(const char *message, const char *want)
{
    const char *got = hint_for("Unschedulable", message, false);
    if (!strstr(got, want))
        fail_msg("'%s' for: %s", got, message);
}

static void nodes_that_the_pod_does_not_select_are_none_that_it_misses(void **state)
{
    (void)state;
    assert_hint("pod p: cannot be scheduled: 0/4 nodes are available: 1 node(s) had taint "
                "{node.kubernetes.io/memory-pressure: }, that the pod didn't tolerate, 3 node(s) "
                "didn't match Pod's node affinity.",
                "free memory on the node");
    assert_hint("0/4 nodes are available: 1 node(s) were unschedulable, 3 node(s) didn't match "
                "Pod's node affinity/selector. preemption: 0/4 nodes are available: 4 Preemption "
                "is not helpful for scheduling.",
                "kubectl uncordon");
}

static void what_keeps_most_of_them_away_counts(void **state)
{
    (void)state;
    assert_hint("0/5 nodes are available: 1 node(s) had untolerated taint "
                "{node.kubernetes.io/disk-pressure: }, 4 Insufficient nvidia.com/gpu.",
                "see what the pod asks for");
    assert_hint("0/5 nodes are available: 1 node(s) had untolerated taint "
                "{node-role.kubernetes.io/master: }, 4 node(s) had untolerated taint "
                "{node.kubernetes.io/disk-pressure: }.",
                "free disk space on the node");
    assert_hint("0/3 nodes are available: 3 node(s) had untolerated taint {gpu: yes}.",
                "a toleration of the taint");
}

static void what_the_pod_asks_of_other_pods_and_of_volumes_counts(void **state)
{
    (void)state;
    static const struct {
        const char *clause, *want;
    } cases[] = {
        { "node(s) didn't match pod anti-affinity rules", "podAntiAffinity" },
        { "node(s) didn't satisfy existing pods anti-affinity rules", "podAntiAffinity" },
        { "node(s) didn't match pod affinity/anti-affinity rules", "podAffinity or podAnti" },
        { "node(s) didn't match pod affinity rules", "podAffinity's labelSelector" },
        { "node(s) didn't match pod topology spread constraints", "topologySpreadConstraints" },
        { "node(s) didn't match pod topology spread constraints (missing required label)",
          "label of its topologyKey" },
        { "node(s) didn't have free ports for the requested pod ports", "hostPort" },
        { "node(s) had volume node affinity conflict", "where its volume is" },
        { "node(s) didn't match PersistentVolume's node affinity", "where its volume is" },
        { "node(s) had no available volume zone", "where its volume is" },
        { "node(s) didn't find available persistent volumes to bind", "a PersistentVolume that" },
        { "node(s) exceed max volume count", "as it can attach" },
        { "Too many pods", "maxPods" },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        SW_AUTO_CHARS *message = sw_printf("0/5 nodes are available: 1 node(s) had untolerated "
                                           "taint {node-role.kubernetes.io/master: }, 4 %s.",
                                           cases[i].clause);
        assert_hint(message, cases[i].want);
    }
}

static void taints_of_the_control_plane_are_the_last_to_blame(void **state)
{
    (void)state;
    assert_hint("0/4 nodes are available: 1 Insufficient cpu, 3 node(s) had untolerated taint "
                "{node-role.kubernetes.io/control-plane: }.",
                "see what the pod asks for");
    assert_hint("0/2 nodes are available: 1 node(s) had untolerated taint "
                "{node-role.kubernetes.io/master: }, 1 Insufficient cpu.",
                "see what the pod asks for");
    assert_hint("0/3 nodes are available: 3 node(s) had untolerated taint "
                "{node-role.kubernetes.io/control-plane: }.",
                "a toleration of the taint");
}

static void of_several_alike_none_is_blamed(void **state)
{
    (void)state;
    assert_hint("0/2 nodes are available: 1 node(s) had untolerated taint "
                "{node.kubernetes.io/disk-pressure: }, 1 Insufficient cpu.",
                "what keeps it off them");
}

/* With the term that no node has, which the engine has found, taints are not in the way. */
static void where_no_node_matches_the_labels_are_what_lacks(void **state)
{
    (void)state;
    assert_string_equal(
        hint_for("NoMatchingNodes",
                 "cannot be scheduled: no node has gpu=yes: 0/5 nodes are available: 1 node(s) had "
                 "untolerated taint {a: }, 4 node(s) didn't match Pod's node affinity/selector.",
                 false),
        "label nodes, or change the selector");
}

static void a_kind_that_others_have_is_corrected(void **state)
{
    (void)state;
    assert_string_equal(hint_for("NotServed", "kind 'D' is not in 'v1'; 'apps/v1' has it", false),
                        "correct apiVersion and kind in the recipe");
    assert_string_equal(hint_for("NotServed", "kind 'D' of 'x.io/v1': API group 'x.io'", false),
                        "install what serves the kind, or choose the version by "
                        ".Capabilities.APIVersions");
}

static void what_is_no_matter_of_nodes_has_its_own_hint(void **state)
{
    (void)state;
    assert_hint("0/1 nodes are available: 1 pod has unbound immediate PersistentVolumeClaims.",
                "give the claim a StorageClass");
    assert_hint("0/1 nodes are available: persistentvolumeclaim \"a\" not found.",
                "create the claim");
}

static void what_took_more_than_it_may_is_not_the_nodes_disk(void **state)
{
    (void)state;
    assert_string_equal(hint_for("Evicted",
                                 "failed: Evicted: Usage of EmptyDir volume \"v\" exceeds the "
                                 "limit \"1Mi\". ",
                                 false),
                        "raise the limit that the message names, or have the program write less");
    assert_non_null(
        strstr(hint_for("Evicted", "failed: Evicted: The node was low on resource: memory.", false),
               "free memory"));
    assert_non_null(strstr(hint_for("Evicted",
                                    "failed: Evicted: The node was low on resource: "
                                    "ephemeral-storage.",
                                    false),
                           "free disk space"));
}

static void what_admission_denies_is_no_missing_right(void **state)
{
    (void)state;
    static const struct {
        const char *message, *want;
    } cases[] = {
        { "deployments.apps \"d\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' "
          "denied "
          "request: no deployments",
          "a ValidatingAdmissionPolicy rejected it: ask its owner" },
        { "pods \"d-1\" is forbidden: pod rejected: RuntimeClass \"nvidia\" not found",
          "create the RuntimeClass, or name another one" },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++)
        assert_string_equal(hint_for("NotApplied", cases[i].message, true), cases[i].want);
}

static void what_had_none_has_a_hint(void **state)
{
    (void)state;
    static const struct {
        const char *reason, *message, *want;
    } cases[] = {
        { "NotApplied", "value: Forbidden: may not be changed in an update.",
          "slipway.dev/replace" },
        { "NotApplied", "parameters: Forbidden: updates to parameters are forbidden.",
          "slipway.dev/replace" },
        { "NotApplied", "roleRef: Invalid value: {}: cannot change roleRef",
          "slipway.dev/replace" },
        { "NotApplied", "spec.x: Forbidden: must not be set", "correct what the message names" },
        { "Removing", "ConfigMap a/b is being deleted (finalizers: x/y)",
          "what set the finalizer" },
        { "Timeout", "not ready within 2s: Deployment a/b 0 of 1 pods are ready",
          "slipway.dev/timeout" },
        { "Timeout", "not ready within 2s: Namespace a exceeded quota", "ResourceQuota" },
        { "NotApplied",
          "kind 'X' of 'corp.example/v9': this cluster does not serve that version (but "
          "corp.example/v1)",
          "a version that the message names" },
        { "NotServed", "X a is not served yet", "install what serves the kind" },
        { "Retrying", "Operation cannot be fulfilled: the object has been modified",
          "see who changes it" },
        { "Retrying", "Internal error occurred: no answer", "the log of the API server" },
        { "Retrying", "Internal error occurred: failed calling webhook \"a\": x", "ready pods" },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++)
        if (!strstr(hint_for(cases[i].reason, cases[i].message, true), cases[i].want))
            fail_msg("'%s' for: %s", hint_for(cases[i].reason, cases[i].message, true),
                     cases[i].message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_that_the_pod_does_not_select_are_none_that_it_misses),
        cmocka_unit_test(what_keeps_most_of_them_away_counts),
        cmocka_unit_test(what_the_pod_asks_of_other_pods_and_of_volumes_counts),
        cmocka_unit_test(taints_of_the_control_plane_are_the_last_to_blame),
        cmocka_unit_test(of_several_alike_none_is_blamed),
        cmocka_unit_test(what_is_no_matter_of_nodes_has_its_own_hint),
        cmocka_unit_test(where_no_node_matches_the_labels_are_what_lacks),
        cmocka_unit_test(a_kind_that_others_have_is_corrected),
        cmocka_unit_test(what_took_more_than_it_may_is_not_the_nodes_disk),
        cmocka_unit_test(what_admission_denies_is_no_missing_right),
        cmocka_unit_test(what_had_none_has_a_hint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
