#include "web/request.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/text/percent.h"
#include "net/serve/serve.h"

/* The viewer's token; store.js has it, too. */
#define TOKEN_HEADER "Slipway-Token"

char *web_parameter_of(const struct sw_serve_request *r, const char *name)
{
    const char *end = r->path + r->target_len;
    size_t name_len = strlen(name);
    for (const char *at = r->path + r->path_len; at < end;) {
        at++; /* the '?' or '&' */
        const char *next = memchr(at, '&', (size_t)(end - at));
        size_t len = (size_t)((next ? next : end) - at);
        if (len > name_len && at[name_len] == '=' && memcmp(at, name, name_len) == 0) {
            char *value = sw_alloc(len - name_len);
            (void)sw_percent_decode(at + name_len + 1, len - name_len - 1, value);
            return value;
        }
        at += len;
    }
    return NULL;
}

bool web_path_is(const struct sw_serve_request *r, const char *path)
{
    return r->path_len == strlen(path) && memcmp(r->path, path, r->path_len) == 0;
}

bool web_equals_secret(const char *a, const char *secret)
{
    size_t n = strlen(secret);
    unsigned char differs = 0;
    if (strlen(a) != n)
        return false;
    for (size_t i = 0; i < n; i++)
        differs |= (unsigned char)(a[i] ^ secret[i]);
    return differs == 0;
}

char *web_token_of(const struct sw_serve_request *r)
{
    char *own = sw_serve_header(r, TOKEN_HEADER);
    if (own)
        return own;
    SW_AUTO_CHARS *header = sw_serve_header(r, "Authorization");
    char *token = header && sw_starts_with(header, "Bearer ")
                      ? sw_strdup(header + strlen("Bearer "))
                      : NULL;
    if (header)
        explicit_bzero(header, strlen(header));
    return token;
}

void web_token_free(char *token)
{
    if (token)
        explicit_bzero(token, strlen(token));
    free(token);
}
