/* answer: what the server's answer means - its HTTP status and its Status object. */
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

/** What the server tells only in words, although it changes what to do next. */
static const struct {
    int http_status;
    const char *words;
    int code;
    const char *reason; /* NULL: as the server says */
    const char *why;
} peculiar[] = {
    { 500, "failed to create typed patch object", SW_INVALID, "Invalid",
      "a body that does not fit the kind's schema; older API servers answer so to an apply" },
    { 500, "failed calling webhook", SW_UNAVAILABLE, "WebhookFailed",
      "the webhook's pods are not there yet, or not any more" },
    { 500, "failed to call webhook", SW_UNAVAILABLE, "WebhookFailed", "the same, newer words" },
    { 403, "exceeded quota", SW_UNAVAILABLE, "QuotaExceeded",
      "what uses the quota up may go, and the quota may grow" },
    { 403, "because it is being terminated", SW_UNAVAILABLE, "NamespaceTerminating",
      "the namespace goes away by itself: then it can be made anew" },
};

static const char *status_str(struct json_object *status, const char *key)
{
    return sw_json_str(status, "", key, NULL);
}

int kube_answer_code(int http_status, struct json_object *status, const char **reason)
{
    const char *message = status_str(status, "message");
    *reason = status_str(status, "reason");
    for (size_t i = 0; i < SW_COUNT(peculiar); i++) {
        if (peculiar[i].http_status != http_status || !strstr(message, peculiar[i].words))
            continue;
        if (peculiar[i].reason)
            *reason = peculiar[i].reason;
        return peculiar[i].code;
    }
    for (size_t i = 0; i < SW_COUNT(codes); i++)
        if (http_status >= codes[i].from && http_status <= codes[i].to)
            return codes[i].code;
    return SW_INVALID;
}

/** The first line of a body that is no Status: a proxy's page, "404 page not found". */
static void body_message(int http_status, const char *body, size_t len, int code,
                         struct sw_err *err)
{
    enum { MAX_WORDS = 200 };
    while (len && (*body == '\n' || *body == ' ' || *body == '\r'))
        body++, len--;
    size_t n = 0;
    while (n < len && n < MAX_WORDS && (unsigned char)body[n] >= ' ' && body[n] != 127)
        n++;
    if (n)
        (void)sw_err_set(err, code, "HTTP %d: %.*s", http_status, (int)n, body);
    else
        (void)sw_err_set(err, code, "HTTP %d", http_status);
}

void kube_answer_error(int http_status, struct json_object *status, const char *body, size_t len,
                       int code, struct sw_err *err)
{
    const char *message = status_str(status, "message");
    if (message[0])
        (void)sw_err_set(err, code, "%s", message);
    else if (status && status_str(status, "reason")[0])
        (void)sw_err_set(err, code, "HTTP %d: %s", http_status, status_str(status, "reason"));
    else
        body_message(http_status, body, len, code, err);
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
