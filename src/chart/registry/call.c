/* A call from its start to its answer: one endpoint after the other, with retries. */
#include "chart/registry/call.h"

#include <json-c/printbuf.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/loop.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/text/url.h"

enum {
    MAX_MANIFEST = 4 << 20,
    MAX_BLOB = 16 << 20,
    MAX_ERROR = 64 << 10,
    REDIRECTS = 5,
};

/* ---- the end -----------------------------------------------------------------------------------
 */

void call_forget_answer(struct sw_registry_call *c)
{
    free(SW_TAKE(c->media_type));
    free(SW_TAKE(c->header_digest));
    free(SW_TAKE(c->next_page));
    challenge_done(&c->challenge);
    digester_done(&c->digester);
    printbuf_reset(c->body);
    c->status = 0;
    c->n_bytes = 0;
}

static void call_free(struct sw_registry_call *c)
{
    *c->prev = c->next;
    if (c->next)
        c->next->prev = c->prev;
    sw_http_cancel(c->transfer);
    sw_timer_free(c->timer);
    endpoint_leave(c->reg, c->token_endpoint);
    endpoint_leave(c->reg, c->endpoint);
    call_forget_answer(c);
    sw_logins_free(c->logins);
    sw_image_ref_done(&c->ref);
    sw_pull_sources_done(&c->sources);
    sw_err_done(&c->start_err);
    sw_err_done(&c->failures);
    json_object_put(c->tags);
    printbuf_free(c->body);
    free(c->platform);
    free(c->image);
    free(c->digest);
    free(c);
}

void sw_registry_cancel(struct sw_registry_call *call)
{
    if (call)
        call_free(call);
}

void call_answer(struct sw_registry_call *c, const struct sw_registry_answer *answer)
{
    sw_registry_fn *fn = c->fn;
    void *arg = c->arg;
    struct sw_registry_answer a = *answer;
    struct printbuf *body = SW_TAKE(c->body); /* the answer borrows from it */
    c->body = printbuf_new();
    const bool is_known = a.code == 0 && c->at < c->sources.n;
    SW_AUTO_CHARS *from = is_known ? sw_image_ref_text(&c->sources.items[c->at].ref) : NULL;
    SW_AUTO_CHARS *media_type = SW_TAKE(c->media_type);
    if (is_known)
        a.from = from;
    a.media_type = media_type;
    call_free(c);
    fn(&a, arg);
    printbuf_free(body);
}

static void answer_error(struct sw_registry_call *c, int code, struct sw_err *err)
{
    SW_ERR(own); /* @err may be freed with the call */
    (void)sw_err_move(&own, err);
    own.code = code;
    call_answer(c, &(struct sw_registry_answer){ .code = code, .err = &own });
}

void call_failed(struct sw_registry_call *c, int code, bool again, struct sw_err *err)
{
    if (c->delivered) { /* the caller has bytes of this answer already */
        answer_error(c, code, err);
        return;
    }
    if (again && c->n_tries < c->reg->opts.retries) {
        int64_t wait_ms = c->reg->opts.retry_ms << c->n_tries++;
        call_forget_answer(c);
        sw_timer_set(c->timer, wait_ms > MAX_RETRY_MS ? MAX_RETRY_MS : wait_ms);
        return;
    }
    SW_AUTO_CHARS *where = sw_image_ref_text(&c->sources.items[c->at].ref);
    (void)sw_err_wrap(err, code, "%s%s", c->sources.items[c->at].is_mirror ? "mirror " : "", where);
    /* the code is that of the first failure which is not SW_NOTFOUND */
    int worst = c->failures.code && c->failures.code != SW_NOTFOUND ? c->failures.code : code;
    SW_AUTO_CHARS *before = c->failures.text ? sw_printf("%s; ", c->failures.text) : NULL;
    (void)sw_err_set(&c->failures, worst, "%s%s", before ? before : "", sw_err_text(err));
    if (++c->at < c->sources.n)
        call_begin_endpoint(c);
    else
        answer_error(c, worst, &c->failures);
}

void call_refuse(struct sw_registry_call *c, int code, bool again, const char *fmt, ...)
{
    SW_ERR(err);
    va_list ap;
    va_start(ap, fmt);
    (void)sw_err_vset(&err, code, fmt, ap);
    va_end(ap);
    call_failed(c, code, again, &err);
}

/* ---- a transfer --------------------------------------------------------------------------------
 */

static int on_data(int http_status, const char *bytes, size_t len, struct sw_err *err, void *arg)
{
    struct sw_registry_call *c = arg;
    uint64_t most = http_status != 200 ? MAX_ERROR : c->max_bytes;
    if (c->n_bytes + len > most && http_status != 200)
        return 0; /* the rest of an error is not needed */
    if (c->n_bytes + len > most)
        return sw_err_set(err, SW_INVALID, "it is larger than %llu bytes",
                          (unsigned long long)most);
    if (http_status == 200 && c->kind == CALL_BLOB) {
        int rc = c->on_data(bytes, len, err, c->arg);
        if (rc < 0)
            return rc;
        c->delivered = true;
    } else {
        (void)printbuf_memappend(c->body, bytes, (int)len);
    }
    c->n_bytes += len;
    if (http_status == 200)
        digester_add(&c->digester, bytes, len);
    return 0;
}

static void on_header(const char *name, const char *value, void *arg)
{
    struct sw_registry_call *c = arg;
    if (strcasecmp(name, "www-authenticate") == 0) {
        challenge_read(value, &c->challenge);
    } else if (strcasecmp(name, "content-type") == 0) {
        free(c->media_type);
        c->media_type = sw_strndup(value, strcspn(value, ";"));
    } else if (strcasecmp(name, "docker-content-digest") == 0) {
        sw_text_set(&c->header_digest, value);
    } else if (strcasecmp(name, "link") == 0) {
        free(SW_TAKE(c->next_page)); /* </v2/a/tags/list?last=b&n=100>; rel="next" */
        const char *from = strchr(value, '<'), *to = from ? strchr(from, '>') : NULL;
        if (to && strstr(to, "next"))
            c->next_page = sw_strndup(from + 1, (size_t)(to - from - 1));
    }
}

/* Is @url at the endpoint itself, or did a redirect lead elsewhere? */
static bool is_own(const struct sw_registry_call *c, const char *url)
{
    SW_AUTO_CHARS *base = endpoint_url(c->endpoint);
    struct sw_url_server own = { 0 }, other = { 0 };
    bool is = sw_url_server(base, &own) && sw_url_server(url, &other) &&
              sw_url_server_is(&own, &other) &&
              sw_starts_with(base, "https:") == sw_starts_with(url, "https:");
    sw_url_server_done(&own);
    sw_url_server_done(&other);
    return is;
}

/* Whether to send the request again without TLS: the endpoint has none, and is on this machine or
 * declared insecure. */
static bool may_go_plain(struct sw_registry_call *c, const struct sw_http_result *r)
{
    bool allowed = c->endpoint->insecure || endpoint_is_local(c->endpoint);
    bool no_tls = strstr(sw_err_text(r->err), "no TLS connection");
    return allowed && r->unsent && !c->endpoint->plain && (no_tls || c->endpoint->insecure);
}

static void on_done(const struct sw_http_result *r, void *arg)
{
    struct sw_registry_call *c = arg;
    c->transfer = NULL;
    c->status = r->http_status;
    if (r->code < 0 && may_go_plain(c, r)) {
        c->endpoint->plain = true;
        call_forget_answer(c);
        call_send(c);
    } else if (r->code < 0) {
        call_refuse(c, r->code, r->code == SW_UNAVAILABLE, "%s", sw_err_text(r->err));
    } else if (r->http_status == 401 && !is_own(c, r->url)) {
        SW_AUTO_CHARS *shown = sw_url_shown(r->url);
        call_refuse(c, SW_FORBIDDEN, false,
                    "it redirects to %s, which asks for a login and is not the registry", shown);
    } else if (r->http_status == 401 && !c->challenged) {
        c->challenged = true;
        call_log_in(c);
    } else {
        call_arrived(c, r->retry_after_ms);
    }
}

static char *address_of(struct sw_registry_call *c)
{
    SW_AUTO_CHARS *base = endpoint_url(c->endpoint);
    const struct sw_image_ref *ref = &c->sources.items[c->at].ref;
    const char *digest = call_wanted_digest(c);
    if (c->kind == CALL_BLOB)
        return sw_printf("%s/v2/%s/blobs/%s", base, ref->repo, c->digest);
    if (c->kind == CALL_TAGS && c->next_page)
        return strstr(c->next_page, "://") ? sw_strdup(c->next_page)
                                           : sw_printf("%s%s", base, c->next_page);
    if (c->kind == CALL_TAGS)
        return sw_printf("%s/v2/%s/tags/list", base, ref->repo);
    return sw_printf("%s/v2/%s/manifests/%s", base, ref->repo,
                     digest     ? digest
                     : ref->tag ? ref->tag
                                : "latest");
}

void call_send(struct sw_registry_call *c)
{
    SW_AUTO_CHARS *url = address_of(c);
    SW_AUTO_CHARS *base = endpoint_url(c->endpoint);
    size_t base_len = strlen(base);
    bool own = strncmp(url, base, base_len) == 0 && strchr("/", url[base_len]);
    SW_AUTO_CHARS *authorization = own ? call_authorization(c) : NULL;
    const char *headers[3] = { ACCEPT_MANIFESTS, authorization, NULL };
    bool manifest = c->kind == CALL_CHECK || c->kind == CALL_MANIFEST;
    free(SW_TAKE(c->next_page));
    printbuf_reset(c->body);
    c->n_bytes = 0;
    digester_done(&c->digester);
    digester_init(&c->digester, c->kind == CALL_TAGS ? NULL : call_wanted_digest(c));
    c->transfer = sw_http_start(
        c->endpoint->http, &(struct sw_http_spec){ .method = c->kind == CALL_CHECK ? "HEAD" : "GET",
                                                   .url = url,
                                                   .headers = manifest ? headers : headers + 1,
                                                   .answer_ms = c->reg->opts.timeout_ms,
                                                   .idle_ms = c->reg->opts.timeout_ms,
                                                   .max_redirects = REDIRECTS,
                                                   .may_downgrade = call_wanted_digest(c),
                                                   .on_data = on_data,
                                                   .on_header = on_header,
                                                   .on_done = on_done,
                                                   .arg = c });
}

/* ---- the start ---------------------------------------------------------------------------------
 */

void call_begin_endpoint(struct sw_registry_call *c)
{
    SW_ERR(err);
    const struct sw_pull_source *s = &c->sources.items[c->at];
    endpoint_leave(c->reg, SW_TAKE(c->endpoint));
    call_forget_answer(c);
    if (c->kind != CALL_BLOB)
        free(SW_TAKE(c->digest));
    c->n_tries = 0;
    c->challenged = c->basic = false;
    int rc = endpoint_enter(c->reg, s->ref.host, s->insecure, &c->endpoint, &err);
    if (rc < 0)
        call_failed(c, rc, false, &err);
    else
        call_send(c);
}

static void on_timer(void *arg)
{
    struct sw_registry_call *c = arg;
    if (c->start_err.code)
        answer_error(c, c->start_err.code, &c->start_err);
    else if (!c->endpoint)
        call_begin_endpoint(c);
    else
        call_send(c);
}

static struct sw_registry_call *start(struct sw_registry *reg, const struct sw_registry_ask *ask,
                                      enum call_kind kind, sw_registry_fn *fn, void *arg)
{
    struct sw_registry_call *c = sw_zalloc(1, sizeof *c);
    *c = (struct sw_registry_call){ .reg = reg,
                                    .next = reg->calls,
                                    .prev = &reg->calls,
                                    .kind = kind,
                                    .fn = fn,
                                    .arg = arg,
                                    .logins = sw_logins_ref(ask->logins),
                                    .platform = sw_strdup(ask->platform),
                                    .image = sw_strdup(ask->image ? ask->image : ""),
                                    .max_bytes = MAX_MANIFEST,
                                    .body = printbuf_new(),
                                    .tags = json_object_new_array() };
    if (c->next)
        c->next->prev = &c->next;
    reg->calls = c;
    c->timer = sw_timer_new(reg->loop, on_timer, c);
    int rc = sw_image_ref_parse(c->image, &c->ref, &c->start_err);
    if (rc == 0)
        rc = sw_mirrors_sources(reg->mirrors, &c->ref, &c->sources, &c->start_err);
    c->start_err.code = rc;
    sw_timer_set(c->timer, 0);
    return c;
}

struct sw_registry_call *sw_registry_check(struct sw_registry *reg,
                                           const struct sw_registry_ask *ask, sw_registry_fn *fn,
                                           void *arg)
{
    return start(reg, ask, CALL_CHECK, fn, arg);
}

struct sw_registry_call *sw_registry_manifest(struct sw_registry *reg,
                                              const struct sw_registry_ask *ask, sw_registry_fn *fn,
                                              void *arg)
{
    return start(reg, ask, CALL_MANIFEST, fn, arg);
}

struct sw_registry_call *sw_registry_blob(struct sw_registry *reg,
                                          const struct sw_registry_ask *ask, const char *digest,
                                          uint64_t max_bytes, sw_registry_data_fn *take,
                                          sw_registry_fn *fn, void *arg)
{
    struct sw_registry_call *c = start(reg, ask, CALL_BLOB, fn, arg);
    c->digest = sw_strdup(digest);
    c->max_bytes = max_bytes ? max_bytes : MAX_BLOB;
    c->on_data = take;
    if (!c->start_err.code && !sw_image_digest_is_valid(digest))
        (void)sw_err_set(&c->start_err, SW_INVALID, "'%.80s' is not a digest", digest);
    return c;
}

struct sw_registry_call *sw_registry_tags(struct sw_registry *reg,
                                          const struct sw_registry_ask *ask, sw_registry_fn *fn,
                                          void *arg)
{
    return start(reg, ask, CALL_TAGS, fn, arg);
}

void sw_registry_resume(struct sw_registry_call *call)
{
    if (call->transfer)
        sw_http_resume(call->transfer);
}
