/* webhook: which webhooks are called, in which order, and what their answers do. */
#include "emulator/admission/webhook.h"

#include <ctype.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "data/text/base64.h"
#include "emulator/admission/expressions.h"
#include "emulator/admission/policies.h"
#include "emulator/store/document.h"
#include "emulator/store/status.h"

#define GROUP "admissionregistration.k8s.io"

/* The annotation on a Service with the address of its webhooks. */
static const char address_key[] = "emulator.slipway.dev/webhook-address";

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

static json_object *get(struct sw_write *w, const char *kind, const char *ns, const char *name)
{
    return sw_store_get(w->store, sw_store_kind(w->store, "", kind), ns, name);
}

static bool has_ready_pod(struct sw_write *w, const char *ns, const char *name)
{
    json_object *subsets = sw_json_get(get(w, "Endpoints", ns, name), "subsets");
    for (size_t i = 0; i < sw_json_len(subsets); i++)
        if (sw_json_len(sw_json_get(sw_json_at(subsets, i), "addresses")))
            return true;
    return false;
}

enum way { WAY_CALL, WAY_ADMIT, WAY_NONE };

/* How the webhook is called: at its URL, or at the address of its service; without an address its
 * emulated pods admit. Sets hook->where and hook->address, and @err for WAY_NONE. */
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
    json_object *service = get(w, "Service", ns, name);
    hook->where = sw_printf("https://%s.%s.svc:%d%s?timeout=%ds", name, ns,
                            (int)sw_json_int(config, 443, "service", "port", NULL), path,
                            hook->timeout_s);
    hook->address = sw_store_webhook_address(w->store, key);
    if (!hook->address)
        hook->address = sw_obj_annotation(service, address_key);
    if (hook->address)
        return WAY_CALL;
    if (has_ready_pod(w, ns, name) && service)
        return WAY_ADMIT;
    (void)sw_err_set(err, SW_UNAVAILABLE,
                     service ? "Post \"%s\": no endpoints available for service \"%s\""
                             : "Post \"%s\": service \"%s\" not found",
                     hook->where, name);
    return WAY_NONE;
}

/* ---- the review ---------------------------------------------------------------------------------
 */

/* A GroupVersionKind or GroupVersionResource; @key: "kind" or "resource". New. */
static json_object *gvk(const char *group, const char *version, const char *key, const char *name)
{
    return sw_doc_new("group", sw_str(group), "version", sw_str(version), key, sw_str(name), NULL);
}

/* A new string, NULL for "" and NULL. */
static json_object *text_or_null(const char *text)
{
    return text && *text ? sw_str(text) : NULL;
}

/* The new `request` of a review, without its uid, which each call has its own of. */
json_object *sw_admission_request(struct sw_write *w)
{
    static const struct {
        const char *operation, *options;
    } ops[] = { [SW_OP_CREATE] = { "CREATE", "CreateOptions" },
                [SW_OP_UPDATE] = { "UPDATE", "UpdateOptions" },
                [SW_OP_DELETE] = { "DELETE", "DeleteOptions" } };
    const char *version = w->opts->version ? w->opts->version : w->kind->versions[0];
    const char *group = w->kind->group;
    bool outside = w->opts->session != NULL;
    SW_AUTO_CHARS *own = sw_printf("system:serviceaccount:kube-system:%s", sw_write_manager(w));
    json_object *user =
        w->opts->user
            ? json_object_get(w->opts->user)
            : sw_doc_new("username", sw_str(outside ? "admin" : own), "groups",
                         sw_doc_list(sw_str(outside ? "system:masters" : "system:serviceaccounts"),
                                     sw_str("system:authenticated"), NULL),
                         NULL);
    json_object *options = sw_doc_new("kind", sw_str(ops[w->op].options), "apiVersion",
                                      sw_str("meta.k8s.io/v1"), NULL);
    json_object *r = sw_doc_new("kind", gvk(group, version, "kind", w->kind->kind), "resource",
                                gvk(group, version, "resource", w->kind->plural), "requestKind",
                                gvk(group, version, "kind", w->kind->kind), "requestResource",
                                gvk(group, version, "resource", w->kind->plural), "subResource",
                                text_or_null(w->subresource), "requestSubResource",
                                text_or_null(w->subresource), "name", text_or_null(w->name),
                                "namespace", text_or_null(w->ns), "operation",
                                sw_str(ops[w->op].operation), "userInfo", user, "dryRun",
                                sw_bool(w->opts->dry_run), "options", options, NULL);
    /* null where there is none */
    json_object_object_add(r, "object", w->op == SW_OP_DELETE ? NULL : json_object_get(w->doc));
    json_object_object_add(r, "oldObject", w->op == SW_OP_CREATE ? NULL : json_object_get(w->old));
    return r;
}

/* ---- the answer ---------------------------------------------------------------------------------
 */

/* The call failed, or the answer is invalid: the failurePolicy decides. */
static int failed(struct sw_write *w, const struct hook *hook, const char *message)
{
    if (sw_streq(sw_json_str(hook->doc, "Fail", "failurePolicy", NULL), "Ignore"))
        return 0;
    return sw_status_set(w->status, 500, "InternalError",
                         "Internal error occurred: failed calling webhook \"%s\": %s%s", hook->name,
                         sw_store_minor(w->store) >= 22 ? "failed to call webhook: " : "", message);
}

/* Apply the patch of an answer to w->doc. */
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

/* @uid: of the request; the answer must have the same. */
static int take_answer(struct sw_write *w, const struct hook *hook, const struct outcome *o,
                       const char *uid)
{
    if (o->code < 0)
        return failed(w, hook, o->message);
    if (!sw_streq(sw_json_str(o->response, "", "uid", NULL), uid))
        return failed(w, hook, "expected response.uid to be that of the request");
    json_object *warnings = sw_json_get(o->response, "warnings");
    for (size_t i = 0; i < sw_json_len(warnings); i++)
        sw_status_warn(w->status, "%s", json_object_get_string(sw_json_at(warnings, i)));
    if (sw_json_bool(o->response, false, "allowed", NULL))
        return hook->mutating ? take_patch(w, hook, o->response) : 0;
    json_object *st = sw_json_get(o->response, "status");
    const char *reason = sw_json_str(st, "", "reason", NULL);
    const char *message = sw_json_str(st, "", "message", NULL);
    const char *why = *message ? message : reason;
    int64_t code = sw_json_int(st, 400, "code", NULL);
    return sw_status_set(w->status, code < 400 || code > 599 ? 400 : (int)code, reason,
                         "admission webhook \"%s\" denied the request%s%s", hook->name,
                         *why ? ": " : " without explanation", why);
}

/* ---- one webhook --------------------------------------------------------------------------------
 */

static int call(struct sw_write *w, struct hook *hook, json_object *request)
{
    json_object *versions = sw_json_get(hook->doc, "admissionReviewVersions");
    const char *version = NULL;
    for (size_t i = 0; !version && i < sw_json_len(versions); i++) {
        const char *name = json_object_get_string(sw_json_at(versions, i));
        version = sw_streq(name, "v1")        ? "admission.k8s.io/v1"
                  : sw_streq(name, "v1beta1") ? "admission.k8s.io/v1beta1"
                                              : NULL;
    }
    if (!version)
        return failed(w, hook, "it understands no version of AdmissionReview that is known here");
    struct outcome own = { 0 }, *o = &own;
    char uid[37];
    sw_json_set_str(request, sw_store_uid(w->store, uid), "uid", NULL);
    json_object *review = sw_doc_new("kind", sw_str("AdmissionReview"), "apiVersion",
                                     sw_str(version), "request", json_object_get(request), NULL);
    int rc = sw_webhook_ask(w, hook, review, &own, &o);
    json_object_put(review);
    if (rc == 0)
        rc = take_answer(w, hook, o, uid);
    sw_outcome_done(&own);
    return rc;
}

/* Call the webhook if it selects the write. */
static int ask(struct sw_write *w, struct hook *hook)
{
    SW_ERR(err);
    json_object *request = sw_admission_request(w);
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

/* ---- all of them --------------------------------------------------------------------------------
 */

static const struct sw_emu_kind *config_kind(struct sw_store *store, bool mutating)
{
    return sw_store_kind(
        store, GROUP, mutating ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration");
}

static bool has_any(struct sw_store *store, bool mutating)
{
    return sw_store_count(store, config_kind(store, mutating), NULL) > 0;
}

bool sw_webhooks_exist(struct sw_store *store)
{
    return has_any(store, true) || has_any(store, false);
}

/* One round of calls: the webhooks of a kind in the order of their configurations' names. */
struct calls {
    struct sw_write *w;
    struct sw_store_list list;
    bool mutating, again;
    json_object *before; /* the object after each webhook; NULL: nobody asks */
};

/* Whether a webhook is called in the second round: when it asks for that, and the object was
 * changed after it. */
static bool is_called_again(const struct calls *c, json_object *hook, size_t n)
{
    return sw_streq(sw_json_str(hook, "", "reinvocationPolicy", NULL), "IfNeeded") &&
           !sw_json_equal(sw_json_at(c->before, n), c->w->doc);
}

static int call_all(struct calls *c)
{
    int rc = 0;
    size_t n = 0;
    for (size_t i = 0; rc == 0 && i < c->list.n; i++) {
        json_object *hooks = sw_json_get(c->list.items[i], "webhooks");
        for (size_t k = 0; rc == 0 && k < sw_json_len(hooks); k++, n++) {
            json_object *doc = sw_json_at(hooks, k);
            struct hook hook = { .doc = doc,
                                 .name = sw_json_str(doc, "", "name", NULL),
                                 .mutating = c->mutating,
                                 .timeout_s = (int)sw_json_int(doc, 10, "timeoutSeconds", NULL) };
            if (!c->again || is_called_again(c, doc, n))
                rc = ask(c->w, &hook);
            if (!c->again && c->before)
                json_object_array_add(c->before, json_object_get(c->w->doc));
        }
    }
    return rc;
}

/* Configurations are exempt: a webhook that fails must not prevent its own repair. */
static bool is_asked_about(struct sw_write *w, bool mutating)
{
    return has_any(w->store, mutating) && !sw_write_is(w, GROUP, "MutatingWebhookConfiguration") &&
           !sw_write_is(w, GROUP, "ValidatingWebhookConfiguration");
}

/* Policies, then webhooks; and those once more that ask for it where the object was changed after
 * them. */
int sw_webhooks_mutate(struct sw_write *w)
{
    SW_STORE_LIST(list);
    struct calls calls = { .w = w, .mutating = true };
    SW_AUTO_JSON *as_sent = json_object_get(w->doc), *before = NULL;
    if (is_asked_about(w, true)) {
        sw_store_list(w->store, config_kind(w->store, true), NULL, &list);
        calls.before = before = json_object_new_array();
    }
    calls.list = list;
    int rc = sw_policies_mutate(w, false);
    if (rc == 0)
        rc = call_all(&calls);
    if (rc < 0 || w->doc == as_sent)
        return rc;
    calls.again = true;
    rc = sw_policies_mutate(w, true);
    return rc < 0 ? rc : call_all(&calls);
}

int sw_webhooks_validate(struct sw_write *w)
{
    SW_STORE_LIST(list);
    struct calls calls = { .w = w };
    if (!is_asked_about(w, false))
        return 0;
    sw_store_list(w->store, config_kind(w->store, false), NULL, &list);
    calls.list = list;
    return call_all(&calls);
}
