/* get and list. Source: Kubernetes API concepts, "Retrieving large results sets in chunks" and
 * "Resource versions"; continue tokens are base64 of JSON, opaque to clients. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "data/text/base64.h"
#include "emulator/api/convert.h"
#include "emulator/api/field_selectors.h"
#include "emulator/api/table.h"
#include "emulator/api/verbs.h"
#include "emulator/store/document.h"
#include "emulator/store/status.h"

void sw_rest_get(struct sw_req *req)
{
    struct sw_object *object = sw_rest_find(req, req->name);
    if (!object)
        return;
    if (req->form != SW_FORM_JSON) {
        sw_rest_send_object(req, 200, object->now->doc);
        return;
    }
    struct printbuf *out = printbuf_new();
    sw_render(req, object->now, true, out);
    printbuf_memappend_fast(out, "\n", 1);
    sw_rest_send(req, 200, "application/json", out->buf, (size_t)out->bpos);
    printbuf_free(out);
}

/* ---- filters ------------------------------------------------------------------------------------
 */

void sw_filter_done(struct sw_filter *filter)
{
    if (filter->labels)
        sw_selector_done(filter->labels);
    if (filter->fields)
        sw_selector_done(filter->fields);
    free(SW_TAKE(filter->labels));
    free(SW_TAKE(filter->fields));
}

bool sw_filter_matches(const struct sw_filter *filter, json_object *doc)
{
    return (!filter->labels || sw_selector_matches_object(filter->labels, doc)) &&
           (!filter->fields || sw_field_selector_matches(filter->fields, doc));
}

static int parse_fields(struct sw_req *req, struct sw_filter *filter, const char *text,
                        struct sw_status *status)
{
    SW_ERR(err);
    filter->fields = sw_zalloc(1, sizeof *filter->fields);
    if (sw_field_selector_parse(text, filter->fields, &err) < 0)
        return sw_status_bad_request(status, "%s", sw_err_text(&err));
    for (size_t i = 0; i < filter->fields->n_reqs; i++) {
        const char *key = filter->fields->reqs[i].key;
        if (!sw_fields_selectable(req->kind, req->version, key))
            return sw_status_bad_request(status,
                                         "Unable to find \"%s/%s, Resource=%s\" that match "
                                         "label selector \"\", field selector \"%s\": "
                                         "field label not supported: %s",
                                         req->group, req->version, req->resource, text, key);
        char *stored = sw_rest_stored_field(req->kind, key);
        free(filter->fields->reqs[i].key);
        filter->fields->reqs[i].key = stored;
    }
    return 0;
}

int sw_rest_filter(struct sw_req *req, struct sw_filter *out, struct sw_status *status)
{
    const char *labels = sw_req_param(req, "labelSelector");
    const char *fields = sw_req_param(req, "fieldSelector");
    int rc = 0;
    SW_ERR(err);
    *out = (struct sw_filter){ 0 };
    if (labels && labels[0]) {
        out->labels = sw_zalloc(1, sizeof *out->labels);
        if (sw_selector_parse(labels, out->labels, &err) < 0)
            rc = sw_status_bad_request(status, "unable to parse requirement: %s",
                                       sw_err_text(&err));
    }
    if (rc == 0 && fields && fields[0])
        rc = parse_fields(req, out, fields, status);
    if (rc < 0)
        sw_filter_done(out);
    return rc;
}

/* ---- pages --------------------------------------------------------------------------------------
 */

struct page {
    struct sw_req *req;
    struct sw_filter filter;
    uint64_t rv;                 /* resourceVersion of the list */
    char *after_ns, *after_name; /* NULL: from the start */
    size_t limit;                /* 0: none */
    struct sw_version **found;   /* counted */
    size_t n, cap;
    size_t n_left; /* matching objects after the page */
    char *last_ns, *last_name;
};

static int read_token(struct page *p, const char *token, struct sw_status *status)
{
    SW_AUTO_JSON *doc = NULL;
    size_t len = 0;
    SW_AUTO_CHARS *text = sw_base64_decode(token, strlen(token), &len);
    if (!text || sw_json_parse(text, len, NULL, &doc, NULL) < 0 ||
        !sw_json_str(doc, "", "name", NULL)[0])
        return sw_status_bad_request(status, "continue key is not valid: %s", token);
    p->rv = (uint64_t)sw_json_int(doc, 0, "rv", NULL);
    p->after_ns = sw_strdup(sw_json_str(doc, "", "ns", NULL));
    p->after_name = sw_strdup(sw_json_str(doc, "", "name", NULL));
    return 0;
}

static int plan_page(struct page *p, struct sw_status *status)
{
    struct sw_req *req = p->req;
    const char *limit = sw_req_param(req, "limit"), *token = sw_req_param(req, "continue");
    const char *rv = sw_req_param(req, "resourceVersion");
    const char *match = sw_req_param(req, "resourceVersionMatch");
    uint64_t now = sw_store_version(req->store), given = rv ? strtoull(rv, NULL, 10) : 0;
    p->limit = limit ? strtoul(limit, NULL, 10) : 0;
    p->rv = now;
    if (token && token[0])
        return read_token(p, token, status);
    if (given > now) {
        int rc = sw_status_set(
            status, 504, "Timeout",
            "Timeout: Too large resource version: %" PRIu64 ", current: %" PRIu64, given, now);
        sw_status_cause(status, "ResourceVersionTooLarge", "Too large resource version", NULL);
        sw_json_set(status->details, json_object_new_int(1), "retryAfterSeconds", NULL);
        return rc;
    }
    const struct sw_shelf *shelf = sw_store_shelf(req->kind);
    if (given && sw_streq(match, "Exact"))
        p->rv = given;
    else if (req->fault.type == SW_FAULT_STALE && shelf &&
             shelf->changed > sw_store_first_version(req->store) &&
             shelf->changed - 1 >= shelf->compacted && shelf->changed - 1 >= req->kind->since &&
             shelf->changed - 1 >= given)
        p->rv = shelf->changed - 1;
    return 0;
}

/* ---- collecting ---------------------------------------------------------------------------------
 */

static void add_found(struct page *p, struct sw_version *v, const char *ns, const char *name)
{
    if (p->limit && p->n == p->limit) {
        p->n_left++;
        return;
    }
    SW_GROW(p->found, p->n, p->cap);
    p->found[p->n++] = sw_version_ref(v);
    if (p->limit && p->n == p->limit) {
        p->last_ns = sw_strdup(ns);
        p->last_name = sw_strdup(name);
    }
}

static bool has_filter(const struct page *p)
{
    return p->filter.labels || p->filter.fields;
}

static bool is_after(const struct page *p, const char *ns, const char *name)
{
    if (!p->after_name)
        return true;
    int order = strcmp(ns, p->after_ns);
    return order > 0 || (order == 0 && strcmp(name, p->after_name) > 0);
}

/* The name that a field selector requires; NULL: none. */
static const char *wanted_name(const struct page *p)
{
    const struct sw_selector *fields = p->filter.fields;
    for (size_t i = 0; fields && i < fields->n_reqs; i++)
        if (fields->reqs[i].op == SW_SEL_EQUALS &&
            strcmp(fields->reqs[i].key, "metadata.name") == 0)
            return fields->reqs[i].values[0];
    return NULL;
}

/* The objects as they are now. They are sorted: binary search finds a namespace, a name, a page. */
static void collect_now(struct page *p)
{
    const struct sw_shelf *shelf = sw_store_shelf(p->req->kind);
    const char *ns = p->req->ns ? p->req->ns : "";
    const char *name = p->req->ns || !p->req->kind->namespaced ? wanted_name(p) : NULL;
    if (name) {
        struct sw_object *one = sw_store_object(p->req->store, p->req->kind, ns, name);
        if (one && is_after(p, ns, name) && sw_filter_matches(&p->filter, one->now->doc))
            add_found(p, one->now, ns, name);
        return;
    }
    size_t i = !shelf          ? 0
               : p->after_name ? sw_shelf_seek(shelf, p->after_ns, p->after_name)
                               : sw_shelf_seek(shelf, ns, "");
    for (; shelf && i < shelf->n; i++) {
        const struct sw_object *object = shelf->objects[i];
        if (ns[0] && strcmp(object->ns, ns) != 0)
            break;
        if (!is_after(p, object->ns, object->name) ||
            !sw_filter_matches(&p->filter, object->now->doc))
            continue;
        if (p->limit && p->n == p->limit && !has_filter(p) && !ns[0]) {
            p->n_left = shelf->n - i; /* all others match */
            break;
        }
        add_found(p, object->now, object->ns, object->name);
    }
}

/* The objects as they were at p->rv. */
static int collect_past(struct page *p, struct sw_status *status)
{
    struct sw_snapshot past;
    if (sw_history_snapshot(p->req->store, p->req->kind, p->rv, &past) < 0)
        return sw_status_set(status, 410, "Expired",
                             "The provided continue parameter is too old to display a consistent "
                             "list result. You must start a new list without the continue "
                             "parameter.");
    for (size_t i = 0; i < past.n; i++) {
        json_object *doc = past.items[i].version->doc;
        const char *ns = sw_obj_namespace(doc), *name = sw_obj_name(doc);
        if ((!p->req->ns || strcmp(ns, p->req->ns) == 0) && is_after(p, ns, name) &&
            sw_filter_matches(&p->filter, doc))
            add_found(p, past.items[i].version, ns, name);
    }
    sw_snapshot_done(&past);
    return 0;
}

/* ---- the answer ---------------------------------------------------------------------------------
 */

static json_object *list_meta(const struct page *p)
{
    SW_AUTO_CHARS *rv = sw_printf("%" PRIu64, p->rv);
    if (p->n_left == 0)
        return sw_doc_new("resourceVersion", sw_str(rv), NULL);
    SW_AUTO_JSON *token = sw_doc_new("v", sw_str("meta.k8s.io/v1"), "rv", sw_int((int64_t)p->rv),
                                     "ns", sw_str(p->last_ns), "name", sw_str(p->last_name), NULL);
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(token, SW_JSON_PLAIN, &len);
    SW_AUTO_CHARS *base64 = sw_base64_encode(text, len, &len);
    return sw_doc_new("resourceVersion", sw_str(rv), "continue", sw_str(base64),
                      "remainingItemCount", has_filter(p) ? NULL : sw_int((int64_t)p->n_left),
                      NULL);
}

static void send_json(struct page *p)
{
    struct sw_req *req = p->req;
    struct printbuf *out = printbuf_new();
    SW_AUTO_CHARS *api_version = sw_kind_api_version(req->kind, req->version);
    SW_AUTO_JSON *meta = list_meta(p);
    SW_AUTO_CHARS *meta_text = sw_json_text(meta, SW_JSON_PLAIN, NULL);
    sprintbuf(out, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":%s,\"items\":[",
              req->kind->list_kind, api_version, meta_text);
    for (size_t i = 0; i < p->n; i++) {
        if (i)
            printbuf_memappend_fast(out, ",", 1);
        sw_render(req, p->found[i], false, out);
    }
    printbuf_strappend(out, "]}\n");
    sw_rest_send(req, 200, "application/json", out->buf, (size_t)out->bpos);
    printbuf_free(out);
}

/* The list in a representation other than JSON. */
static json_object *list_doc(struct page *p)
{
    struct sw_req *req = p->req;
    bool partial = req->form == SW_FORM_PARTIAL;
    SW_AUTO_CHARS *api_version = sw_kind_api_version(req->kind, req->version);
    json_object *items = json_object_new_array();
    json_object *list = req->form == SW_FORM_TABLE ? sw_table_new(req, list_meta(p))
                                                   : sw_doc_new("metadata", list_meta(p), NULL);
    for (size_t i = 0; i < p->n; i++) {
        json_object *doc = p->found[i]->doc;
        if (req->form == SW_FORM_TABLE)
            sw_table_add(req, list, doc);
        else
            json_object_array_add(
                items, partial ? sw_table_partial(doc)
                               : sw_rest_to_version(req->kind, req->version, SW_TAKE(doc)));
    }
    if (req->form == SW_FORM_TABLE) {
        json_object_put(items);
        return list;
    }
    sw_json_set_str(list, partial ? "PartialObjectMetadataList" : req->kind->list_kind, "kind",
                    NULL);
    sw_json_set_str(list, partial ? "meta.k8s.io/v1" : api_version, "apiVersion", NULL);
    sw_json_set(list, items, "items", NULL);
    return list;
}

void sw_rest_list(struct sw_req *req)
{
    SW_STATUS(status);
    struct page p = { .req = req };
    int rc = sw_rest_filter(req, &p.filter, &status);
    if (rc == 0)
        rc = plan_page(&p, &status);
    const struct sw_shelf *shelf = sw_store_shelf(req->kind);
    if (rc == 0 && (p.rv < req->kind->since || (shelf && shelf->changed > p.rv)))
        rc = collect_past(&p, &status);
    else if (rc == 0)
        collect_now(&p);
    if (rc < 0)
        sw_rest_send_status(req, &status);
    else if (req->form == SW_FORM_JSON)
        send_json(&p);
    else
        sw_rest_send_doc(req, 200, list_doc(&p));
    sw_filter_done(&p.filter);
    for (size_t i = 0; i < p.n; i++)
        sw_version_unref(p.found[i]);
    free(p.found);
    free(p.after_ns);
    free(p.after_name);
    free(p.last_ns);
    free(p.last_name);
}
