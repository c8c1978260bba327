#define SW_CURL_PLAIN
#include "net/http/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sw_curl sw_curl;

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define ROW(name) { #name, offsetof(struct sw_curl, name##_) },
    SW_CURL_FUNCTIONS(ROW)
#undef ROW
};

static void fail(void)
{
    (void)fprintf(stderr, "slipway: error while loading shared libraries: %s\n", dlerror());
    exit(127);
}

static void load(void)
{
    /* Where libcurl's closure has GnuTLS, for RTMP and LDAP, that sets itself up when it is loaded:
     * most of a MiB, and nobody here speaks through it. */
    (void)setenv("GNUTLS_NO_IMPLICIT_INIT", "1", 0);
    void *handle = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_LOCAL);
    if (!handle)
        fail();
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *symbol = dlsym(handle, functions[i].name);
        if (!symbol)
            fail();
        memcpy((char *)&sw_curl + functions[i].offset, &symbol, sizeof symbol);
    }
    if (sw_curl.curl_global_init_(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        abort();
}

void sw_curl_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT; /* fetches may run on other threads */
    (void)pthread_once(&once, load);
}
