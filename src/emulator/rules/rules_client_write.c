/* rules_client_write: writes of rules as requests, one at a time for each object: after the answer
 * the rules decide again about a second one. */
#include "emulator/rules/rules_client_internal.h"

#include <json-c/json.h>
#include <stdlib.h>

enum { PAUSE_FIRST_MS = 250, PAUSE_CAP_MS = 30000 };

static void write_free(struct write *w)
{
    *w->link = w->next;
    if (w->next)
        w->next->link = w->link;
    sw_kube_cancel(w->req);
    sw_timer_free(w->pause);
    json_object_put(w->doc);
    free(w->key);
    free(w);
}

void rules_client_drop_writes(struct sw_rules_client *self)
{
    while (self->writes)
        write_free(SW_LINKED(self->writes));
}

/* Report the object as changed, so that the rules decide again about it. */
static void check_again(struct write *w)
{
    json_object *doc = json_object_get(rules_row_find(w->row, w->key));
    if (doc)
        sw_rules_changed(w->row->self->rules, doc, doc);
    else if (w->doc)
        sw_rules_changed(w->row->self->rules, w->doc, NULL);
    sw_rules_served(w->row->self->rules); /* it may be an object of the start */
    json_object_put(doc);
}

static void on_pause_over(void *arg)
{
    struct write *w = arg;
    w->again = false;
    check_again(w); /* the write stays until it succeeds: it counts the failures */
}

static void log_write(const struct write *w, const struct sw_kube_answer *a)
{
    if (a->code < 0)
        sw_log(SW_LOG_WARN, "rules: refused", "verb", w->verb, "kind", w->row->key, "object",
               w->key, "error", sw_err_text(a->err), NULL);
    else
        sw_log(SW_LOG_INFO, "rules", "verb", w->verb, "kind", w->row->key, "object", w->key, NULL);
}

static void on_answer(const struct sw_kube_answer *a, void *arg)
{
    struct write *w = arg;
    w->req = NULL;
    bool is_delete = sw_streq(w->verb, "delete") || sw_streq(w->verb, "evict");
    /* the object is newer than what the rules have decided on: the watch will report it */
    bool overtaken = a->code == SW_CONFLICT || (a->code == SW_NOTFOUND && is_delete);
    if (a->code == 0 || (overtaken && is_delete)) {
        log_write(w, a);
        uint64_t version = rules_version_of(a->object);
        if (!is_delete && version > w->row->newest &&
            version > rules_version_of(rules_row_find(w->row, w->key))) {
            /* newer than what the watch has reported: the rules must not decide on the old state */
            (void)sw_json_del(a->object, "metadata", "managedFields", NULL);
            rules_row_put(w->row, w->key, a->object);
        }
        if (w->again || w->doc)
            check_again(w);
        write_free(w);
        return;
    }
    w->n_failures += !overtaken;
    /* its namespace may be about to be created: log the third failure */
    if (!overtaken && w->n_failures == (a->code == SW_NOTFOUND ? 3 : 1))
        log_write(w, a);
    int64_t pause_ms = PAUSE_FIRST_MS;
    for (int i = 1; i < w->n_failures && pause_ms < PAUSE_CAP_MS; i++)
        pause_ms *= 2;
    if (!w->pause)
        w->pause = sw_timer_new(w->row->self->loop, on_pause_over, w);
    sw_timer_set(w->pause, pause_ms < PAUSE_CAP_MS ? pause_ms : PAUSE_CAP_MS);
}

/* @return NULL: a write of the object is in progress, or pauses after a failure */
static struct write *write_new(struct sw_rules_client *self, struct row *row, const char *verb,
                               const char *ns, const char *name)
{
    SW_AUTO_CHARS *key = sw_printf("%s/%s", ns ? ns : "", name);
    struct write *w = self->writes;
    while (w && (w->row != row || !sw_streq(w->key, key)))
        w = w->next;
    if (w && (w->req || (w->pause && sw_timer_is_set(w->pause)))) {
        w->again = true;
        return NULL;
    }
    if (!w) {
        w = sw_zalloc(1, sizeof *w);
        *w = (struct write){ .next = self->writes, .link = &self->writes, .row = row };
        w->key = SW_TAKE(key);
        if (w->next)
            w->next->link = &w->next;
        self->writes = w;
    }
    w->verb = verb;
    w->again = false;
    json_object_put(SW_TAKE(w->doc));
    return w;
}

/* @return 0 and the row of a served kind | SW_NOTFOUND */
static int served_row(struct sw_rules_client *self, const char *api_version, const char *kind,
                      struct row **out, struct sw_err *err)
{
    *out = rules_row(self, api_version, kind);
    return (*out)->kind ? 0 : sw_err_set(err, SW_NOTFOUND, "the kind is not served");
}

/* The namespace for a request; NULL: none. */
static const char *ns_of(const struct row *row, const char *ns)
{
    return row->kind->namespaced && ns && *ns ? ns : NULL;
}

int rules_client_create(void *arg, json_object *doc, struct sw_err *err)
{
    struct sw_rules_client *self = arg;
    struct row *row = NULL;
    int rc = served_row(self, sw_obj_api_version(doc), sw_obj_kind(doc), &row, err);
    if (rc < 0)
        return rc;
    const char *ns = ns_of(row, sw_obj_namespace(doc));
    struct write *w = write_new(self, row, "create", ns, sw_obj_name(doc));
    if (!w)
        return 0;
    w->doc = sw_json_copy(doc);
    sw_json_set_str(w->doc, row->kind->api_version, "apiVersion", NULL);
    w->req = sw_kube_create(self->kube, row->kind, ns, NULL, w->doc, NULL, on_answer, w);
    return 0;
}

int rules_client_patch(void *arg, const struct sw_rules_ref *ref, bool status, json_object *patch,
                       struct sw_err *err)
{
    struct sw_rules_client *self = arg;
    struct row *row = NULL;
    int rc = served_row(self, ref->api_version, ref->kind, &row, err);
    if (rc < 0)
        return rc;
    const char *ns = ns_of(row, ref->ns);
    bool to_status = status && row->kind->has_status;
    struct write *w = write_new(self, row, to_status ? "patch status" : "patch", ns, ref->name);
    if (w)
        w->req = sw_kube_patch(
            self->kube, row->kind, ns, ref->name, SW_PATCH_MERGE, patch,
            &(struct sw_request_opts){ .subresource = to_status ? "status" : NULL }, on_answer, w);
    return 0;
}

/* Kubernetes 1.22 to 1.24 take both versions of the subresource, older servers v1beta1 alone. */
static struct sw_kube_request *evict(struct write *w, const char *ns, const char *name)
{
    struct sw_kube *kube = w->row->self->kube;
    SW_AUTO_JSON *body = json_object_new_object();
    bool is_old = sw_kube_kind_find(kube, "policy/v1beta1", "PodDisruptionBudget");
    sw_json_set_str(body, is_old ? "policy/v1beta1" : "policy/v1", "apiVersion", NULL);
    sw_json_set_str(body, "Eviction", "kind", NULL);
    sw_json_set_str(body, name, "metadata", "name", NULL);
    sw_json_set_str(body, ns, "metadata", "namespace", NULL);
    return sw_kube_create(kube, w->row->kind, ns, name, body,
                          &(struct sw_request_opts){ .subresource = "eviction" }, on_answer, w);
}

int rules_client_remove(void *arg, const struct sw_rules_ref *ref, enum sw_rules_removal how,
                        struct sw_err *err)
{
    struct sw_rules_client *self = arg;
    struct row *row = NULL;
    int rc = served_row(self, ref->api_version, ref->kind, &row, err);
    if (rc == SW_NOTFOUND) {
        sw_err_done(err);
        return 0;
    }
    const char *ns = ns_of(row, ref->ns);
    bool evicts = how == SW_RULES_EVICT, now = how == SW_RULES_DELETE_NOW;
    struct write *w = write_new(self, row, evicts ? "evict" : "delete", ns, ref->name);
    if (w && evicts)
        w->req = evict(w, ns, ref->name);
    else if (w)
        w->req = sw_kube_delete(self->kube, row->kind, ns, ref->name,
                                &(struct sw_request_opts){ .grace_period_s = now ? -1 : 0 },
                                on_answer, w);
    return 0;
}
