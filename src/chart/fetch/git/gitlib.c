#include "chart/fetch/git/gitlib.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#if SW_HAVE_GIT
#define SONAME "libgit2.so." LIBGIT2_SOVERSION

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
#define SW_GIT_SYMBOL(function, name) { #function, offsetof(struct sw_git_lib, name) },
    SW_GIT_FUNCTIONS(SW_GIT_SYMBOL)
#undef SW_GIT_SYMBOL
};

/* Load the library and find its functions. */
static int load(struct sw_git_lib *lib, struct sw_err *err)
{
    void *handle = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return sw_err_set(err, SW_UNAVAILABLE,
                          "git repositories are read by libgit2, which is not installed (" SONAME
                          ")");
    for (size_t i = 0; i < SW_COUNT(symbols); i++) {
        void *symbol = dlsym(handle, symbols[i].name);
        if (!symbol)
            return sw_err_set(err, SW_UNAVAILABLE, SONAME " has no %s", symbols[i].name);
        memcpy((char *)lib + symbols[i].offset, &symbol, sizeof symbol);
    }
    return lib->init() < 0 ? sw_err_set(err, SW_UNAVAILABLE, SONAME " does not start") : 0;
}

const struct sw_git_lib *sw_git_load(struct sw_err *err)
{
    static struct sw_git_lib lib; /* one a process */
    static bool loaded;
    if (!loaded && load(&lib, err) < 0)
        return NULL;
    loaded = true;
    return &lib;
}
#endif
