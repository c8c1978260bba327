#pragma once
/* scaffold: the files of a recipe to begin with, as `slipway create` writes them. */
#include <stddef.h>

/** One file; @path is relative to the recipe's folder, @text has SW_SCAFFOLD_NAME where the
 * recipe's name belongs. */
struct sw_scaffold_file {
    const char *path, *text;
    size_t len; /* of bytes that are written as they are; 0: it is such a text */
};

#define SW_SCAFFOLD_NAME "<NAME>"

/** Ends with a NULL path. */
extern const struct sw_scaffold_file sw_scaffold[];
