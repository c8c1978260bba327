#pragma once
/* library: libarchive, loaded at first use: with it come libxml2, ICU and a C++ runtime, several
 * times the start-up of a program that renders a directory. */
#include <stdbool.h>
#include <stddef.h>

/** A function of the library, and where its address goes in the user's struct of pointers. */
struct sw_archive_symbol {
    const char *name;
    size_t offset;
};

/** Fill @into, a struct of function pointers, by @symbols.
 * @return false: there is no libarchive here, or it lacks a function */
bool sw_archive_load(const struct sw_archive_symbol *symbols, size_t n_symbols, void *into);
