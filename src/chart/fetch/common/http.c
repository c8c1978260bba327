/* One GET, with credentials and CAs, conditional on the copy in the cache. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "chart/fetch/common/fetcher.h"
#include "net/http/http.h"

enum { IDLE_MS = 30000, REDIRECTS = 5 };

void fetch_answer_done(struct fetch_answer *a)
{
    free(a->body);
    free(a->etag);
    free(a->last_modified);
    free(a->location);
    *a = (struct fetch_answer){ 0 };
}

/* The certificates that the options name, read once. @own: with the client's. */
static int get_tls(struct sw_fetcher *f, bool own, const struct sw_http_tls **out,
                   struct sw_err *err)
{
    const struct sw_fetch_auth *auth = &f->opts.auth;
    const char *ca = auth->ca_file, *cert = own ? auth->cert_file : NULL;
    const char *key = cert ? auth->key_file : NULL; /* else it is SSH's */
    struct sw_http_tls **tls = cert ? &f->own_tls : &f->tls;
    SW_AUTO_CHARS *source = sw_printf("files given:%s%s%s%s%s%s", ca ? " " : "", ca ? ca : "",
                                      cert ? " " : "", cert ? cert : "", key ? " " : "",
                                      key ? key : "");
    const struct sw_http_tls_opts opts = {
        .source = source,
        .ca_file = ca,
        .cert_file = cert,
        .key_file = key,
        .insecure = auth->insecure,
        .hint = "--ca-file (caFile) names the CA of a private one",
    };
    int rc = *tls ? 0 : sw_http_tls_new(&opts, tls, err);
    *out = *tls;
    return rc;
}

static void on_header(const char *name, const char *value, void *arg)
{
    struct fetch_answer *a = arg;
    a->wants_user |= strcasecmp(name, "WWW-Authenticate") == 0 && strcasestr(value, "basic");
    char **to = strcasecmp(name, "ETag") == 0            ? &a->etag
                : strcasecmp(name, "Last-Modified") == 0 ? &a->last_modified
                : strcasecmp(name, "Location") == 0      ? &a->location
                                                         : NULL;
    if (!to)
        return;
    sw_text_set(to, value);
}

static int check_status(int status, bool with_user, struct sw_err *err)
{
    static const struct {
        int from, to, code;
        const char *reason;
    } rows[] = {
        { 200, 200, 0, NULL },
        { 401, 401, SW_FORBIDDEN, "the credentials are not accepted" },
        { 403, 403, SW_FORBIDDEN, "not allowed" },
        { 404, 404, SW_NOTFOUND, "not found" },
        { 407, 407, SW_FORBIDDEN, "the proxy requires a user" },
        { 410, 410, SW_NOTFOUND, "gone" },
        { 408, 408, SW_UNAVAILABLE, "the server timed out" },
        { 429, 429, SW_UNAVAILABLE, "too many requests" },
        { 500, 599, SW_UNAVAILABLE, "the server failed" },
    };
    if (status == 401 && !with_user)
        return sw_err_set(err, SW_FORBIDDEN, "HTTP 401: a user and a password are required");
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        if (status >= rows[i].from && status <= rows[i].to)
            return rows[i].code
                       ? sw_err_set(err, rows[i].code, "HTTP %d: %s", status, rows[i].reason)
                       : 0;
    return sw_err_set(err, SW_INVALID, "HTTP %d: not what is expected of a chart repository",
                      status);
}

/* ---- one server --------------------------------------------------------------------------------
 */

/* A request, as it goes from server to server. */
struct get {
    struct sw_fetcher *f;
    const char *headers[3];
    struct fetch_answer got;      /* of the last answer */
    struct sw_http_answer answer; /* the same */
    bool with_user;               /* a user was sent with it */
};

static int send(struct get *g, const struct sw_http_opts *opts, const char *url, struct sw_err *err)
{
    int64_t left_ms;
    int rc = fetch_time_left(g->f, &left_ms, err);
    if (rc < 0)
        return rc;
    sw_http_answer_done(&g->answer);
    fetch_answer_done(&g->got);
    g->with_user = opts->username;
    const struct sw_http_spec spec = {
        .method = "GET",
        .url = url,
        .headers = g->headers,
        .timeout_ms = left_ms,
        .answer_ms = IDLE_MS < left_ms ? IDLE_MS : 0,
        .idle_ms = IDLE_MS < left_ms ? IDLE_MS : 0,
        .max_bytes = g->f->opts.max_bytes,
        .on_header = on_header,
        .arg = &g->got,
    };
    return sw_http_fetch(opts, &spec, &g->answer, err);
}

/* The user and password in the URL, else those of the options, for a server that requires them. */
static int find_user(struct sw_fetcher *f, const char *url, struct sw_http_url *parts,
                     struct sw_err *err)
{
    const struct sw_fetch_auth *auth = &f->opts.auth;
    if (parts->username)
        return fetch_may_send(f, url, err);
    if (!auth->username)
        return sw_err_set(err, SW_FORBIDDEN, "a user and a password are required");
    parts->username = sw_strdup(auth->username);
    parts->password = sw_strdup(auth->password ? auth->password : "");
    return fetch_may_log_in(f, url, err);
}

/* Ask one server: with the client's certificate where it is for that one, and with a user when it
 * requires one. */
static int ask(struct get *g, const char *url, struct sw_err *err)
{
    struct sw_http_opts opts = { 0 };
    __attribute__((cleanup(sw_http_url_done))) struct sw_http_url parts = { 0 };
    int rc = sw_http_url_parse(url, &parts, err);
    if (rc < 0)
        return rc;
    SW_AUTO_CHARS *bare = sw_printf("%s://%s:%s%s%s%s", parts.scheme, parts.host, parts.port,
                                    parts.path, parts.query ? "?" : "",
                                    parts.query ? parts.query : "");
    bool is_trusted = fetch_is_trusted(g->f, bare);
    rc = get_tls(g->f, is_trusted, &opts.tls, err);
    if (rc == 0)
        rc = send(g, &opts, bare, err);
    if (rc < 0 && g->f->opts.auth.cert_file && !is_trusted)
        return sw_err_set(err, rc, "%s (the client's certificate is for %s alone)",
                          sw_err_text(err), g->f->first.host ? g->f->first.host : "no server");
    if (rc < 0 || g->answer.http_status != 401 || !g->got.wants_user)
        return rc;
    rc = find_user(g->f, bare, &parts, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "HTTP 401");
    opts.username = parts.username;
    opts.password = parts.password;
    return send(g, &opts, bare, err);
}

/* ---- from server to server ---------------------------------------------------------------------
 */

/* Where the last answer redirects to; the caller's. @return 0; @*to stays NULL: it does not */
static int find_redirect(const struct get *g, const char *url, char **to, struct sw_err *err)
{
    int status = g->answer.http_status;
    if (status != 301 && status != 302 && status != 303 && status != 307 && status != 308)
        return 0;
    SW_AUTO_CHARS *next = g->got.location ? sw_http_url_join(url, g->got.location) : NULL;
    if (!g->got.location)
        return sw_err_set(err, SW_INVALID, "it redirects without saying where to");
    if (!next || (sw_starts_with(url, "https:") && !sw_starts_with(next, "https:")))
        return sw_err_set(err, SW_INVALID,
                          "it redirects to another kind of address, which is not followed");
    *to = SW_TAKE(next);
    return 0;
}

int fetch_http_get(struct sw_fetcher *f, const char *url, const char *etag,
                   const char *last_modified, struct fetch_answer *out, struct sw_err *err)
{
    SW_AUTO_CHARS *if_etag = etag ? sw_printf("If-None-Match: %s", etag) : NULL;
    SW_AUTO_CHARS *if_since = last_modified ? sw_printf("If-Modified-Since: %s", last_modified)
                                            : NULL;
    struct get g = { .f = f, .headers = { if_etag ? if_etag : if_since, NULL, NULL } };
    g.headers[1] = if_etag ? if_since : NULL;
    SW_AUTO_CHARS *at = sw_http_url_join(url, url); /* its scheme in lower case */
    int rc = at ? ask(&g, at, err) : sw_err_set(err, SW_INVALID, "not an address of http or https");
    for (int n = 0; rc == 0; n++) {
        SW_AUTO_CHARS *next = NULL;
        rc = find_redirect(&g, at, &next, err);
        if (rc < 0 || !next)
            break;
        rc = n < REDIRECTS ? ask(&g, next, err)
                           : sw_err_set(err, SW_INVALID, "it redirects too many times");
        free(at);
        at = SW_TAKE(next);
    }
    bool same = rc == 0 && g.answer.http_status == 304 && g.headers[0];
    if (rc == 0 && !same)
        rc = check_status(g.answer.http_status, g.with_user, err);
    if (rc == 0 && !same) {
        g.got.body = SW_TAKE(g.answer.body);
        g.got.len = g.answer.len_bytes;
    }
    sw_http_answer_done(&g.answer);
    if (rc < 0) {
        fetch_answer_done(&g.got);
        return rc;
    }
    *out = g.got;
    return 0;
}
