#include "chart/fetch/common/fetcher.h"

#include <stdlib.h>
#include <string.h>

#include "chart/fetch/common/provenance.h"

int fetch_time_left(struct sw_fetcher *f, int64_t *ms, struct sw_err *err)
{
    int64_t now_ms = sw_monotonic_ms();
    if (!f->deadline_ms)
        f->deadline_ms = now_ms + f->opts.timeout_ms;
    *ms = f->deadline_ms - now_ms;
    return *ms > 0 ? 0
                   : sw_err_set(err, SW_UNAVAILABLE, "not done within %lld s",
                                (long long)(f->opts.timeout_ms + 999) / 1000);
}

bool fetch_is_trusted(struct sw_fetcher *f, const char *url)
{
    const struct sw_fetch_auth *auth = &f->opts.auth;
    struct sw_url_server server;
    if (!sw_url_server(url, &server))
        return auth->pass_credentials;
    if (!f->first.host && auth->url)
        (void)sw_url_server(auth->url, &f->first);
    else if (!f->first.host)
        (void)sw_url_server(url, &f->first);
    bool is_same = f->first.host && sw_url_server_is(&f->first, &server);
    sw_url_server_done(&server);
    return auth->pass_credentials || is_same;
}

/* "the login", and the Secret it is from. The caller's. */
static char *name_of_login(const struct sw_fetcher *f)
{
    const char *secret = f->opts.auth.secret;
    return sw_printf("the login%s%s", secret ? " of Secret " : "", secret ? secret : "");
}

int fetch_may_send(const struct sw_fetcher *f, const char *url, struct sw_err *err)
{
    const struct sw_fetch_auth *auth = &f->opts.auth;
    size_t len = strcspn(url, ":");
    SW_AUTO_CHARS *scheme = sw_strndup(url, len), *login = name_of_login(f);
    bool ssh = sw_ends_with(scheme, "ssh"), tls = !sw_ends_with(scheme, "http");
    if (ssh || auth->plain_http || (tls && !auth->insecure))
        return 0;
    return sw_err_set(err, SW_FORBIDDEN, "%s is not sent %s: %s would allow that", login,
                      tls ? "where the certificate is not verified" : "without TLS",
                      auth->secret ? "plainHTTP: \"true\" in that Secret"
                                   : "insecure_skip_tls_verify");
}

int fetch_may_log_in(struct sw_fetcher *f, const char *url, struct sw_err *err)
{
    const struct sw_fetch_auth *auth = &f->opts.auth;
    if (fetch_is_trusted(f, url))
        return fetch_may_send(f, url, err);
    SW_AUTO_CHARS *login = name_of_login(f);
    struct sw_url_server server = { 0 };
    (void)sw_url_server(url, &server);
    int rc = sw_err_set(err, SW_FORBIDDEN, "%s is for %s%s%s, not for %s%s%s: %s", login,
                        f->first.host ? f->first.host : "no server", f->first.port ? ":" : "",
                        f->first.port ? f->first.port : "", server.host ? server.host : "this one",
                        server.port ? ":" : "", server.port ? server.port : "",
                        auth->secret ? "its key url says for which one"
                                     : "--pass-credentials (pass_credentials_all) sends it to all");
    sw_url_server_done(&server);
    return rc;
}

const char *fetch_asked_by(const struct sw_fetcher *f)
{
    return f->opts.asked_by ? f->opts.asked_by : "--verify";
}

int fetch_verify(struct sw_fetcher *f, struct sw_provenance *p, struct sw_err *err)
{
    p->keyring = f->opts.keyring;
    free(SW_TAKE(f->signer));
    return sw_provenance_check(p, &f->signer, err);
}

int fetch_take_archive(const char *origin, const char *digest, char *bytes, size_t len,
                       struct sw_recipe_got *got, struct sw_err *err)
{
    SW_AUTO_CHARS *owned = bytes;
    SW_AUTO_CHARS *is = sw_digest_of(owned, len);
    const char *hex = digest + (sw_starts_with(digest, "sha256:") ? strlen("sha256:") : 0);
    if (*digest && !sw_streq(hex, is + strlen("sha256:")))
        return sw_err_set(err, SW_INVALID, "%s: its digest is %s, expected sha256:%s", origin, is,
                          hex);
    got->archive = SW_TAKE(owned);
    got->archive_len = len;
    got->origin = sw_strdup(origin);
    got->digest = SW_TAKE(is);
    return 0;
}
