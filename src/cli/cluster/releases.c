#include "cli/cluster/releases.h"

#include <json-c/json.h>

#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "data/data.h"

enum sw_releases sw_releases_of_flag(const char *where)
{
    return sw_streq(where, "none")        ? SW_RELEASES_NONE
           : sw_streq(where, "configmap") ? SW_RELEASES_CONFIG_MAPS
                                          : SW_RELEASES_SECRETS;
}

const char *sw_releases_namespace(struct json_object *resource)
{
    const char *ns = sw_json_str(resource, "", "spec", "namespace", NULL);
    return *ns ? ns : sw_obj_name(resource);
}

/* ---- the list ----------------------------------------------------------------------------------
 */

struct listing {
    struct json_object *list;
    bool answered;
    int code;
    struct sw_err err;
};

static void on_page(const struct sw_kube_answer *page, void *arg)
{
    struct listing *l = arg;
    if (sw_release_list_add(l->list, page))
        return;
    l->answered = true;
    l->code = page->code;
    if (page->code < 0)
        (void)sw_err_set(&l->err, page->code, "%s", sw_err_text(page->err));
}

static int64_t left_ms(const struct sw_connection *conn)
{
    return conn->until_ms ? conn->until_ms - sw_loop_now_ms(conn->loop) : 60000;
}

/* Add the records in objects of @kind to @all. */
static int list_kind(struct sw_connection *conn, const struct sw_kind *kind,
                     struct json_object *resource, struct json_object *all, struct sw_err *err)
{
    struct listing l = { .list = json_object_new_array() };
    struct sw_kube_request *req = sw_release_list(conn->kube, kind, sw_releases_namespace(resource),
                                                  sw_obj_name(resource), NULL, on_page, &l);
    while (!l.answered && !conn->signal && left_ms(conn) > 0)
        sw_loop_step(conn->loop, left_ms(conn));
    if (!l.answered) {
        sw_kube_cancel(req);
        l.code = sw_err_set(&l.err, SW_UNAVAILABLE, "the API server did not answer in time");
    }
    for (size_t i = 0; l.code == 0 && i < sw_json_len(l.list); i++) {
        struct json_object *record = sw_json_at(l.list, i);
        sw_json_set_str(record, kind->kind, "kind", NULL); /* items of a list may lack it */
        (void)json_object_array_add(all, json_object_get(record));
    }
    json_object_put(l.list);
    return l.code < 0 ? sw_err_move(err, &l.err) : 0;
}

int sw_releases_list(struct sw_connection *conn, struct json_object *resource,
                     struct json_object **out, struct sw_err *err)
{
    static const char *const kinds[] = { "ConfigMap", "Secret" };
    const char *home = sw_json_str(resource, "", "status", "recordsIn", NULL);
    SW_AUTO_JSON *all = json_object_new_array();
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < SW_COUNT(kinds); i++) {
        const struct sw_kind *kind;
        bool is_other = sw_streq(home, kinds[1 - i]) ||
                        (sw_streq(home, "Moving") && i == 0); /* Secrets count */
        if (is_other)
            continue;
        rc = sw_cluster_kind(conn, "v1", kinds[i], &kind, err);
        if (rc == 0)
            rc = list_kind(conn, kind, resource, all, err);
    }
    if (rc == 0)
        *out = SW_TAKE(all);
    return rc;
}

/* ---- one of them -------------------------------------------------------------------------------
 */

int sw_releases_read(struct sw_connection *conn, struct json_object *record,
                     struct json_object **out, struct json_object **release, struct sw_err *err)
{
    SW_ERR(none);
    int rc = sw_cluster_find(conn, "v1", sw_obj_kind(record), sw_obj_namespace(record),
                             sw_obj_name(record), &(struct sw_request_opts){ .retries = 3 }, out,
                             err);
    if (rc < 0)
        return rc;
    *release = NULL;
    if (sw_release_of_record(*out, release, &none) < 0)
        *release = NULL;
    return 0;
}

static struct json_object *digests_of(struct json_object *resource)
{
    return sw_json_find(resource, "status", "records", NULL);
}

bool sw_releases_are_begun(struct json_object *resource)
{
    return json_object_is_type(digests_of(resource), json_type_object);
}

enum sw_record_trust sw_releases_check(struct json_object *resource, struct json_object *record,
                                       struct json_object *release,
                                       char digest[static SW_SHA256_HEX])
{
    digest[0] = '\0';
    if (release)
        sw_release_digest(record, release, digest);
    return sw_record_check(resource, digests_of(resource), sw_obj_name(record), digest);
}
