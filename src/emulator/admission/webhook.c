/* webhook: whom to ask, in which order, and what their answers do. */
#include "emulator/admission/webhook.h"

#include <ctype.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "data/text/base64.h"
#include "emulator/store/status.h"

#define GROUP "admissionregistration.k8s.io"

/* ---- addresses ----------------------------------------------------------------------------------
 */

int sw_webhook_address(struct sw_store *store, const char *text, struct sw_err *err)
{
    const char *slash = strchr(text, '/'), *equals = strchr(text, '=');
    const char *colon = equals ? strrchr(equals, ':') : NULL;
    bool fits = slash && slash != text && equals && slash < equals && equals > slash + 1 && colon &&
                colon > equals + 1 && isdigit((unsigned char)colon[1]) &&
                strspn(colon + 1, "0123456789") == strlen(colon + 1) &&
                strtol(colon + 1, NULL, 10) <= UINT16_MAX;
    if (!fits)
        return sw_err_set(err, SW_INVALID,
                          "'%s' is no webhook's address: expected NAMESPACE/SERVICE=HOST:PORT",
                          text);
    SW_AUTO_CHARS *service = sw_strndup(text, (size_t)(equals - text));
    sw_store_set_webhook_address(store, service, equals + 1);
    return 0;
}

static json_object *get(struct sw_write *w, const char *group, const char *kind, const char *ns,
                        const char *name)
{
    const struct sw_emu_kind *k = sw_store_kind(w->store, group, kind);
    return k ? sw_store_get(w->store, k, ns, name) : NULL;
}

static bool has_ready_pod(struct sw_write *w, const char *ns, const char *name)
{
    json_object *subsets = sw_json_get(get(w, "", "Endpoints", ns, name), "subsets");
    for (size_t i = 0; i < sw_json_len(subsets); i++)
        if (sw_json_len(sw_json_get(sw_json_at(subsets, i), "addresses")))
            return true;
    return false;
}

enum way { WAY_CALL, WAY_ADMIT, WAY_NONE };

/* Where it is called: the address given for its service, else what its emulated pods can do. */
static enum way find_way(struct sw_write *w, struct hook *hook, struct sw_err *err)
{
    json_object *config = sw_json_get(hook->doc, "clientConfig");
    const char *url = sw_json_str(config, NULL, "url", NULL);
    if (url) {
        hook->where = sw_printf("%s%stimeout=%ds", url, strchr(url, '?') ? "&" : "?",
                                hook->timeout_s);
        return WAY_CALL;
    }
    const char *ns = sw_json_str(config, "", "service", "namespace", NULL);
    const char *name = sw_json_str(config, "", "service", "name", NULL);
    const char *path = sw_json_str(config, "/", "service", "path", NULL);
    SW_AUTO_CHARS *key = sw_printf("%s/%s", ns, name);
    json_object *service = get(w, "", "Service", ns, name);
    hook->where = sw_printf("https://%s.%s.svc:%d%s?timeout=%ds", name, ns,
                            (int)sw_json_int(config, 443, "service", "port", NULL), path,
                            hook->timeout_s);
    hook->address = sw_store_webhook_address(w->store, key);
    if (!hook->address)
        hook->address = sw_json_str(service, NULL, "metadata", "annotations", SW_WEBHOOK_ADDRESS,
                                    NULL);
    if (hook->address)
        return WAY_CALL;
    if (!service)
        (void)sw_err_set(err, SW_UNAVAILABLE, "Post \"%s\": service \"%s\" not found", hook->where,
                         name);
    else if (!has_ready_pod(w, ns, name))
        (void)sw_err_set(err, SW_UNAVAILABLE,
                         "Post \"%s\": no endpoints available for service \"%s\"", hook->where,
                         name);
    return service && has_ready_pod(w, ns, name) ? WAY_ADMIT : WAY_NONE;
}

/* ---- the question -------------------------------------------------------------------------------
 */

static json_object *gvk(const char *group, const char *version, const char *key, const char *name)
{
    json_object *out = json_object_new_object();
    sw_json_set_str(out, group, "group", NULL);
    sw_json_set_str(out, version, "version", NULL);
    sw_json_set_str(out, name, key, NULL);
    return out;
}

static json_object *user_of(const struct sw_write *w)
{
    bool outside = w->opts->session != NULL;
    json_object *user = json_object_new_object(), *groups = json_object_new_array();
    SW_AUTO_CHARS *own = sw_printf("system:serviceaccount:kube-system:%s", sw_write_manager(w));
    sw_json_set_str(user, outside ? "admin" : own, "username", NULL);
    json_object_array_add(
        groups, json_object_new_string(outside ? "system:masters" : "system:serviceaccounts"));
    json_object_array_add(groups, json_object_new_string("system:authenticated"));
    json_object_object_add(user, "groups", groups);
    return user;
}

/* The `request` of a review; without its uid, which is another one for each call. */
static json_object *request_of(struct sw_write *w)
{
    static const struct {
        const char *operation, *options;
    } ops[] = { [SW_OP_CREATE] = { "CREATE", "CreateOptions" },
                [SW_OP_UPDATE] = { "UPDATE", "UpdateOptions" },
                [SW_OP_DELETE] = { "DELETE", "DeleteOptions" } };
    json_object *r = json_object_new_object();
    const char *version = w->opts->version ? w->opts->version : w->kind->versions[0];
    bool is_delete = w->op == SW_OP_DELETE;
    json_object_object_add(r, "kind", gvk(w->kind->group, version, "kind", w->kind->kind));
    json_object_object_add(r, "resource",
                           gvk(w->kind->group, version, "resource", w->kind->plural));
    json_object_object_add(r, "requestKind", json_object_get(sw_json_get(r, "kind")));
    json_object_object_add(r, "requestResource", json_object_get(sw_json_get(r, "resource")));
    if (w->subresource) {
        sw_json_set_str(r, w->subresource, "subResource", NULL);
        sw_json_set_str(r, w->subresource, "requestSubResource", NULL);
    }
    if (*w->name)
        sw_json_set_str(r, w->name, "name", NULL);
    if (*w->ns)
        sw_json_set_str(r, w->ns, "namespace", NULL);
    sw_json_set_str(r, ops[w->op].operation, "operation", NULL);
    json_object_object_add(r, "userInfo", user_of(w));
    json_object_object_add(r, "object", is_delete ? NULL : json_object_get(w->doc));
    json_object_object_add(r, "oldObject", w->op == SW_OP_CREATE ? NULL : json_object_get(w->old));
    json_object_object_add(r, "dryRun", json_object_new_boolean(w->opts->dry_run));
    sw_json_set_str(r, ops[w->op].options, "options", "kind", NULL);
    sw_json_set_str(r, "meta.k8s.io/v1", "options", "apiVersion", NULL);
    return r;
}

/* Of what the webhook understands, what we know. */
static const char *review_version(const struct hook *hook)
{
    json_object *list = sw_json_get(hook->doc, "admissionReviewVersions");
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *version = json_object_get_string(sw_json_at(list, i));
        if (sw_streq(version, "v1"))
            return "admission.k8s.io/v1";
        if (sw_streq(version, "v1beta1"))
            return "admission.k8s.io/v1beta1";
    }
    return NULL;
}

/* ---- the answer ---------------------------------------------------------------------------------
 */

/* It could not be asked, or answered nonsense: its failurePolicy decides. */
static int failed(struct sw_write *w, const struct hook *hook, const char *message)
{
    if (sw_streq(sw_json_str(hook->doc, "Fail", "failurePolicy", NULL), "Ignore"))
        return 0;
    return sw_status_set(w->status, 500, "InternalError",
                         "Internal error occurred: failed calling webhook \"%s\": %s%s", hook->name,
                         sw_store_minor(w->store) >= 22 ? "failed to call webhook: " : "", message);
}

static int refused(struct sw_write *w, const struct hook *hook, json_object *response)
{
    json_object *st = sw_json_get(response, "status");
    const char *message = sw_json_str(st, "", "message", NULL);
    const char *reason = sw_json_str(st, "", "reason", NULL);
    int64_t code = sw_json_int(st, 400, "code", NULL);
    const char *why = *message ? message : reason;
    return sw_status_set(w->status, code < 400 || code > 599 ? 400 : (int)code, reason,
                         "admission webhook \"%s\" denied the request%s%s", hook->name,
                         *why ? ": " : " without explanation", why);
}

static void keep_warnings(struct sw_write *w, json_object *list)
{
    for (size_t i = 0; w->status && i < sw_json_len(list); i++) {
        char *had = w->status->warnings;
        w->status->warnings = sw_printf("%s%s%s", had ? had : "", had ? "\n" : "",
                                        json_object_get_string(sw_json_at(list, i)));
        free(had);
    }
}

static int take_patch(struct sw_write *w, const struct hook *hook, json_object *response)
{
    const char *text = sw_json_str(response, "", "patch", NULL);
    size_t len = 0;
    SW_ERR(err);
    json_object *patch = NULL, *doc = NULL;
    if (!*text)
        return 0;
    SW_AUTO_CHARS *json = sw_base64_decode(text, strlen(text), &len);
    int rc = json ? sw_json_parse(json, len, NULL, &patch, &err)
                  : sw_err_set(&err, SW_INVALID, "its patch is no base64");
    if (rc == 0 && !sw_streq(sw_json_str(response, "", "patchType", NULL), "JSONPatch"))
        rc = sw_err_set(&err, SW_INVALID, "invalid patchType: expected JSONPatch");
    if (rc == 0)
        rc = sw_jsonpatch_apply(w->doc, patch, &doc, &err);
    json_object_put(patch);
    if (rc < 0)
        return failed(w, hook, sw_err_text(&err));
    if (w->redecode)
        return w->redecode(w, doc);
    json_object_put(doc); /* a deletion changes nothing in the object */
    return 0;
}

/* @uid: of the question; an answer to another one is none. */
static int take_answer(struct sw_write *w, const struct hook *hook, const struct outcome *o,
                       const char *uid)
{
    if (o->code < 0)
        return failed(w, hook, o->message);
    if (!sw_streq(sw_json_str(o->response, "", "uid", NULL), uid))
        return failed(w, hook, "expected response.uid to be that of the request");
    keep_warnings(w, sw_json_get(o->response, "warnings"));
    if (!sw_json_bool(o->response, false, "allowed", NULL))
        return refused(w, hook, o->response);
    return hook->mutating ? take_patch(w, hook, o->response) : 0;
}

/* ---- one webhook --------------------------------------------------------------------------------
 */

static int call(struct sw_write *w, struct hook *hook, json_object *request)
{
    const char *version = review_version(hook);
    struct outcome own = { 0 }, *o = &own;
    if (!version)
        return failed(w, hook, "it understands no version of AdmissionReview that is known here");
    char uid[37];
    json_object *review = json_object_new_object();
    sw_json_set_str(review, "AdmissionReview", "kind", NULL);
    sw_json_set_str(review, version, "apiVersion", NULL);
    sw_json_set_str(request, sw_store_uid(w->store, uid), "uid", NULL);
    json_object_object_add(review, "request", json_object_get(request));
    int rc = sw_webhook_ask(w, hook, review, &own, &o);
    json_object_put(review);
    if (rc == 0)
        rc = take_answer(w, hook, o, uid);
    sw_outcome_done(&own);
    return rc;
}

static int ask(struct sw_write *w, struct hook *hook)
{
    SW_ERR(err);
    json_object *request = request_of(w);
    int rc = sw_webhook_matches(w, hook->doc, request, &err);
    if (rc < 0) {
        rc = failed(w, hook, sw_err_text(&err));
    } else if (rc == 1) {
        const char *effects = sw_json_str(hook->doc, "", "sideEffects", NULL);
        bool dry = sw_streq(effects, "None") || sw_streq(effects, "NoneOnDryRun");
        enum way way = find_way(w, hook, &err);
        if (w->opts->dry_run && !dry)
            rc = sw_status_bad_request(
                w->status, "admission webhook \"%s\" does not support dry run", hook->name);
        else
            rc = way == WAY_CALL    ? call(w, hook, request)
                 : way == WAY_ADMIT ? 0
                                    : failed(w, hook, sw_err_text(&err));
    }
    json_object_put(request);
    free(SW_TAKE(hook->where));
    return rc;
}

static struct hook hook_of(json_object *doc, bool mutating)
{
    return (struct hook){ .doc = doc,
                          .name = sw_json_str(doc, "", "name", NULL),
                          .mutating = mutating,
                          .timeout_s = (int)sw_json_int(doc, 10, "timeoutSeconds", NULL) };
}

/* ---- all of them --------------------------------------------------------------------------------
 */

static const struct sw_emu_kind *config_kind(struct sw_store *store, bool mutating)
{
    return sw_store_kind(
        store, GROUP, mutating ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration");
}

static bool has_any(struct sw_store *store, bool mutating)
{
    const struct sw_emu_kind *kind = config_kind(store, mutating);
    return kind && sw_store_count(store, kind, NULL) > 0;
}

bool sw_webhooks_exist(struct sw_store *store)
{
    return has_any(store, true) || has_any(store, false);
}

/* Their own configurations must stay mendable, and questions are not stored. */
static bool is_exempt(const struct sw_write *w)
{
    return sw_write_is(w, GROUP, "MutatingWebhookConfiguration") ||
           sw_write_is(w, GROUP, "ValidatingWebhookConfiguration");
}

/* Every webhook in the order of their configurations' names; one that wants to be asked again
 * (reinvocationPolicy) is, once, where another changed the object after it. */
static int ask_all(struct sw_write *w, bool mutating)
{
    SW_STORE_LIST(list);
    const struct sw_emu_kind *kind = config_kind(w->store, mutating);
    int rc = 0;
    if (!kind || is_exempt(w))
        return 0;
    sw_store_list(w->store, kind, NULL, &list);
    json_object *before = json_object_new_array(); /* what each left behind, in their order */
    for (int round = 0; rc == 0 && round < (mutating ? 2 : 1); round++) {
        size_t n = 0;
        for (size_t i = 0; rc == 0 && i < list.n; i++) {
            json_object *hooks = sw_json_get(list.items[i], "webhooks");
            for (size_t k = 0; rc == 0 && k < sw_json_len(hooks); k++, n++) {
                struct hook hook = hook_of(sw_json_at(hooks, k), mutating);
                bool again = sw_streq(sw_json_str(hook.doc, "Never", "reinvocationPolicy", NULL),
                                      "IfNeeded") &&
                             !sw_json_equal(sw_json_at(before, n), w->doc);
                if (round == 0 || again)
                    rc = ask(w, &hook);
                if (round == 0 && mutating)
                    json_object_array_add(before, json_object_get(w->doc));
            }
        }
    }
    json_object_put(before);
    return rc;
}

int sw_webhooks_mutate(struct sw_write *w)
{
    return has_any(w->store, true) ? ask_all(w, true) : 0;
}

int sw_webhooks_validate(struct sw_write *w)
{
    return has_any(w->store, false) ? ask_all(w, false) : 0;
}
