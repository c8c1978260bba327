#pragma once
/* What SRO left on a cluster, put into one: the files of takeover/, in which owners are named
 * without uid, and CHARTS is that folder. */
#include "run_sro.h"

#define TAKEOVER SW_SOURCE_DIR "/test/emulator/operator/takeover"

/* Owners of the file have no uid. */
static inline void name_owners(struct world *w, struct json_object *doc)
{
    struct json_object *owners = sw_json_find(doc, "metadata", "ownerReferences", NULL);
    for (size_t i = 0; i < sw_json_len(owners); i++) {
        struct json_object *owner = sw_json_at(owners, i);
        SW_AUTO_CHARS *uid = sw_strdup(
            sw_obj_uid(world_get(w, SR_VERSION, sw_json_str(owner, "", "kind", NULL), NULL,
                                 sw_json_str(owner, "", "name", NULL))));
        sw_json_set_str(owner, uid, "uid", NULL);
    }
}

static inline void send_as_sro(struct world *w, struct json_object *doc, bool update)
{
    const struct sw_kind *k = world_kind(w, sw_obj_api_version(doc), sw_obj_kind(doc));
    const struct sw_request_opts opts = { .field_manager = "manager" };
    const char *ns = *sw_obj_namespace(doc) ? sw_obj_namespace(doc) : NULL;
    assert_non_null(k);
    w->answer_code = SW_PENDING;
    if (update)
        (void)sw_kube_update(w->conn.kube, k, ns, sw_obj_name(doc), doc, &opts, world_on_answer, w);
    else
        (void)sw_kube_create(w->conn.kube, k, ns, NULL, doc, &opts, world_on_answer, w);
    assert_true(world_until(w, world_is_answered, NULL, 60000));
    if (w->answer_code < 0)
        fail_msg("%s %s: %d", sw_obj_kind(doc), sw_obj_name(doc), w->answer_code);
}

/* @doc with the registry's host for HOST, the caller's. */
static inline struct json_object *left_with_host(struct json_object *doc, const char *host)
{
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, NULL);
    SW_AUTO_CHARS *named = sw_strdup("");
    const char *from = text;
    for (const char *at; (at = strstr(from, "HOST")); from = at + strlen("HOST"))
        sw_append(&named, "%.*s%s", (int)(at - from), from, host);
    sw_append(&named, "%s", from);
    struct json_object *out = NULL;
    assert_int_equal(sw_json_parse(named, strlen(named), NULL, &out, NULL), 0);
    return out;
}

static inline void create_left(struct world *w, struct json_object *doc)
{
    SW_AUTO_JSON *body = sw_json_copy(doc);
    SW_AUTO_JSON *status = sw_json_copy(sw_json_get(doc, "status"));
    const char *url = sw_json_str(doc, "", "spec", "chart", "repository", "url", NULL);
    if (sw_starts_with(url, "CHARTS")) {
        SW_AUTO_CHARS *here = sw_printf("file://" TAKEOVER "%s", url + strlen("CHARTS"));
        sw_json_set_str(body, here, "spec", "chart", "repository", "url", NULL);
    }
    name_owners(w, body);
    send_as_sro(w, body, false);
    if (!status)
        return;
    SW_AUTO_JSON *patch = json_object_new_object();
    sw_json_set(patch, json_object_get(status), "status", NULL);
    assert_int_equal(world_patch(w, sw_obj_api_version(doc), sw_obj_kind(doc), NULL,
                                 sw_obj_name(doc), "status", json_object_to_json_string(patch)),
                     0);
}

static inline void left_each_of(struct world *w, const char *file, const char *kind,
                                void (*each)(struct world *w, struct json_object *doc))
{
    SW_ERR(err);
    struct sw_yaml_docs docs = { 0 };
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    assert_int_equal(sw_file_read(file, 1 << 20, &text, &len, &err), 0);
    if (sw_yaml_parse_all(text, len, NULL, &docs, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    for (size_t i = 0; i < docs.n_docs; i++)
        if (!kind || sw_streq(sw_obj_kind(docs.docs[i].object), kind))
            each(w, docs.docs[i].object);
    sw_yaml_docs_done(&docs);
}

static inline void left_each(struct world *w, const char *kind,
                             void (*each)(struct world *w, struct json_object *doc))
{
    left_each_of(w, TAKEOVER "/left.yaml", kind, each);
}
