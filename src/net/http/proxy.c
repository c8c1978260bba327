#include <stdlib.h>
#include <string.h>

#include "data/text/url.h"
#include "net/http/internal.h"
#include "net/http/library.h"

/* The proxy that @t may go through, by the options and the environment as libcurl reads it.
 * Borrowed; NULL: none. */
static const char *proxy_of(const struct sw_http_transfer *t)
{
    static const char *const of_tls[] = { "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY" };
    static const char *const plain[] = { "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY" };
    if (t->http->opts.direct || t->http->opts.proxy_url)
        return t->http->opts.direct ? NULL : t->http->opts.proxy_url;
    const char *proxy = NULL;
    for (size_t i = 0; i < SW_COUNT(plain) && !(proxy && *proxy); i++)
        proxy = getenv(t->tls ? of_tls[i] : plain[i]);
    return proxy && *proxy ? proxy : NULL;
}

/* The place of @proxy, of whatever scheme, which may be left out; to be freed by
 * sw_http_url_done(). @return whether it is one */
static bool place_of(const char *proxy, struct sw_http_url *out)
{
    SW_ERR(err);
    const char *behind = strstr(proxy, "://");
    SW_AUTO_CHARS *url = sw_printf("http://%s", behind ? behind + 3 : proxy);
    return sw_http_url_parse(url, out, &err) == 0;
}

/* Whether libcurl's text says that it was @proxy to which no connection was made:
 * "Failed to connect to 10.0.0.1 port 3128 after 0 ms: ...". */
static bool is_about(const char *curl_text, const char *proxy)
{
    struct sw_http_url url = { 0 };
    if (!place_of(proxy, &url))
        return false;
    SW_AUTO_CHARS *place = sw_printf(" to %s port %s ", url.host, sw_text_or(url.port, "1080"));
    const bool is = strstr(curl_text, place) != NULL;
    sw_http_url_done(&url);
    return is;
}

char *sw_http_proxy_used(const struct sw_http_transfer *t)
{
    const char *proxy = proxy_of(t);
    struct sw_http_url url = { 0 };
    if (!proxy || !place_of(proxy, &url))
        return NULL;
    const bool is_used = t->http->opened_port == atoi(sw_text_or(url.port, "1080"));
    sw_http_url_done(&url);
    return is_used ? sw_url_shown(proxy) : NULL;
}

/* Has the connection ended before it reached the server? */
static bool has_broken_off(const struct sw_http_transfer *t, CURLcode rc, long status)
{
    curl_off_t through_us = 0;
    (void)curl_easy_getinfo(t->easy, CURLINFO_PRETRANSFER_TIME_T, &through_us);
    return status == 0 && through_us == 0 &&
           (rc == CURLE_RECV_ERROR || rc == CURLE_SEND_ERROR || rc == CURLE_GOT_NOTHING ||
            rc == CURLE_COULDNT_CONNECT || rc == CURLE_PROXY);
}

bool sw_http_explain_proxy(const struct sw_http_transfer *t, const char *server, CURLcode rc,
                           const char *why, struct sw_http_result *r, struct sw_err *err)
{
    enum { PROXY_LOGIN = 407, FIRST_REFUSAL = 300 };
    const char *proxy = proxy_of(t);
    SW_AUTO_CHARS *shown = proxy ? sw_url_shown(proxy) : NULL;
    SW_AUTO_CHARS *used = sw_http_proxy_used(t);
    long status = 0;
    (void)curl_easy_getinfo(t->easy, CURLINFO_HTTP_CONNECTCODE, &status);
    if (!proxy)
        return false;
    if (status == PROXY_LOGIN)
        r->code = sw_err_set(err, SW_INVALID, "%s: the proxy %s wants a login (407)", server,
                             shown);
    else if (status >= FIRST_REFUSAL)
        r->code = sw_err_set(err, SW_UNAVAILABLE, "%s: the proxy %s refuses to connect (%ld)",
                             server, shown, status);
    else if (rc == CURLE_COULDNT_RESOLVE_PROXY)
        r->code = sw_err_set(err, SW_UNAVAILABLE, "%s: the name of the proxy %s cannot be resolved",
                             server, shown);
    else if (rc == CURLE_COULDNT_CONNECT && is_about(t->curl_text, proxy))
        r->code = sw_err_set(err, SW_UNAVAILABLE, "%s: cannot connect to the proxy %s: %s", server,
                             shown, why);
    else if (used && has_broken_off(t, rc, status))
        r->code = sw_err_set(err, SW_UNAVAILABLE, "%s: the proxy %s did not connect to it: %s",
                             server, shown, *t->curl_text ? t->curl_text : why);
    else
        return false;
    r->unsent = true;
    return true;
}
