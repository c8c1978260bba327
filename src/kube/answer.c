/* answer: the codes and messages of answers, from the HTTP status and the Status object. */
#include <json-c/json.h>
#include <string.h>

#include "data/data.h"
#include "kube/internal.h"

/** First row that fits. Source: Kubernetes "API Conventions", HTTP Status codes. */
static const struct {
    int from, to;
    int code;
} codes[] = {
    { 200, 299, SW_OK },          { 401, 401, SW_FORBIDDEN },   { 403, 403, SW_FORBIDDEN },
    { 404, 404, SW_NOTFOUND },    { 408, 408, SW_UNAVAILABLE }, { 409, 409, SW_CONFLICT },
    { 410, 410, SW_GONE },        { 425, 425, SW_UNAVAILABLE }, { 429, 429, SW_UNAVAILABLE },
    { 500, 599, SW_UNAVAILABLE }, { 300, 499, SW_INVALID },
};

/** Answers whose code depends on the text of their message. */
static const struct {
    int http_status;
    const char *text; /* a part of the message */
    int code;
    const char *reason; /* NULL: the server's */
    const char *why;
} by_message[] = {
    { 500, "failed to create typed patch object", SW_INVALID, "Invalid",
      "a body that does not fit the kind's schema; older API servers answer so to an apply" },
    { 500, "failed calling webhook", SW_UNAVAILABLE, "WebhookFailed",
      "the webhook's pods are not there yet, or not any more" },
    { 500, "failed to call webhook", SW_UNAVAILABLE, "WebhookFailed",
      "the same, in newer API servers" },
    { 403, "exceeded quota", SW_UNAVAILABLE, "QuotaExceeded",
      "objects may be deleted, and the quota may be raised" },
    { 403, "because it is being terminated", SW_UNAVAILABLE, "NamespaceTerminating",
      "the namespace's deletion will end: then it can be created again" },
    { 403, "error looking up service account", SW_UNAVAILABLE, "ServiceAccountMissing",
      "a new namespace gets its default account a moment later; others may be created" },
};

static const char *status_str(struct json_object *status, const char *key)
{
    return sw_json_str(status, "", key, NULL);
}

int kube_answer_code(int http_status, struct json_object *status, const char **reason)
{
    const char *message = status_str(status, "message");
    *reason = status_str(status, "reason");
    for (size_t i = 0; i < SW_COUNT(by_message); i++) {
        if (by_message[i].http_status != http_status || !strstr(message, by_message[i].text))
            continue;
        if (by_message[i].reason)
            *reason = by_message[i].reason;
        return by_message[i].code;
    }
    for (size_t i = 0; i < SW_COUNT(codes); i++)
        if (http_status >= codes[i].from && http_status <= codes[i].to)
            return codes[i].code;
    return SW_INVALID;
}

void kube_answer_error(int http_status, struct json_object *status, const char *body, size_t len,
                       int code, struct sw_err *err)
{
    enum { MAX_MESSAGE = 200 };
    const char *message = status_str(status, "message"), *reason = status_str(status, "reason");
    if (message[0]) {
        (void)sw_err_set(err, code, "%s", message);
        return;
    }
    if (reason[0]) {
        (void)sw_err_set(err, code, "HTTP %d: %s", http_status, reason);
        return;
    }
    /* the first line of a body that is no Status: a proxy's page, "404 page not found" */
    while (len && (*body == '\n' || *body == ' ' || *body == '\r'))
        body++, len--;
    size_t n = 0;
    while (n < len && n < MAX_MESSAGE && (unsigned char)body[n] >= ' ' && body[n] != 127)
        n++;
    (void)sw_err_set(err, code, "HTTP %d%s%.*s", http_status, n ? ": " : "", (int)n, body);
}

struct json_object *kube_status_parse(const char *body, size_t len)
{
    SW_AUTO_JSON *doc = NULL;
    size_t at = 0;
    while (at < len && strchr(" \t\r\n", body[at]))
        at++;
    if (at == len || body[at] != '{')
        return NULL;
    if (sw_json_parse(body, len, NULL, &doc, NULL) < 0)
        return NULL;
    return sw_streq(sw_obj_kind(doc), "Status") ? SW_TAKE(doc) : NULL;
}
