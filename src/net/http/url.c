#include <stdlib.h>

#include "net/http/http.h"
#include "net/http/library.h"

static char *component(CURLU *url, CURLUPart which)
{
    char *text = NULL;
    if (curl_url_get(url, which, &text, which == CURLUPART_PORT ? CURLU_DEFAULT_PORT : 0) !=
        CURLUE_OK)
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
    if (curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK)
        parts = (struct sw_http_url){ .scheme = component(url, CURLUPART_SCHEME),
                                      .host = component(url, CURLUPART_HOST),
                                      .port = component(url, CURLUPART_PORT),
                                      .path = component(url, CURLUPART_PATH),
                                      .query = component(url, CURLUPART_QUERY) };
    curl_url_cleanup(url);
    if (!parts.host || !parts.port || !parts.path) {
        sw_http_url_done(&parts);
        return sw_err_set(err, SW_INVALID, "'%s' is not an address", text);
    }
    *out = parts;
    return 0;
}

void sw_http_url_done(struct sw_http_url *url)
{
    free(url->scheme);
    free(url->host);
    free(url->port);
    free(url->path);
    free(url->query);
    *url = (struct sw_http_url){ 0 };
}

/* As Go's ProxyFromEnvironment: loopback addresses never use a proxy. */
bool sw_http_is_loopback(const char *host)
{
    return sw_streq(host, "localhost") || sw_starts_with(host, "127.") || sw_streq(host, "[::1]");
}
