/* The objects of one SpecialResourceModule: those that its chart makes for each version of
 * OpenShift that it finds, applied as a dry run. */
#include <json-c/json.h>

#include "base/loop.h"
#include "cli/cluster/requests.h"
#include "cli/commands/takeover.h"
#include "data/data.h"
#include "net/http/http.h"
#include "operator/facts/facts.h"
#include "operator/manifests/module_versions.h"
#include "operator/registries/registries.h"
#include "operator/registries/release_image.h"
#include "operator/registries/upgrade_graph.h"

enum { RETRIES = 3 };

/* ---- its versions ------------------------------------------------------------------------------
 */

static int collect_from(struct takeover *t, struct json_object *watch, const char *account,
                        struct json_object *entries, struct sw_err *err)
{
    const char *name = sw_json_str(watch, "", "name", NULL);
    SW_AUTO_JSON *found = NULL;
    int rc = sw_cluster_find(&t->preview.conn, sw_json_str(watch, "", "apiVersion", NULL),
                             sw_json_str(watch, "", "kind", NULL),
                             sw_json_str(watch, NULL, "namespace", NULL), *name ? name : NULL,
                             &(struct sw_request_opts){ .retries = RETRIES, .as_user = account },
                             &found, err);
    if (*name && rc == SW_NOTFOUND) {
        sw_err_done(err);
        return 0; /* it may come */
    }
    if (rc == 0 && *name)
        return sw_module_collect(watch, found, entries, err);
    for (size_t i = 0; rc == 0 && i < sw_json_len(found); i++)
        rc = sw_module_collect(watch, sw_json_at(found, i), entries, err);
    return rc;
}

static int collect(struct takeover *t, struct json_object *module, struct json_object *entries,
                   struct sw_err *err)
{
    struct json_object *list = sw_json_find(module, "spec", "watch", NULL);
    SW_AUTO_CHARS *account = takeover_account(t, module);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sw_json_len(list); i++)
        rc = collect_from(t, sw_json_at(list, i), account, entries, err);
    return sw_err_wrap(err, rc, "spec.watch");
}

/* ---- one version -------------------------------------------------------------------------------
 */

/* What is asked of servers other than the cluster's, one after another. */
struct asked {
    struct sw_loop *loop;
    bool answered;
    int code;
    struct sw_err err;
    char *image;                /* of a version */
    struct sw_facts *facts;     /* of a release image */
    struct json_object *doc;    /* the module, borrowed */
    struct json_object *values; /* that templates of it see for the release */
};

static void on_graph(int code, const char *message, const char *image, void *arg)
{
    struct asked *a = arg;
    a->answered = true;
    if ((a->code = code) < 0)
        (void)sw_err_set(&a->err, code, "%s", message);
    else
        a->image = sw_strdup(image);
    sw_loop_stop(a->loop);
}

static void on_release(int code, const char *message, const struct sw_release_image *p, void *arg)
{
    struct asked *a = arg;
    a->answered = true;
    if ((a->code = code) < 0) {
        (void)sw_err_set(&a->err, code, "%s", message);
    } else {
        a->facts = sw_release_image_facts(p, NULL, NULL, NULL);
        a->values = sw_release_image_module_values(p, a->facts, a->doc);
    }
    sw_loop_stop(a->loop);
}

static int wait_for(struct asked *a, const char *entry, struct sw_err *err)
{
    a->answered = false;
    sw_loop_run(a->loop);
    if (!a->answered)
        return sw_err_set(err, SW_CANCELED, "interrupted");
    return a->code < 0 ? sw_err_set(err, a->code, "%s: %s", entry, sw_err_text(&a->err)) : 0;
}

static int ask(struct takeover *t, struct asked *a, const char *entry, struct sw_err *err)
{
    struct sw_http *http = sw_http_new(a->loop, &(struct sw_http_opts){ 0 });
    struct sw_registries *registries = sw_registries_new(
        a->loop, t->preview.conn.kube, &(struct sw_registries_opts){ .home_logins = true });
    int rc = 0;
    if (sw_module_is_version(entry)) {
        struct sw_upgrade_graph *graph = sw_upgrade_graph_open(http, NULL, entry, on_graph, a);
        rc = wait_for(a, entry, err);
        sw_upgrade_graph_close(graph);
    } else {
        a->image = sw_strdup(entry);
    }
    if (rc == 0) {
        struct sw_release_image_read *read = sw_release_image_open(registries, a->image, NULL,
                                                                   on_release, a);
        rc = wait_for(a, entry, err);
        sw_release_image_close(read);
    }
    sw_registries_free(registries);
    sw_http_free(http);
    return rc;
}

/* The values and nodes that its templates see are those of the release. */
static int set_facts(struct sw_preview *p, struct asked *a, struct sw_err *err)
{
    int rc = sw_cluster_facts_read(&p->conn, p->resource, NULL, &p->facts, err);
    if (rc < 0)
        return rc;
    sw_groups_done(&p->facts.groups);
    sw_facts_free(p->facts.facts);
    p->facts.facts = SW_TAKE(a->facts);
    sw_facts_groups(p->facts.facts, NULL, NULL, &p->facts.groups);
    p->opened.facts = SW_TAKE(a->values);
    p->is_resolved = true; /* a module has no templates in its spec */
    return 0;
}

static int plan_version(struct takeover *t, struct json_object *module, const char *entry,
                        struct sw_err *err)
{
    struct sw_preview *p = &t->preview;
    struct asked a = { .loop = p->conn.loop, .doc = module };
    bool keep_selectors = p->keep_selectors;
    int rc = ask(t, &a, entry, err);
    p->resource = json_object_get(module);
    p->keep_selectors = false; /* drivers of modules are of other clusters */
    if (rc == 0)
        rc = set_facts(p, &a, err);
    if (rc == 0)
        rc = takeover_objects(t, err);
    p->keep_selectors = keep_selectors;
    sw_preview_close(p);
    sw_facts_free(a.facts);
    json_object_put(a.values);
    free(a.image);
    sw_err_done(&a.err);
    return rc;
}

/* ---- a module ----------------------------------------------------------------------------------
 */

void takeover_module(struct takeover *t, struct json_object *module)
{
    SW_AUTO_JSON *entries = json_object_new_array();
    size_t at = sw_json_len(t->entries);
    SW_ERR(err);
    if (takeover_is_left_alone(t, module))
        return;
    int rc = takeover_rights_open(t, module, &err);
    if (rc == 0)
        rc = collect(t, module, entries, &err);
    for (size_t i = 0; rc == 0 && i < sw_json_len(entries); i++)
        rc = plan_version(t, module, sw_json_str(sw_json_at(entries, i), "", NULL), &err);
    SW_AUTO_CHARS *rights = takeover_rights_close(t, module);
    takeover_close(t, at, module, rc,
                   rc < 0                      ? sw_err_text(&err)
                   : sw_json_len(entries) == 0 ? "there is no version at its paths"
                                               : rights);
}
