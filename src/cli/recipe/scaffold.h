#pragma once
/* scaffold: the files of recipes to begin with, as `slipway create` writes them. */
#include <stddef.h>

/** One file; @path is relative to the recipe's folder, @text has SW_SCAFFOLD_NAME where the
 * recipe's name belongs, SW_SCAFFOLD_IMAGE where its image does. */
struct sw_scaffold_file {
    const char *path, *text;
    size_t len; /* of bytes that are written as they are; 0: it is such a text */
};

#define SW_SCAFFOLD_NAME "<NAME>"
#define SW_SCAFFOLD_IMAGE "<IMAGE>"

/** A kind of recipe. */
struct sw_scaffold {
    const char *kind;
    const char *doc;                      /* what it is for */
    const char *image;                    /* the default, with SW_SCAFFOLD_NAME in it or not */
    const struct sw_scaffold_file *files; /* ends with a NULL path */
};

/** Ends with a NULL kind; the first is the default. */
extern const struct sw_scaffold sw_scaffolds[];
