#include "cli/commands/explain_annotations.h"

#include <stddef.h>

#define OF_RESOURCE "an annotation of a SpecialResource"
#define OF_OBJECT "an annotation of manifests; it is Helm's"
#define SET "slipway sets it; it is not to be changed by hand"

const struct explained_annotation explained_annotations[] = {
    { "helm.sh/depends-on/resource-groups", "an annotation of manifests (HIP-0025)",
      "[\"database\"]",
      "the object's group comes after these groups of the chart; objects without a group come "
      "last" },
    { "helm.sh/depends-on/subcharts", "an annotation of a chart, in its Chart.yaml (HIP-0025)",
      "[\"nfd\", \"gpu-operator\"]", "the chart's own objects come after these subcharts" },
    { "helm.sh/hook", OF_OBJECT, "pre-install,pre-upgrade",
      "the object is a hook: pre-install and post-install run once, pre-upgrade and post-upgrade "
      "once for each later content, pre-delete and post-delete when the resource is deleted, "
      "pre-rollback and post-rollback when a state goes back, test with `slipway test`" },
    { "helm.sh/hook-delete-policy", OF_OBJECT, "before-hook-creation,hook-succeeded",
      "when the hook's object is deleted: before it is made again (the default), after it has "
      "succeeded, after it has failed" },
    { "helm.sh/hook-output-log-policy", OF_OBJECT, "hook-succeeded",
      "whose log `slipway test` and `slipway uninstall` print: with hook-succeeded that of one "
      "that succeeded, too, whose last line an Event HookSucceeded tells; that of one that failed "
      "is always printed" },
    { "helm.sh/hook-weight", OF_OBJECT, "-5",
      "hooks of one event run by weight, kind and name, one after the other" },
    { "helm.sh/resource-group", "an annotation of manifests (HIP-0025)", "database",
      "the group of the chart's objects that this one belongs to" },
    { "helm.sh/resource-policy", OF_OBJECT, "keep",
      "the object is never deleted: when it goes from the recipe, or the resource goes, it stays "
      "and loses slipway's marks" },
    { "meta.helm.sh/release-name", "an annotation of objects; it is Helm's", NULL,
      "the release that the object belongs to, by which Helm knows it; " SET },
    { "meta.helm.sh/release-namespace", "an annotation of objects; it is Helm's", NULL,
      "the namespace of that release; " SET },
    { "mig.das.com/allocation", "an annotation of the answer to kubelet; it is DAS's", NULL,
      "the CDI device of the slices that a container was given; the device plugin sets it" },
    { "slipway.dev/accept-record", OF_RESOURCE, "sh.helm.release.v1.gpu.v3@sha256:0123",
      "NAME@DIGEST: the release record of this name and content is used, though slipway did not "
      "write it; the Event RecordNotUsed says both" },
    { "slipway.dev/acts-as", OF_RESOURCE, NULL,
      "made for another resource's dependencies: the account that its objects are written as. It "
      "counts as far as status.actsAs confirms it; " SET },
    { "slipway.dev/adopted", "an annotation of objects", NULL,
      "slipway did not create the object, and does not delete it; " SET },
    { "slipway.dev/approve-install-plan", "an annotation of a Subscription", "gpu-operator.v25.3.0",
      "with installPlanApproval Manual: the install plan that installs exactly these versions is "
      "approved" },
    { "slipway.dev/check", "an annotation of manifests: of a Job", "conformance",
      "the Job checks something, in this phase: with exit code 2, where its podFailurePolicy fails "
      "it for that, the check does not apply here and its state is Ready; checks of one phase that "
      "need each other run one after the other, whatever they come to" },
    { "slipway.dev/constraints", OF_RESOURCE, "warn",
      "warn: what the recipe asks of the cluster (its chart's annotation of this name) is told, "
      "and "
      "does not stop the walk" },
    { "slipway.dev/das-owner", OF_RESOURCE, NULL,
      "the uid of the DASOperator that the resource is for: it goes with that; " SET },
    { "slipway.dev/defragment", "an annotation of a pod that waits for slices", NULL,
      "a time: slipway-scheduler makes room for the pod once, by pods that may move; `slipway "
      "slices --defragment NAMESPACE/POD` sets it" },
    { "slipway.dev/deletion", "an annotation of hooks", NULL,
      "for which event, of which release, a hook of a deletion runs; " SET },
    { "slipway.dev/deletion-hooks", "an annotation of the record of a release", NULL,
      "which hooks of the deletion are done; " SET },
    { "slipway.dev/dependency-of", OF_RESOURCE, NULL,
      "the resource whose dependencies it was made for; " SET },
    { "slipway.dev/digest", "a label of the record of a release", NULL,
      "recipe and values that were deployed; " SET },
    { "slipway.dev/kept", "an annotation of a CustomResourceDefinition", NULL,
      "the shared release that left it behind, since others have objects of it; " SET },
    { "slipway.dev/may-move", "an annotation of a pod, in the template of what makes it", "true",
      "it may be evicted and made again elsewhere where slices of a GPU lie so that another pod "
      "finds no place; only where kube-scheduler allocates them, and within its budgets" },
    { "slipway.dev/no-hooks", OF_RESOURCE, "true",
      "its deletion, or removal, runs no hooks: for one whose hook fails and holds it" },
    { "slipway.dev/origin", "an annotation of the chart in the record of a release", NULL,
      "generation, last writer and spec.chart of the resource that the revision is of; " SET },
    { "slipway.dev/releases", OF_RESOURCE, "secret",
      "its release records that are ConfigMaps become Secrets; `slipway releases --to-secrets` "
      "sets "
      "it" },
    { "slipway.dev/resource", "an annotation of objects", NULL,
      "the SpecialResource that the object belongs to; " SET },
    { "slipway.dev/retry", OF_RESOURCE, "2026-01-02T03:04:05Z",
      "what has failed is tried again at once when this changes; `slipway retry NAME` sets it" },
    { "slipway.dev/revision", "an annotation of hooks", NULL,
      "the number of the release: the hook of an upgrade runs once for each; " SET },
    { "slipway.dev/rollback-of", "an annotation of hooks", NULL,
      "which failure the hook of a rollback undoes: it runs once for each; " SET },
    { "slipway.dev/salt", "an annotation of the record of a release", NULL,
      "a random text, so that its digest in the status tells nothing of the content; " SET },
    { "slipway.dev/shared-releases", "an annotation of namespaces", NULL,
      "the releases in it that several resources use: their owner, users and versions; " SET },
    { "slipway.dev/taints", "an annotation of nodes", NULL,
      "which of the node's taints slipway has set, by resource; " SET },
    { "slipway.dev/uninstalling", OF_RESOURCE, NULL,
      "`slipway uninstall` deletes its objects; what it waits for; " SET },
    { "slipway.dev/upgrades", OF_RESOURCE, "gpu-operator",
      "components, separated by commas, or all, that may be upgraded though the recipe's record "
      "(its chart's annotation of this name) does not call that safe" },
    { "specialresource.openshift.io/hash", "an annotation of objects; it is SRO's", NULL,
      "a digest of the manifest that was applied last; " SET },
    { 0 },
};
