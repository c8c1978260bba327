#define SW_OPENSSL_PLAIN
#include "base/openssl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(OPENSSL_VERSION_MAJOR == 3,
               "the names of the libraries below are those of OpenSSL 3");

struct function {
    const char *name;
    size_t offset;
};

static const struct function crypto_functions[] = {
#define ROW(name) { #name, offsetof(struct sw_libcrypto, name##_) },
    SW_LIBCRYPTO_FUNCTIONS(ROW)
#undef ROW
};

static const struct function ssl_functions[] = {
#define ROW(name) { #name, offsetof(struct sw_libssl, name##_) },
    SW_LIBSSL_FUNCTIONS(ROW)
#undef ROW
};

static struct sw_libcrypto crypto;
static struct sw_libssl ssl;

static void fail(void)
{
    (void)fprintf(stderr, "slipway: error while loading shared libraries: %s\n", dlerror());
    exit(127);
}

static void load(const char *library, const struct function *functions, size_t n, void *into)
{
    void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    if (!handle)
        fail();
    for (size_t i = 0; i < n; i++) {
        void *symbol = dlsym(handle, functions[i].name);
        if (!symbol)
            fail();
        memcpy((char *)into + functions[i].offset, &symbol, sizeof symbol);
    }
}

static void load_crypto(void)
{
    load("libcrypto.so.3", crypto_functions, sizeof crypto_functions / sizeof *crypto_functions,
         &crypto);
}

static void load_ssl(void)
{
    load("libssl.so.3", ssl_functions, sizeof ssl_functions / sizeof *ssl_functions, &ssl);
}

const struct sw_libcrypto *sw_libcrypto(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, load_crypto);
    return &crypto;
}

const struct sw_libssl *sw_libssl(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, load_ssl);
    return &ssl;
}
