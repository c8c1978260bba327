#pragma once
/* hook: Helm's hook annotations. */
#include <stdbool.h>

struct json_object;

/** A hook's annotations, read. */
struct sw_helm_hook {
    unsigned events;   /* enum sw_hook_event; 0: not a hook */
    unsigned policies; /* enum sw_hook_policy */
    int weight;
};

/** What an object's annotations say. @return false where Helm leaves the object out: it is a hook
 * of an event that it does not know. Source: Helm 3.7.1 releaseutil.SortManifests. */
bool sw_helm_hook_read(struct json_object *object, struct sw_helm_hook *hook);

/** @key: the annotation; both borrowed. */
typedef void sw_helm_hook_fault_fn(void *arg, const char *key, const char *text);
/** Call @fn for what Helm does not know in the annotations of a hook: an event (it leaves the
 * object out), a policy (it is kept and means nothing), a weight that is no integer (it is taken
 * for 0). Source: Helm 3.21 releaseutil.SortManifests. Pinned by test/golden/cli/lint_test.sh. */
void sw_helm_hook_check(struct json_object *object, sw_helm_hook_fault_fn *fn, void *arg);
