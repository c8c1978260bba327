/* Any text as a URL, as a password in one, as a token in a query, and as a text with URLs in it. */
#include <assert.h>
#include <string.h>

#include "base/base.h"
#include "data/text/percent.h"
#include "data/text/url.h"

/* What may be shown of a URL says no less when it is shown once more. */
static void check_shown(const char *text)
{
    SW_AUTO_CHARS *once = sw_url_shown(text), *twice = sw_url_shown(once);
    assert(strcmp(once, twice) == 0);
}

/* A password without a slash, and the value of a query, are gone, whatever else is in them. */
static void check_secret(const char *secret)
{
    if (*secret && !strpbrk(secret, "/?#")) {
        SW_AUTO_CHARS *url = sw_printf("HTTPS://u:%s@host/path", secret);
        SW_AUTO_CHARS *shown = sw_url_shown(url);
        assert(strcmp(shown, "HTTPS://u:***@host/path") == 0);
    }
    if (*secret && !strpbrk(secret, "&;#")) {
        SW_AUTO_CHARS *url = sw_printf("oci://host/path?ref=v1&token=%s#x", secret);
        SW_AUTO_CHARS *shown = sw_url_shown(url);
        assert(strcmp(shown, "oci://host/path?ref=v1&token=***#***") == 0);
    }
}

/* Only characters are replaced, by '*', and twice is once. */
static void check_blank(const char *text)
{
    SW_AUTO_CHARS *once = sw_strdup(text);
    sw_url_blank(once);
    assert(strlen(once) == strlen(text));
    for (size_t i = 0; text[i]; i++)
        assert(once[i] == text[i] || once[i] == '*');
    SW_AUTO_CHARS *twice = sw_strdup(once);
    sw_url_blank(twice);
    assert(strcmp(once, twice) == 0);
}

/* "host:port" of a server is that server again. */
static void check_server(const char *text)
{
    struct sw_url_server server, again;
    if (!sw_url_server(text, &server))
        return;
    SW_AUTO_CHARS *name = server.port ? sw_printf("%s:%s", server.host, server.port)
                                      : sw_strdup(server.host);
    assert(!strpbrk(name, "/?#@"));
    assert(sw_url_server(name, &again) && sw_url_server_is(&server, &again));
    assert(!server.port == !again.port);
    sw_url_server_done(&again);
    sw_url_server_done(&server);
}

/* What is encoded has no bytes but those that may stay, and is decoded to the same; what no one has
 * encoded gets no longer. */
static void check_percent(const char *text, const uint8_t *data, size_t size)
{
    SW_AUTO_CHARS *encoded = sw_percent_encode(text, SW_PERCENT_UNRESERVED);
    assert(strspn(encoded, "%-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") ==
           strlen(encoded));
    (void)sw_percent_decode(encoded, strlen(encoded), encoded);
    assert(strcmp(encoded, text) == 0);
    SW_AUTO_CHARS *decoded = sw_alloc(size + 1);
    size_t len = sw_percent_decode((const char *)data, size, decoded);
    assert(len <= size && decoded[len] == '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SW_AUTO_CHARS *text = sw_strndup((const char *)data, size);
    check_shown(text);
    check_secret(text);
    check_blank(text);
    check_server(text);
    check_percent(text, data, size);
    return 0;
}
