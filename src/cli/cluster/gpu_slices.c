#include "cli/cluster/gpu_slices.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "data/data.h"
#include "slicing/claim/claim.h"
#include "slicing/dra/dra.h"
#include "slicing/scheduler/devices/gpu_slices.h"

enum { RETRIES = 2 };

#define DRA_API "resource.k8s.io/v1"

/* What is read. */
struct reading {
    struct sw_connection *conn;
    struct dra_view *view;
    struct json_object *pods;
};

/* All objects of a kind; none where the server does not serve it. */
static int list_all(struct sw_connection *conn, const char *api, const char *kind,
                    struct json_object **items, struct sw_err *err)
{
    const struct sw_request_opts opts = { .retries = RETRIES };
    const int rc = sw_cluster_find(conn, api, kind, NULL, NULL, &opts, items, err);
    if (rc != SW_NOTFOUND)
        return rc;
    sw_err_done(err);
    *items = json_object_new_array();
    return 0;
}

/* ---- reading -----------------------------------------------------------------------------------
 */

static int read_kind(struct reading *r, enum dra_kind kind, const char *api, const char *name,
                     struct sw_err *err)
{
    SW_AUTO_JSON *items = NULL;
    const int rc = list_all(r->conn, api, name, &items, err);
    for (size_t i = 0; rc == 0 && i < sw_json_len(items); i++) {
        struct json_object *item = sw_json_at(items, i);
        const char *ns = kind == DRA_CLAIMS ? sw_obj_namespace(item) : NULL;
        if (kind != DRA_SLICES ||
            sw_streq(sw_json_str(item, "", "spec", "driver", NULL), SW_DRA_DRIVER))
            dra_observe(r->view, kind, ns, sw_obj_name(item), item);
    }
    return rc;
}

static int read_view(struct reading *r, struct sw_err *err)
{
    static const struct {
        enum dra_kind kind;
        const char *api, *name;
    } rows[] = { { DRA_NODES, "v1", "Node" },
                 { DRA_SLICES, DRA_API, "ResourceSlice" },
                 { DRA_CLASSES, DRA_API, "DeviceClass" },
                 { DRA_CLAIMS, DRA_API, "ResourceClaim" } };
    SW_AUTO_JSON *budgets = NULL;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < SW_COUNT(rows); i++)
        rc = read_kind(r, rows[i].kind, rows[i].api, rows[i].name, err);
    if (rc == 0)
        rc = list_all(r->conn, "v1", "Pod", &r->pods, err);
    if (rc == 0)
        rc = list_all(r->conn, "policy/v1", "PodDisruptionBudget", &budgets, err);
    for (size_t i = 0; rc == 0 && i < sw_json_len(r->pods); i++)
        dra_observe_pod(r->view, sw_json_at(r->pods, i), 1);
    for (size_t i = 0; rc == 0 && i < sw_json_len(budgets); i++) {
        struct json_object *b = sw_json_at(budgets, i);
        cache_observe_budget(r->view->cache, sw_obj_namespace(b), sw_obj_name(b), b);
    }
    return rc;
}

/* In the order of the list. */
static void add_waiting(const struct dra_view *view, struct json_object *pods,
                        struct json_object *waiting)
{
    for (size_t i = 0; i < sw_json_len(pods); i++) {
        const char *uid = sw_json_str(sw_json_at(pods, i), "", "metadata", "uid", NULL);
        const struct dra_pod *p = dra_find_pod(view, uid);
        struct json_object *doc = p ? gpu_slices_waiting(view, p) : NULL;
        if (!doc)
            continue;
        gpu_slices_explain(view, p, doc);
        json_object_array_add(waiting, doc);
    }
}

int sw_gpu_slices_read(struct sw_connection *conn, const char *node, struct json_object **out,
                       struct sw_err *err)
{
    SW_AUTO(dra_view) *view = dra_view_new();
    SW_AUTO_JSON *doc = json_object_new_object();
    SW_AUTO_JSON *accelerators = NULL;
    SW_AUTO_JSON *claims = NULL;
    struct reading r = { .conn = conn, .view = view };
    view->every_pod = true;
    int rc = read_view(&r, err);
    SW_AUTO_JSON *pods = r.pods;
    if (rc == 0)
        rc = list_all(conn, SW_CLAIM_API, "NodeAccelerator", &accelerators, err);
    if (rc == 0)
        rc = list_all(conn, SW_CLAIM_API, "AllocationClaim", &claims, err);
    if (rc < 0)
        return rc;
    const struct gpu_slices_source from = { view, accelerators, claims, node };
    sw_json_set(doc, gpu_slices_gpus(&from), "gpus", NULL);
    add_waiting(view, pods, sw_json_need_list(doc, "waiting", NULL));
    *out = SW_TAKE(doc);
    return 0;
}
