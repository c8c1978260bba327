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
    *a = (struct fetch_answer){ 0 };
}

/* The certificates that the options name, read once. */
static int get_tls(struct sw_fetcher *f, const struct sw_http_tls **out, struct sw_err *err)
{
    const struct sw_fetch_auth *auth = &f->opts.auth;
    const char *ca = auth->ca_file, *cert = auth->cert_file, *key = auth->key_file;
    SW_AUTO_CHARS *source = sw_printf("files given:%s%s%s%s%s%s", ca ? " " : "", ca ? ca : "",
                                      cert ? " " : "", cert ? cert : "", key ? " " : "",
                                      key ? key : "");
    const struct sw_http_tls_opts opts = {
        .source = source,
        .ca_file = ca,
        .cert_file = cert,
        .key_file = cert ? key : NULL, /* else it is SSH's */
        .insecure = auth->insecure,
        .hint = "--ca-file (caFile) names the CA of a private one",
    };
    int rc = f->tls ? 0 : sw_http_tls_new(&opts, &f->tls, err);
    *out = f->tls;
    return rc;
}

static void on_header(const char *name, const char *value, void *arg)
{
    struct fetch_answer *a = arg;
    a->wants_user |= strcasecmp(name, "WWW-Authenticate") == 0 && strcasestr(value, "basic");
    char **to = strcasecmp(name, "ETag") == 0            ? &a->etag
                : strcasecmp(name, "Last-Modified") == 0 ? &a->last_modified
                                                         : NULL;
    if (!to)
        return;
    free(*to);
    *to = sw_strdup(value);
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

/* The user and password in the URL, else those of the options where they are for its server.
 * @bare: the URL without them. All is the caller's. */
static int find_user(struct sw_fetcher *f, const char *url, struct sw_http_url *parts, char **bare,
                     struct sw_err *err)
{
    const struct sw_fetch_auth *auth = &f->opts.auth;
    int rc = sw_http_url_parse(url, parts, err);
    if (rc < 0)
        return rc;
    SW_AUTO_CHARS *server = sw_printf("%s://%s:%s", parts->scheme, parts->host, parts->port);
    *bare = sw_printf("%s%s%s%s", server, parts->path, parts->query ? "?" : "",
                      parts->query ? parts->query : "");
    if (fetch_is_trusted(f, server) && auth->username && !parts->username) {
        parts->username = sw_strdup(auth->username);
        parts->password = sw_strdup(auth->password ? auth->password : "");
    }
    return 0;
}

/* Whether @a and @b, URLs of HTTP, are of one server. */
static bool is_same_server(const char *a, const char *b)
{
    struct sw_url_server one = { 0 }, other = { 0 };
    bool same = sw_url_server(a, &one) && sw_url_server(b, &other) &&
                sw_url_server_is(&one, &other);
    sw_url_server_done(&one);
    sw_url_server_done(&other);
    return same;
}

int fetch_http_get(struct sw_fetcher *f, const char *url, const char *etag,
                   const char *last_modified, struct fetch_answer *out, struct sw_err *err)
{
    struct sw_http_opts opts = { 0 };
    struct fetch_answer got = { 0 };
    struct sw_http_answer answer = { 0 };
    SW_AUTO_CHARS *if_etag = etag ? sw_printf("If-None-Match: %s", etag) : NULL;
    SW_AUTO_CHARS *if_since = last_modified ? sw_printf("If-Modified-Since: %s", last_modified)
                                            : NULL;
    const char *headers[] = { if_etag ? if_etag : if_since, NULL, NULL };
    headers[1] = if_etag ? if_since : NULL;
    int64_t left_ms;
    __attribute__((cleanup(sw_http_url_done))) struct sw_http_url parts = { 0 };
    SW_AUTO_CHARS *bare = NULL;
    int rc = fetch_time_left(f, &left_ms, err);
    if (rc == 0)
        rc = find_user(f, url, &parts, &bare, err);
    if (rc == 0)
        rc = get_tls(f, &opts.tls, err);
    if (rc < 0)
        return rc;
    const struct sw_http_spec spec = {
        .method = "GET",
        .url = bare,
        .headers = headers,
        .timeout_ms = left_ms,
        .answer_ms = IDLE_MS < left_ms ? IDLE_MS : 0,
        .idle_ms = IDLE_MS < left_ms ? IDLE_MS : 0,
        .max_bytes = f->opts.max_bytes,
        .max_redirects = REDIRECTS,
        .on_header = on_header,
        .arg = &got,
    };
    rc = sw_http_fetch(&opts, &spec, &answer, err);
    /* only when it is asked for, and by that server: not by one that it redirects to */
    if (rc == 0 && answer.http_status == 401 && got.wants_user && parts.username &&
        is_same_server(bare, answer.url)) {
        sw_http_answer_done(&answer);
        fetch_answer_done(&got);
        opts.username = parts.username;
        opts.password = parts.password;
        rc = fetch_may_send(f, sw_streq(parts.scheme, "https"), err);
        if (rc == 0)
            rc = sw_http_fetch(&opts, &spec, &answer, err);
    }
    bool same = rc == 0 && answer.http_status == 304 && headers[0];
    if (rc == 0 && !same)
        rc = check_status(answer.http_status, opts.username, err);
    if (rc == 0 && !same) {
        got.body = SW_TAKE(answer.body);
        got.len = answer.len_bytes;
    }
    sw_http_answer_done(&answer);
    if (rc < 0) {
        fetch_answer_done(&got);
        return rc;
    }
    *out = got;
    return 0;
}
