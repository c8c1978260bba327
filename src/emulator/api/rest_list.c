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
#include "emulator/store/status.h"

void sw_rest_get(struct sw_req *req)
{
    struct sw_object *object = sw_store_object(req->store, req->kind, req->ns, req->name);
    if (!object) {
        SW_STATUS(status);
        (void)sw_status_not_found(&status, req->kind, req->name);
        sw_rest_send_status(req, &status);
    } else if (req->form == SW_FORM_JSON) {
        struct printbuf *out = printbuf_new();
        sw_render(req, object->now, true, out);
        printbuf_memappend_fast(out, "\n", 1);
        sw_rest_send(req, 200, "application/json", out->buf, (size_t)out->bpos);
        printbuf_free(out);
    } else {
        sw_rest_send_object(req, 200, object->now->doc);
    }
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

static int parse_labels(struct sw_filter *filter, const char *text, struct sw_status *status)
{
    SW_ERR(err);
    filter->labels = sw_zalloc(1, sizeof *filter->labels);
    if (sw_selector_parse(text, filter->labels, &err) < 0)
        return sw_status_bad_request(status, "unable to parse requirement: %s", sw_err_text(&err));
    return 0;
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
    *out = (struct sw_filter){ 0 };
    int rc = labels && labels[0] ? parse_labels(out, labels, status) : 0;
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
    uint64_t rv;                 /* that the list shows */
    char *after_ns, *after_name; /* NULL: from the start */
    size_t limit;                /* 0: none */
    struct sw_version **found;   /* counted */
    size_t n, cap;
    size_t n_left; /* matching ones behind the page */
    char *last_ns, *last_name;
};

static void page_done(struct page *p)
{
    sw_filter_done(&p->filter);
    for (size_t i = 0; i < p->n; i++)
        sw_version_unref(p->found[i]);
    free(p->found);
    free(p->after_ns);
    free(p->after_name);
    free(p->last_ns);
    free(p->last_name);
}

static char *make_token(const struct page *p)
{
    json_object *doc = json_object_new_object();
    sw_json_set_str(doc, "meta.k8s.io/v1", "v", NULL);
    sw_json_set(doc, json_object_new_int64((int64_t)p->rv), "rv", NULL);
    sw_json_set_str(doc, p->last_ns, "ns", NULL);
    sw_json_set_str(doc, p->last_name, "name", NULL);
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, &len);
    json_object_put(doc);
    return sw_base64_encode(text, len, &len);
}

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

static int too_large_version(uint64_t wanted, uint64_t now, struct sw_status *status)
{
    int rc = sw_status_set(status, 504, "Timeout",
                           "Timeout: Too large resource version: %" PRIu64 ", current: %" PRIu64,
                           wanted, now);
    sw_status_cause(status, "ResourceVersionTooLarge", "Too large resource version", NULL);
    sw_json_set(status->details, json_object_new_int(1), "retryAfterSeconds", NULL);
    return rc;
}

static int plan_page(struct page *p, struct sw_status *status)
{
    struct sw_req *req = p->req;
    const char *limit = sw_req_param(req, "limit"), *token = sw_req_param(req, "continue");
    const char *rv = sw_req_param(req, "resourceVersion");
    const char *match = sw_req_param(req, "resourceVersionMatch");
    uint64_t now = sw_store_version(req->store), asked = rv ? strtoull(rv, NULL, 10) : 0;
    p->limit = limit ? strtoul(limit, NULL, 10) : 0;
    p->rv = now;
    if (token && token[0])
        return read_token(p, token, status);
    if (asked > now)
        return too_large_version(asked, now, status);
    const struct sw_shelf *shelf = sw_store_shelf(req->kind);
    if (asked && sw_streq(match, "Exact"))
        p->rv = asked;
    else if (req->fault.type == SW_FAULT_STALE && shelf &&
             shelf->changed > sw_store_first_version(req->store) &&
             shelf->changed - 1 >= shelf->compacted && shelf->changed - 1 >= asked)
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

/* The one name that a field selector asks for, NULL: it does not. */
static const char *wanted_name(const struct page *p)
{
    const struct sw_selector *fields = p->filter.fields;
    for (size_t i = 0; fields && i < fields->n_reqs; i++)
        if (fields->reqs[i].op == SW_SEL_EQUALS &&
            strcmp(fields->reqs[i].key, "metadata.name") == 0)
            return fields->reqs[i].values[0];
    return NULL;
}

/* As it is now. The objects are sorted, so a namespace, a name or a page is found by halving. */
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
            p->n_left = shelf->n - i; /* no need to look at each */
            break;
        }
        add_found(p, object->now, object->ns, object->name);
    }
}

/* As it was at p->rv. */
static int collect_past(struct page *p, struct sw_status *status)
{
    struct sw_snapshot past;
    if (sw_history_snapshot(p->req->store, p->req->kind, p->rv, &past) < 0)
        return sw_status_set(status, 410, "Expired",
                             "The provided continue parameter is too old to display a consistent "
                             "list result. You must start a new list without the continue "
                             "parameter.");
    for (size_t i = 0; i < past.n; i++) {
        SW_AUTO_JSON *doc = sw_version_doc(past.items[i].version);
        const char *ns = sw_obj_namespace(doc), *name = sw_obj_name(doc);
        if ((!p->req->ns || strcmp(ns, p->req->ns) == 0) && is_after(p, ns, name) &&
            sw_filter_matches(&p->filter, doc))
            add_found(p, past.items[i].version, ns, name);
    }
    sw_snapshot_done(&past);
    return 0;
}

static int collect(struct page *p, struct sw_status *status)
{
    const struct sw_shelf *shelf = sw_store_shelf(p->req->kind);
    if (shelf && shelf->changed > p->rv)
        return collect_past(p, status);
    collect_now(p);
    return 0;
}

/* ---- the answer ---------------------------------------------------------------------------------
 */

static json_object *list_meta(const struct page *p)
{
    json_object *meta = json_object_new_object();
    SW_AUTO_CHARS *rv = sw_printf("%" PRIu64, p->rv);
    sw_json_set_str(meta, rv, "resourceVersion", NULL);
    if (p->n_left == 0)
        return meta;
    SW_AUTO_CHARS *token = make_token(p);
    sw_json_set_str(meta, token, "continue", NULL);
    if (!has_filter(p))
        sw_json_set(meta, json_object_new_int64((int64_t)p->n_left), "remainingItemCount", NULL);
    return meta;
}

static void send_json(struct page *p)
{
    struct sw_req *req = p->req;
    struct printbuf *out = printbuf_new();
    SW_AUTO_CHARS *api_version = sw_kind_api_version(req->kind, req->version);
    json_object *meta = list_meta(p);
    SW_AUTO_CHARS *meta_text = sw_json_text(meta, SW_JSON_PLAIN, NULL);
    json_object_put(meta);
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

static json_object *partial_list(struct page *p)
{
    json_object *list = json_object_new_object(), *items = json_object_new_array();
    sw_json_set_str(list, "PartialObjectMetadataList", "kind", NULL);
    sw_json_set_str(list, "meta.k8s.io/v1", "apiVersion", NULL);
    sw_json_set(list, list_meta(p), "metadata", NULL);
    for (size_t i = 0; i < p->n; i++) {
        SW_AUTO_JSON *doc = sw_version_doc(p->found[i]);
        json_object_array_add(items, sw_table_partial(doc));
    }
    sw_json_set(list, items, "items", NULL);
    return list;
}

static json_object *plain_list(struct page *p)
{
    json_object *list = json_object_new_object(), *items = json_object_new_array();
    SW_AUTO_CHARS *api_version = sw_kind_api_version(p->req->kind, p->req->version);
    sw_json_set_str(list, api_version, "apiVersion", NULL);
    sw_json_set_str(list, p->req->kind->list_kind, "kind", NULL);
    sw_json_set(list, list_meta(p), "metadata", NULL);
    for (size_t i = 0; i < p->n; i++)
        json_object_array_add(
            items, sw_rest_to_version(p->req->kind, p->req->version, sw_version_doc(p->found[i])));
    sw_json_set(list, items, "items", NULL);
    return list;
}

static json_object *table_list(struct page *p)
{
    json_object *table = sw_table_new(p->req, list_meta(p));
    for (size_t i = 0; i < p->n; i++) {
        SW_AUTO_JSON *doc = sw_version_doc(p->found[i]);
        sw_table_add(p->req, table, doc);
    }
    return table;
}

static void send_page(struct page *p)
{
    switch (p->req->form) {
    case SW_FORM_TABLE:
        sw_rest_send_doc(p->req, 200, table_list(p));
        break;
    case SW_FORM_PARTIAL:
        sw_rest_send_doc(p->req, 200, partial_list(p));
        break;
    case SW_FORM_YAML:
        sw_rest_send_doc(p->req, 200, plain_list(p));
        break;
    default:
        send_json(p);
    }
}

void sw_rest_list(struct sw_req *req)
{
    SW_STATUS(status);
    struct page p = { .req = req };
    int rc = sw_rest_filter(req, &p.filter, &status);
    if (rc == 0)
        rc = plan_page(&p, &status);
    if (rc == 0)
        rc = collect(&p, &status);
    if (rc < 0)
        sw_rest_send_status(req, &status);
    else
        send_page(&p);
    page_done(&p);
}
