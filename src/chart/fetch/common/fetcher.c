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

bool fetch_is_trusted(struct sw_fetcher *f, const char *host)
{
    if (!f->first_host)
        f->first_host = sw_strdup(host);
    return f->opts.auth.pass_credentials || sw_streq(f->first_host, host);
}

char *fetch_redact(const char *url)
{
    const char *host = strstr(url, "://");
    size_t len = host ? strcspn(host + 3, "/?#") : 0;
    const char *at = host ? memrchr(host + 3, '@', len) : NULL;
    const char *colon = at ? memchr(host + 3, ':', (size_t)(at - host - 3)) : NULL;
    return colon ? sw_printf("%.*s:***%s", (int)(colon - url), url, at) : sw_strdup(url);
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
