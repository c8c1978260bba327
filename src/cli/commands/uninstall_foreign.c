/* What goes with a namespace and is not the resource's: the plan of slipway uninstall names it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cluster/requests.h"
#include "cli/commands/uninstall.h"
#include "data/data.h"
#include "operator/manifests/hooks.h"

enum { MOST_NAMES = 5 };

/* What every namespace has, or what is a trace of others and no work of anybody's. */
static bool is_usual(const char *kind, struct json_object *live)
{
    static const struct {
        const char *kind, *start; /* of the name */
    } usual[] = {
        { "ServiceAccount", "default" },
        { "ServiceAccount", "builder" }, /* of OpenShift */
        { "ServiceAccount", "deployer" },
        { "ConfigMap", "kube-root-ca.crt" },
        { "ConfigMap", "openshift-service-ca.crt" },
        { "ConfigMap", "sh.helm.release." },
        { "Secret", "sh.helm.release." },
        { "RoleBinding", "system:" },
        { "Event", "" },
        { "Endpoints", "" },
        { "EndpointSlice", "" },
        { "Lease", "" },
    };
    static const char *const types[] = { "kubernetes.io/service-account-token",
                                         "kubernetes.io/dockercfg" };
    const char *type = sw_json_str(live, "", "type", NULL);
    for (size_t i = 0; i < SW_COUNT(usual); i++)
        if (sw_streq(kind, usual[i].kind) && sw_starts_with(sw_obj_name(live), usual[i].start))
            return true;
    for (size_t i = 0; i < SW_COUNT(types) && sw_streq(kind, "Secret"); i++)
        if (sw_streq(type, types[i]))
            return true;
    return false;
}

/* Somebody's who is not slipway: what has an owner goes with that. */
static bool is_foreign(const char *kind, struct json_object *live)
{
    return !is_usual(kind, live) && !sw_json_find(live, "metadata", "deletionTimestamp", NULL) &&
           !sw_json_len(sw_json_find(live, "metadata", "ownerReferences", NULL)) &&
           !*sw_json_str(live, "", "metadata", "labels", SW_OWNED_LABEL, NULL);
}

void uninstall_tell_foreign(struct uninstall *u, const char *ns)
{
    static const char *const fields[] = { "metadata", "type", NULL };
    struct sw_kind_list kinds = sw_cluster_removable(&u->conn);
    SW_AUTO_CHARS *names = sw_strdup("");
    size_t n = 0;
    for (size_t k = 0; k < kinds.n; k++) {
        const struct sw_kind *kind = kinds.items[k];
        SW_AUTO_JSON *items = NULL;
        SW_ERR(unread); /* what may not be read is not told */
        if (!kind->namespaced || sw_streq(kind->kind, "Endpoints") ||
            sw_streq(kind->kind, "Event") ||
            sw_cluster_list(&u->conn, kind, ns,
                            &(struct sw_request_opts){ .fields = fields, .retries = 3 }, &items,
                            &unread) < 0)
            continue;
        for (size_t i = 0; i < sw_json_len(items); i++) {
            struct json_object *live = sw_json_at(items, i);
            if (is_foreign(kind->kind, live) && n++ < MOST_NAMES)
                sw_append(&names, "%s%s %s", *names ? ", " : "", kind->kind, sw_obj_name(live));
        }
    }
    free(kinds.items);
    if (n > MOST_NAMES)
        sw_append(&names, " and %zu more", n - MOST_NAMES);
    if (n)
        (void)printf("warning: with Namespace %s goes what is not the resource's: %s\n", ns, names);
}
