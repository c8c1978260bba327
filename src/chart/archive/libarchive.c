#include "chart/archive/libarchive.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#include "base/base.h"
#include "base/library.h"

static const struct sw_symbol symbols[] = {
#define SW_ARCHIVE_SYMBOL(function, name) SW_SYMBOL(function, struct sw_archive_functions, name),
    SW_ARCHIVE_FUNCTIONS(SW_ARCHIVE_SYMBOL)
#undef SW_ARCHIVE_SYMBOL
};

struct sw_archive_functions sw_archive;
static bool is_loaded;

static void load(void)
{
    const char *missing;
    is_loaded = sw_library_load("libarchive.so.13", RTLD_NOW | RTLD_LOCAL, symbols,
                                SW_COUNT(symbols), &sw_archive, &missing) != NULL;
}

bool sw_archive_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, load);
    return is_loaded;
}
