#define SW_CURL_PLAIN
#include "net/http/library.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/library.h"

struct sw_curl sw_curl;

static const struct sw_symbol functions[] = {
#define ROW(name) SW_SYMBOL(name, struct sw_curl, name##_),
    SW_CURL_FUNCTIONS(ROW)
#undef ROW
};

static void load(void)
{
    /* Where libcurl's closure has GnuTLS, for RTMP and LDAP, that sets itself up when it is loaded:
     * most of a MiB, and nobody here speaks through it. */
    (void)setenv("GNUTLS_NO_IMPLICIT_INIT", "1", 0);
    sw_library_need("libcurl.so.4", functions, sizeof functions / sizeof *functions, &sw_curl);
    if (sw_curl.curl_global_init_(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        abort();
}

void sw_curl_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT; /* fetches may run on other threads */
    (void)pthread_once(&once, load);
}
