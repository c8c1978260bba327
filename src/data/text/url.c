#include "data/text/url.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"

static bool is_scheme_char(char c)
{
    return isalnum((unsigned char)c) || c == '+' || c == '-' || c == '.';
}

/* Where the host, or the user before it, begins. */
static const char *behind_scheme(const char *url)
{
    const char *at = url;
    while (is_scheme_char(*at))
        at++;
    return strncmp(at, "://", 3) == 0 ? at + 3 : url;
}

/* Is what stands before the host "ssh://", "git+ssh://", in any case? Who logs in by a key has a
 * name that is no secret. */
static bool is_ssh(const char *url, const char *host)
{
    return host - url >= 6 && strncasecmp(host - 6, "ssh://", 6) == 0;
}

/* The '@' behind the user; NULL: there is none. One behind the first slash is a path's ("@scope",
 * a digest), unless what stands before that slash is no host with a port: then the password holds
 * the slash. */
static const char *user_end(const char *from)
{
    size_t len = strcspn(from, "/?#");
    const char *at = memrchr(from, '@', len), *colon = memchr(from, ':', len);
    if (at || !colon || *from == '[')
        return at;
    size_t n_digits = strspn(colon + 1, "0123456789");
    return colon + 1 + n_digits == from + len ? NULL : strrchr(from, '@');
}

static void show_query(char **out, const char *query)
{
    static const char *const harmless[] = { "ref", "path", "version" };
    for (const char *at = query; *at;) {
        size_t len = strcspn(at, "&;#"), n_key = strcspn(at, "=&;#");
        bool is_shown = false;
        for (size_t i = 0; i < SW_COUNT(harmless); i++)
            is_shown |= n_key == strlen(harmless[i]) && strncmp(at, harmless[i], n_key) == 0;
        if (is_shown)
            sw_append(out, "%.*s", (int)len, at);
        else if (n_key < len)
            sw_append(out, "%.*s=***", (int)n_key, at);
        else if (len)
            sw_append(out, "***");
        at += len;
        if (*at == '#') { /* the fragment */
            sw_append(out, "#***");
            return;
        }
        if (*at)
            sw_append(out, "%c", *at++);
    }
}

char *sw_url_shown(const char *url)
{
    const char *host = behind_scheme(url), *at = user_end(host);
    char *out = sw_strndup(url, (size_t)(host - url));
    if (at) {
        size_t n_name = strcspn(host, ":@");
        bool has_password = host + n_name < at;
        if (has_password || is_ssh(url, host))
            sw_append(&out, "%.*s%s", (int)n_name, host, has_password ? ":***" : "");
        else
            sw_append(&out, "***");
        host = at;
    }
    size_t len = strcspn(host, "?#");
    sw_append(&out, "%.*s", (int)len, host);
    if (host[len] == '#')
        sw_append(&out, "#***");
    else if (host[len]) {
        sw_append(&out, "?");
        show_query(&out, host + len + 1);
    }
    return out;
}

void sw_url_blank(char *text)
{
    for (char *sign = strstr(text, "://"); sign; sign = strstr(sign + 3, "://")) {
        char *from = sign + 3, *end = from + strcspn(from, " \t\r\n\"'<>`"), kept = *end;
        *end = '\0';
        char *at = (char *)user_end(from),
             *colon = at ? memchr(from, ':', (size_t)(at - from)) : NULL;
        bool by_key = sign - text >= 3 && strncasecmp(sign - 3, "ssh", 3) == 0;
        char *secret = colon ? colon + 1 : by_key ? at : from;
        *end = kept;
        if (at)
            memset(secret, '*', (size_t)(at - secret));
    }
}

/* ---- servers -----------------------------------------------------------------------------------
 */

static const char *port_of_scheme(const char *url, size_t len)
{
    static const struct {
        const char *scheme, *port;
    } rows[] = { { "https", "443" },     { "http", "80" },     { "oci", "443" },   { "ssh", "22" },
                 { "git+https", "443" }, { "git+http", "80" }, { "git+ssh", "22" } };
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        if (strlen(rows[i].scheme) == len && strncasecmp(rows[i].scheme, url, len) == 0)
            return rows[i].port;
    return NULL;
}

bool sw_url_server(const char *text, struct sw_url_server *out)
{
    const char *from = behind_scheme(text);
    const char *scheme_port = from > text ? port_of_scheme(text, (size_t)(from - text) - 3) : NULL;
    size_t len = strcspn(from, "/?#");
    const char *at = memrchr(from, '@', len);
    if (at) {
        len -= (size_t)(at + 1 - from);
        from = at + 1;
    }
    const char *bracket = *from == '[' ? memchr(from, ']', len) : NULL;
    const char *tail = bracket ? bracket + 1 : from;
    const char *colon = memchr(tail, ':', len - (size_t)(tail - from));
    size_t n_host = colon ? (size_t)(colon - from) : len;
    if (n_host == 0)
        return false;
    *out = (struct sw_url_server){ .host = sw_strndup(from, n_host) };
    for (char *c = out->host; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    if (colon && len > n_host + 1)
        out->port = sw_strndup(colon + 1, len - n_host - 1);
    else if (scheme_port)
        out->port = sw_strdup(scheme_port);
    return true;
}

void sw_url_server_done(struct sw_url_server *server)
{
    free(server->host);
    free(server->port);
    *server = (struct sw_url_server){ 0 };
}

bool sw_url_server_is(const struct sw_url_server *a, const struct sw_url_server *b)
{
    return sw_streq(a->host, b->host) && (!a->port || !b->port || sw_streq(a->port, b->port));
}
