/* webhook_call: one call of one webhook: at once, or in a session. */
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "data/data.h"
#include "data/text/base64.h"
#include "data/text/buffer.h"
#include "emulator/admission/webhook.h"
#include "net/http/http.h"

enum { MAX_ANSWER = 4 << 20 };

struct sw_session {
    struct sw_store *store;
    void (*ready)(void *arg);
    void *arg;
    uint64_t seed, saved; /* the generator's state at the start of each try; the store's own */
    struct outcome *outcomes;
    size_t n, cap, cursor; /* cursor: outcomes that this try has used */
    char *old_version;     /* the resourceVersion that the answers are about; NULL: not known yet */
    /* the call in progress */
    struct sw_http *http;
    struct sw_http_tls *tls;
    struct sw_http_transfer *transfer;
    char *where;
    struct sw_buffer body;
    struct sw_timer *wake; /* calls ready */
};

void sw_outcome_done(struct outcome *o)
{
    free(SW_TAKE(o->message));
    json_object_put(SW_TAKE(o->response));
}

/* ---- asking -------------------------------------------------------------------------------------
 */

static int open_tls(const struct hook *hook, struct sw_http_tls **out, struct sw_err *err)
{
    const char *bundle = sw_json_str(hook->doc, "", "clientConfig", "caBundle", NULL);
    size_t len = 0;
    SW_AUTO_CHARS *pem = *bundle ? sw_base64_decode(bundle, strlen(bundle), &len) : NULL;
    if (*bundle && !pem)
        return sw_err_set(err, SW_INVALID, "its caBundle is no base64");
    return sw_http_tls_new(&(struct sw_http_tls_opts){ .source = "the webhook's configuration",
                                                       .ca_data = pem && *pem ? pem : NULL,
                                                       .hint = "its caBundle must be of the CA "
                                                               "that signed its certificate" },
                           out, err);
}

static struct sw_http_opts http_opts(const struct hook *hook, const struct sw_http_tls *tls,
                                     char **connect_to)
{
    *connect_to = hook->address ? sw_printf("::%s", hook->address) : NULL;
    return (struct sw_http_opts){ .user_agent = "kube-apiserver-admission",
                                  .connect_to = *connect_to,
                                  .direct = true,
                                  .tls = tls };
}

static struct sw_http_spec http_spec(const struct hook *hook, const char *body, size_t len)
{
    static const char *const headers[] = { "Content-Type: application/json",
                                           "Accept: application/json", NULL };
    return (struct sw_http_spec){ .method = "POST",
                                  .url = hook->where,
                                  .headers = headers,
                                  .body = body,
                                  .body_len = len,
                                  .timeout_ms = hook->timeout_s * 1000,
                                  .max_bytes = MAX_ANSWER };
}

static void read_answer(struct outcome *o, const char *where, int http_status, const char *body,
                        size_t len)
{
    SW_ERR(err);
    json_object *doc = NULL;
    if (http_status != 200) {
        o->code = SW_UNAVAILABLE;
        o->message = sw_printf("Post \"%s\": an error on the server (\"%.*s\") has prevented the "
                               "request from succeeding (HTTP %d)",
                               where, (int)(len > 200 ? 200 : len), body ? body : "", http_status);
        return;
    }
    if (sw_json_parse(body ? body : "", len, &(struct sw_json_opts){ .max_depth = 256 }, &doc,
                      &err) < 0 ||
        !sw_json_get(doc, "response")) {
        o->code = SW_INVALID;
        o->message = sw_printf("Post \"%s\": it answered no AdmissionReview%s%s", where,
                               sw_err_text(&err)[0] ? ": " : "", sw_err_text(&err));
    } else {
        o->response = json_object_get(sw_json_get(doc, "response"));
    }
    json_object_put(doc);
}

static void could_not(struct outcome *o, const char *where, const struct sw_err *err)
{
    o->code = SW_UNAVAILABLE;
    o->message = sw_printf("Post \"%s\": %s", where, sw_err_text(err));
}

static void ask_now(const struct hook *hook, const char *body, size_t len, struct outcome *o)
{
    SW_ERR(err);
    struct sw_http_tls *tls = NULL;
    struct sw_http_answer answer = { 0 };
    SW_AUTO_CHARS *connect_to = NULL;
    int rc = open_tls(hook, &tls, &err);
    struct sw_http_opts opts = http_opts(hook, tls, &connect_to);
    struct sw_http_spec spec = http_spec(hook, body, len);
    if (rc == 0)
        rc = sw_http_fetch(&opts, &spec, &answer, &err);
    if (rc < 0)
        could_not(o, hook->where, &err);
    else
        read_answer(o, hook->where, answer.http_status, answer.body, answer.len_bytes);
    sw_http_answer_done(&answer);
    sw_http_tls_free(tls);
}

/* ---- sessions -----------------------------------------------------------------------------------
 */

static struct outcome *new_outcome(struct sw_session *s)
{
    SW_GROW(s->outcomes, s->n, s->cap);
    s->outcomes[s->n] = (struct outcome){ 0 };
    return &s->outcomes[s->n++];
}

static void drop_transfer(struct sw_session *s)
{
    sw_http_cancel(SW_TAKE(s->transfer));
    sw_http_free(SW_TAKE(s->http));
    sw_http_tls_free(SW_TAKE(s->tls));
    free(SW_TAKE(s->where));
    s->body.len = 0;
}

/* In a turn of its own, since ready may free the session. */
static void on_wake(void *arg)
{
    struct sw_session *s = arg;
    drop_transfer(s);
    s->ready(s->arg);
}

static int on_data(int http_status, const char *bytes, size_t len, struct sw_err *err, void *arg)
{
    struct sw_session *s = arg;
    (void)http_status;
    (void)err;
    sw_buffer_put(&s->body, bytes, len);
    return 0;
}

static void on_done(const struct sw_http_result *result, void *arg)
{
    struct sw_session *s = arg;
    struct outcome *o = new_outcome(s);
    s->transfer = NULL;
    if (result->code < 0)
        could_not(o, s->where, result->err);
    else
        read_answer(o, s->where, result->http_status, s->body.text, s->body.len);
    sw_timer_set(s->wake, 0);
}

static void ask_soon(struct sw_session *s, const struct hook *hook, const char *body, size_t len)
{
    SW_ERR(err);
    SW_AUTO_CHARS *connect_to = NULL;
    s->where = sw_strdup(hook->where);
    if (open_tls(hook, &s->tls, &err) < 0) {
        could_not(new_outcome(s), s->where, &err);
        sw_timer_set(s->wake, 0);
        return;
    }
    struct sw_http_opts opts = http_opts(hook, s->tls, &connect_to);
    s->http = sw_http_new(sw_store_loop(s->store), &opts);
    struct sw_http_spec spec = http_spec(hook, body, len);
    spec.on_data = on_data;
    spec.on_done = on_done;
    spec.arg = s;
    s->transfer = sw_http_start(s->http, &spec);
}

struct sw_session *sw_session_new(struct sw_store *store, void (*ready)(void *arg), void *arg)
{
    struct sw_session *s = sw_zalloc(1, sizeof *s);
    s->store = store;
    s->ready = ready;
    s->arg = arg;
    /* not the store's own sequence, or both would generate the same uids */
    s->seed = sw_store_random(store) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    s->wake = sw_timer_new(sw_store_loop(store), on_wake, s);
    return s;
}

static void drop_answers(struct sw_session *s)
{
    while (s->n)
        sw_outcome_done(&s->outcomes[--s->n]);
}

void sw_session_free(struct sw_session *s)
{
    if (!s)
        return;
    drop_transfer(s);
    drop_answers(s);
    sw_timer_free(s->wake);
    free(s->outcomes);
    free(s->old_version);
    free(s->body.text);
    free(s);
}

void sw_session_begin(struct sw_session *s)
{
    if (!s)
        return;
    s->cursor = 0;
    s->saved = sw_store_set_random(s->store, s->seed);
}

void sw_session_end(struct sw_session *s)
{
    if (s)
        (void)sw_store_set_random(s->store, s->saved);
}

int sw_webhook_ask(struct sw_write *w, const struct hook *hook, json_object *review,
                   struct outcome *own, struct outcome **out)
{
    struct sw_session *s = w->opts->session;
    size_t len;
    if (s && s->cursor == 0) {
        const char *version = sw_json_str(w->old, "", "metadata", "resourceVersion", NULL);
        if (s->old_version && !sw_streq(s->old_version, version))
            drop_answers(s); /* they are about an older version of the object */
        sw_text_set(&s->old_version, version);
    }
    if (s && s->cursor < s->n) {
        *out = &s->outcomes[s->cursor++];
        return 0;
    }
    SW_AUTO_CHARS *body = sw_json_text(review, SW_JSON_PLAIN, &len);
    if (s) {
        ask_soon(s, hook, body, len);
        return SW_PENDING;
    }
    ask_now(hook, body, len, own);
    *out = own;
    return 0;
}
