#include "chart/fetch/git/giturl.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/percent.h"
#include "data/text/url.h"

static const struct {
    const char *prefix;
    const char *scheme; /* what git has in its place */
    bool has_host;
} schemes[] = {
    { "git+https://", "https://", true },
    { "git+http://", "http://", true },
    { "git+ssh://", "ssh://", true },
    { "git+file://", "", false },
};

void sw_git_url_done(struct sw_git_url *url)
{
    free(url->remote);
    free(url->path);
    free(url->ref);
    free(url->host);
    free(url->username);
    free(url->password);
    *url = (struct sw_git_url){ 0 };
}

int sw_git_path_join(const char *path, const char *relative, char **out, struct sw_err *err)
{
    if (*relative == '/')
        return sw_err_set(err, SW_INVALID, "'%s': an absolute path", relative);
    SW_AUTO_CHARS *both = sw_printf("%s/%s", path, relative);
    SW_AUTO_CHARS *joined = sw_zalloc(strlen(both) + 1, 1);
    size_t len = 0;
    for (const char *part = both; *part;) {
        size_t n = strcspn(part, "/");
        if (n == 2 && memcmp(part, "..", 2) == 0) {
            if (len == 0)
                return sw_err_set(err, SW_INVALID, "'%s': a path that leads outside the repository",
                                  relative);
            while (len > 0 && joined[--len] != '/')
                ;
            joined[len] = '\0';
        } else if (n > 0 && !(n == 1 && *part == '.')) {
            if (len)
                joined[len++] = '/';
            memcpy(joined + len, part, n);
            len += n;
        }
        part += n + (part[n] == '/');
    }
    joined[len] = '\0';
    *out = SW_TAKE(joined);
    return 0;
}

/* "%2F" and so on, in place. @return false: malformed, or a NUL */
static bool unescape(char *text)
{
    for (const char *at = text; (at = strchr(at, '%')); at++)
        if (sw_hex_digit(at[1]) < 0 || sw_hex_digit(at[2]) < 0 || strncmp(at, "%00", 3) == 0)
            return false;
    (void)sw_percent_decode(text, strlen(text), text);
    return true;
}

static bool has_control(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return true;
    return false;
}

/* "ref=v1&path=charts/a" */
static int read_query(char *query, struct sw_git_url *url, struct sw_err *err)
{
    for (char *at = query; at && *at;) {
        char *next = strchr(at, '&'), *value = strchr(at, '=');
        if (next)
            *next++ = '\0';
        if (!value)
            return sw_err_set(err, SW_INVALID, "expected ref=... or path=... behind the '?'");
        *value++ = '\0';
        char **to = sw_streq(at, "ref") ? &url->ref : sw_streq(at, "path") ? &url->path : NULL;
        if (!to)
            return sw_err_set(err, SW_INVALID, "'%s': only ref and path are known", at);
        if (!unescape(value) || has_control(value))
            return sw_err_set(err, SW_INVALID, "%s: malformed", at);
        if (*to)
            return sw_err_set(err, SW_INVALID, "%s: given twice", at);
        *to = sw_strdup(value);
        at = next;
    }
    return 0;
}

/* Take user and password out of the address, which is in messages and in the cache; SSH's user
 * stays. */
static void take_host(const char *rest, size_t host_len, const char *scheme, struct sw_git_url *url)
{
    const char *at = memrchr(rest, '@', host_len), *host = at ? at + 1 : rest;
    const char *colon = at ? memchr(rest, ':', (size_t)(at - rest)) : NULL;
    bool is_ssh = sw_streq(scheme, "ssh://");
    url->host = sw_strndup(host, (size_t)(rest + host_len - host));
    if (at)
        url->username = sw_strndup(rest, (size_t)((colon ? colon : at) - rest));
    if (colon)
        url->password = sw_strndup(colon + 1, (size_t)(at - colon - 1));
    if (url->username)
        (void)unescape(url->username);
    if (url->password)
        (void)unescape(url->password);
    if (at && is_ssh)
        url->remote = sw_printf("%s%.*s@%s", scheme, (int)((colon ? colon : at) - rest), rest,
                                host);
    else
        url->remote = sw_printf("%s%s", scheme, host);
}

static int parse_rest(char *rest, bool has_host, const char *scheme, struct sw_git_url *url,
                      struct sw_err *err)
{
    char *query = strchr(rest, '?');
    if (query)
        *query++ = '\0';
    char *inner = strstr(rest, "//"); /* the path in the repository follows */
    if (inner)
        *inner = '\0';
    rest[sw_before_slashes(rest, strlen(rest), 1)] = '\0';
    size_t host_len = has_host ? strcspn(rest, "/") : 0;
    if (inner && inner[2])
        url->path = sw_strdup(inner + 2);
    int rc = read_query(query, url, err);
    if (rc < 0)
        return rc;
    const char *name = rest + host_len;
    while (*name == '/')
        name++;
    if ((has_host && host_len == 0) || !*name || (!has_host && *rest != '/'))
        return sw_err_set(err, SW_INVALID, "no repository in it");
    take_host(rest, host_len, scheme, url);
    if (has_host && !*url->host)
        return sw_err_set(err, SW_INVALID, "no host in it");
    if (url->host[0] == '-' || (url->ref && url->ref[0] == '-') || has_control(rest))
        return sw_err_set(err, SW_INVALID, "malformed");
    url->ref = url->ref ? url->ref : sw_strdup("");
    SW_AUTO_CHARS *path = url->path;
    url->path = NULL;
    return sw_git_path_join("", path ? path + strspn(path, "/") : "", &url->path, err);
}

int sw_git_url_parse(const char *text, struct sw_git_url *out, struct sw_err *err)
{
    for (size_t i = 0; i < SW_COUNT(schemes); i++) {
        if (!sw_starts_with(text, schemes[i].prefix))
            continue;
        struct sw_git_url url = { 0 };
        SW_AUTO_CHARS *rest = sw_strdup(text + strlen(schemes[i].prefix));
        int rc = parse_rest(rest, schemes[i].has_host, schemes[i].scheme, &url, err);
        if (rc < 0) {
            SW_AUTO_CHARS *shown = sw_url_shown(text);
            sw_git_url_done(&url);
            return sw_err_wrap(err, rc, "%s", shown);
        }
        *out = url;
        return 0;
    }
    SW_AUTO_CHARS *shown = sw_url_shown(text);
    return sw_err_set(err, SW_INVALID, "%s: not a git repository's address", shown);
}

char *sw_git_url_text(const struct sw_git_url *url, const char *path, const char *ref)
{
    bool is_file = *url->remote == '/';
    return sw_printf("git+%s%s%s%s%s%s", is_file ? "file://" : "", url->remote, *path ? "//" : "",
                     path, *ref ? "?ref=" : "", ref);
}
