#include "cli/cluster/overlap.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "data/data.h"

enum { MAX_NAMES = 3, RETRIES = 2, RETRY_DEADLINE_MS = 3000 };

/* ---- without nodes ------------------------------------------------------------------------------
 */

static bool asks_for_all_of(struct json_object *one, struct json_object *other)
{
    if (!json_object_is_type(other, json_type_object))
        return true;
    json_object_object_foreach(other, key, value)
    {
        struct json_object *mine = json_object_is_type(one, json_type_object)
                                       ? sw_json_get(one, key)
                                       : NULL;
        if (!sw_json_equal(mine, value))
            return false;
    }
    return true;
}

static bool depends_on(struct json_object *one, struct json_object *other)
{
    struct json_object *list = sw_json_find(one, "spec", "dependencies", NULL);
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (sw_streq(sw_json_str(sw_json_at(list, i), "", "chart", "name", NULL),
                     sw_obj_name(other)))
            return true;
    return false;
}

/* As the controller's overlap.c. */
static bool is_claiming(struct json_object *doc)
{
    const char *state = sw_json_str(doc, "", "spec", "managementState", NULL);
    return (sw_json_len(sw_json_find(doc, "spec", "nodeSelector", NULL)) ||
            sw_json_len(sw_json_find(doc, "spec", "taints", NULL))) &&
           !sw_streq(state, "Removed") && !sw_streq(state, "Unmanaged") &&
           !sw_json_find(doc, "metadata", "deletionTimestamp", NULL);
}

bool sw_overlap_is_sure(struct json_object *one, struct json_object *other)
{
    struct json_object *a = sw_json_find(one, "spec", "nodeSelector", NULL),
                       *b = sw_json_find(other, "spec", "nodeSelector", NULL);
    return is_claiming(one) && is_claiming(other) &&
           (asks_for_all_of(a, b) || asks_for_all_of(b, a)) && !depends_on(one, other) &&
           !depends_on(other, one);
}

/* ---- by the nodes that there are ----------------------------------------------------------------
 */

static bool selects(struct json_object *resource, struct json_object *node)
{
    return asks_for_all_of(sw_json_find(node, "metadata", "labels", NULL),
                           sw_json_find(resource, "spec", "nodeSelector", NULL));
}

static void warn_of(const struct sw_connection *conn, struct json_object *resource,
                    struct json_object *other, struct json_object *nodes)
{
    size_t n = 0;
    SW_AUTO_CHARS *names = sw_strdup("");
    for (size_t i = 0; i < sw_json_len(nodes); i++) {
        struct json_object *node = sw_json_at(nodes, i);
        if (!selects(resource, node) || !selects(other, node) || n++ >= MAX_NAMES)
            continue;
        char *longer = sw_printf("%s%s%s", names, *names ? ", " : "", sw_obj_name(node));
        free(names);
        names = longer;
    }
    if (n == 0)
        return;
    SW_AUTO_CHARS *more = n > MAX_NAMES ? sw_printf(" and %zu more", n - MAX_NAMES) : sw_strdup("");
    (void)fprintf(stderr, "slipway %s: warning: %zu node%s selected by %s as well: %s%s\n",
                  conn->command, n, n == 1 ? " is" : "s are", sw_obj_name(other), names, more);
}

static void warn_of_all(struct sw_connection *conn, struct json_object *resource)
{
    SW_AUTO_JSON *others = NULL;
    SW_AUTO_JSON *nodes = NULL;
    const struct sw_request_opts opts = { .retries = RETRIES };
    SW_ERR(ignored);
    if (!is_claiming(resource) ||
        sw_cluster_find(conn, "sro.openshift.io/v1beta1", "SpecialResource", NULL, NULL, &opts,
                        &others, &ignored) < 0)
        return;
    for (size_t i = 0; i < sw_json_len(others); i++) {
        struct json_object *other = sw_json_at(others, i);
        if (sw_streq(sw_obj_name(other), sw_obj_name(resource)) || !is_claiming(other) ||
            depends_on(resource, other) || depends_on(other, resource))
            continue;
        if (!nodes && sw_cluster_find(conn, "v1", "Node", NULL, NULL, &opts, &nodes, &ignored) < 0)
            return;
        warn_of(conn, resource, other, nodes);
    }
}

void sw_overlap_warn(struct sw_connection *conn, struct json_object *resource)
{
    conn->until_ms = sw_loop_now_ms(conn->loop) + RETRY_DEADLINE_MS;
    warn_of_all(conn, resource);
    conn->until_ms = 0;
}
