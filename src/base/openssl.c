#define SW_OPENSSL_PLAIN
#include "base/openssl.h"

#include <pthread.h>
#include <stddef.h>

#include "base/library.h"

_Static_assert(OPENSSL_VERSION_MAJOR == 3,
               "the names of the libraries below are those of OpenSSL 3");

static const struct sw_symbol crypto_functions[] = {
#define ROW(name) SW_SYMBOL(name, struct sw_libcrypto, name##_),
    SW_LIBCRYPTO_FUNCTIONS(ROW)
#undef ROW
};

static const struct sw_symbol ssl_functions[] = {
#define ROW(name) SW_SYMBOL(name, struct sw_libssl, name##_),
    SW_LIBSSL_FUNCTIONS(ROW)
#undef ROW
};

static struct sw_libcrypto crypto;
static struct sw_libssl ssl;

static void load_crypto(void)
{
    sw_library_need("libcrypto.so.3", crypto_functions,
                    sizeof crypto_functions / sizeof *crypto_functions, &crypto);
}

static void load_ssl(void)
{
    sw_library_need("libssl.so.3", ssl_functions, sizeof ssl_functions / sizeof *ssl_functions,
                    &ssl);
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
