#include "base/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The function's address: NULL if the library lacks it. */
static void *address_of(const struct sw_symbol *symbol, void *handle)
{
    return symbol->address ? symbol->address : dlsym(handle, symbol->name);
}

void *sw_library_load(const char *library, int flags, const struct sw_symbol *symbols, size_t n,
                      void *table, const char **missing)
{
    void *handle = n && symbols->address ? table : dlopen(library, flags);
    *missing = NULL;
    for (size_t i = 0; handle && i < n; i++) {
        void *address = address_of(&symbols[i], handle);
        if (!address && !symbols[i].is_optional) {
            *missing = symbols[i].name;
            (void)dlclose(handle); /* dlerror() still says what is missing */
            return NULL;
        }
        memcpy((char *)table + symbols[i].offset, &address, sizeof address);
    }
    return handle;
}

void sw_library_need(const char *library, const struct sw_symbol *symbols, size_t n, void *table)
{
    const char *missing;
    if (sw_library_load(library, RTLD_LAZY | RTLD_LOCAL, symbols, n, table, &missing))
        return;
    (void)fprintf(stderr, "slipway: error while loading shared libraries: %s\n", dlerror());
    exit(127);
}
