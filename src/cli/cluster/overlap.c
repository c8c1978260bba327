#include "cli/cluster/overlap.h"

#include <json-c/json.h>
#include <stdio.h>

#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "data/data.h"
#include "operator/manifests/overlap.h"

enum { MAX_NAMES = 3, RETRIES = 2, RETRY_DEADLINE_MS = 3000 };

/* A sw_overlap_find_fn; @arg: the resources of the cluster. */
static struct json_object *find_by_name(const char *name, void *arg)
{
    for (size_t i = 0; i < sw_json_len(arg); i++)
        if (sw_streq(sw_obj_name(sw_json_at(arg, i)), name))
            return sw_json_at(arg, i);
    return NULL;
}

static void warn_of(const struct sw_connection *conn, struct json_object *resource,
                    struct json_object *other, struct json_object *nodes)
{
    size_t n = 0;
    SW_AUTO_CHARS *names = sw_strdup("");
    for (size_t i = 0; i < sw_json_len(nodes); i++) {
        struct json_object *node = sw_json_at(nodes, i);
        if (sw_overlap_selects(resource, node) && sw_overlap_selects(other, node) &&
            n++ < MAX_NAMES)
            sw_append(&names, "%s%s", *names ? ", " : "", sw_obj_name(node));
    }
    if (n == 0)
        return;
    SW_AUTO_CHARS *more = n > MAX_NAMES ? sw_printf(" and %zu more", n - MAX_NAMES) : sw_strdup("");
    (void)fprintf(stderr, "slipway %s: warning: %zu node%s selected by %s as well: %s%s\n",
                  conn->command, n, n == 1 ? " is" : "s are", sw_obj_name(other), names, more);
}

void sw_overlap_warn(struct sw_connection *conn, struct json_object *resource)
{
    SW_AUTO_JSON *others = NULL;
    SW_AUTO_JSON *nodes = NULL;
    const struct sw_request_opts opts = { .retries = RETRIES };
    SW_ERR(ignored);
    if (!sw_overlap_is_claiming(resource))
        return;
    conn->until_ms = sw_loop_now_ms(conn->loop) + RETRY_DEADLINE_MS;
    int rc = sw_cluster_find(conn, "sro.openshift.io/v1beta1", "SpecialResource", NULL, NULL, &opts,
                             &others, &ignored);
    for (size_t i = 0; rc == 0 && i < sw_json_len(others); i++) {
        struct json_object *other = sw_json_at(others, i);
        if (sw_streq(sw_obj_name(other), sw_obj_name(resource)) || !sw_overlap_is_claiming(other) ||
            sw_overlap_is_meant(resource, other, find_by_name, others))
            continue;
        if (!nodes)
            rc = sw_cluster_find(conn, "v1", "Node", NULL, NULL, &opts, &nodes, &ignored);
        if (rc == 0)
            warn_of(conn, resource, other, nodes);
    }
    conn->until_ms = 0;
}
