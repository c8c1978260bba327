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

int fetch_may_send(const struct sw_fetcher *f, bool tls, struct sw_err *err)
{
    const struct sw_fetch_auth *auth = &f->opts.auth;
    if ((tls && !auth->insecure) || auth->plain_http)
        return 0;
    return sw_err_set(err, SW_FORBIDDEN,
                      "a password is required, and is not sent %s: \"plainHTTP\": \"true\" in its "
                      "Secret would allow that",
                      tls ? "where the certificate is not verified" : "without TLS");
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
