#include <arpa/inet.h>
#include <stdlib.h>

#include "data/text/url.h"
#include "net/http/http.h"
#include "net/http/library.h"

static char *component(CURLU *url, CURLUPart which)
{
    char *text = NULL;
    bool is_user = which == CURLUPART_USER || which == CURLUPART_PASSWORD;
    unsigned flags = which == CURLUPART_PORT ? CURLU_DEFAULT_PORT : is_user ? CURLU_URLDECODE : 0;
    if (curl_url_get(url, which, &text, flags) != CURLUE_OK)
        return NULL;
    char *copy = sw_strdup(text);
    curl_free(text);
    return copy;
}

int sw_http_url_parse(const char *text, struct sw_http_url *out, struct sw_err *err)
{
    struct sw_http_url parts = { 0 };
    sw_curl_load();
    CURLU *url = curl_url();
    /* ".." stays, as in transfers: it is the server's to say what that is */
    if (curl_url_set(url, CURLUPART_URL, text, CURLU_PATH_AS_IS) == CURLUE_OK)
        parts = (struct sw_http_url){ .scheme = component(url, CURLUPART_SCHEME),
                                      .host = component(url, CURLUPART_HOST),
                                      .port = component(url, CURLUPART_PORT),
                                      .path = component(url, CURLUPART_PATH),
                                      .query = component(url, CURLUPART_QUERY),
                                      .username = component(url, CURLUPART_USER),
                                      .password = component(url, CURLUPART_PASSWORD) };
    curl_url_cleanup(url);
    if (!parts.host || !parts.port || !parts.path) {
        sw_http_url_done(&parts);
        SW_AUTO_CHARS *shown = sw_url_shown(text);
        return sw_err_set(err, SW_INVALID, "'%s' is not an address", shown);
    }
    *out = parts;
    return 0;
}

/* How libcurl reads the Location of an answer that it follows: blanks are escaped. */
#ifdef CURLU_ALLOW_SPACE
#define REDIRECT_FLAGS (CURLU_PATH_AS_IS | CURLU_URLENCODE | CURLU_ALLOW_SPACE)
#else
#define REDIRECT_FLAGS (CURLU_PATH_AS_IS | CURLU_URLENCODE)
#endif

char *sw_http_url_join(const char *base, const char *location)
{
    sw_curl_load();
    CURLU *url = curl_url();
    char *text = NULL, *scheme = NULL, *copy = NULL;
    bool ok = curl_url_set(url, CURLUPART_URL, base, CURLU_PATH_AS_IS) == CURLUE_OK &&
              curl_url_set(url, CURLUPART_URL, location, REDIRECT_FLAGS) == CURLUE_OK &&
              curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
              (sw_streq(scheme, "http") || sw_streq(scheme, "https")) &&
              curl_url_get(url, CURLUPART_URL, &text, 0) == CURLUE_OK;
    if (ok)
        copy = sw_strdup(text);
    curl_free(text);
    curl_free(scheme);
    curl_url_cleanup(url);
    return copy;
}

void sw_http_url_done(struct sw_http_url *url)
{
    free(url->scheme);
    free(url->host);
    free(url->port);
    free(url->path);
    free(url->query);
    free(url->username);
    free(url->password);
    *url = (struct sw_http_url){ 0 };
}

/* As Go's ProxyFromEnvironment: loopback addresses never use a proxy. */
bool sw_http_is_loopback(const char *host)
{
    struct in_addr address; /* "127.example" is a name as any other */
    return sw_streq(host, "localhost") || sw_streq(host, "[::1]") ||
           (sw_starts_with(host, "127.") && inet_pton(AF_INET, host, &address) == 1);
}
