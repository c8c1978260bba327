#pragma once
/* Libraries that are loaded when they are needed, not when the program starts: what a program does
 * not use costs it no memory. Each has a table of functions of its own, which is filled here. In
 * the programs of a release (`make static`) they are linked, and nothing is loaded. */
#include <stdbool.h>
#include <stddef.h>

/** A function of a library. */
struct sw_symbol {
    const char *name;
    size_t offset;    /* where its address goes in the caller's table */
    bool is_optional; /* NULL goes there if the library lacks it */
    void *address;    /* of a function that is linked into the program; NULL: the library has it */
};

/** The row of @function, which must be there: its address goes into @member of @table, a struct. In
 * programs with SW_STATIC, which have the library in them, the row has the address already. */
#ifdef SW_STATIC
#define SW_SYMBOL(function, table, member)                                                         \
    {                                                                                              \
#function, offsetof(table, member), false, (void *)(function)                              \
    }
#else
#define SW_SYMBOL(function, table, member)                                                         \
    {                                                                                              \
#function, offsetof(table, member), false, NULL                                            \
    }
#endif

/** Load @library (a soname or a path) with dlopen()'s @flags, and put the addresses of its @n
 * @symbols into @table. It stays loaded; to end it, pass what is returned to dlclose().
 * @return NULL: it failed; *@missing is the symbol that it lacks, or NULL where it cannot be loaded
 * at all, and dlerror() says why */
void *sw_library_load(const char *library, int flags, const struct sw_symbol *symbols, size_t n,
                      void *table, const char **missing);

/** The same for one without which the program cannot go on: if it fails, the process ends with the
 * message and the exit status of the dynamic loader. */
void sw_library_need(const char *library, const struct sw_symbol *symbols, size_t n, void *table);
