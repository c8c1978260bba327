#pragma once
/* split: a template's output split into YAML documents. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct json_object;

/** The current document. Start with .text and .len set, the rest 0. */
struct sw_split {
    const char *text; /* of the whole output */
    size_t len;
    size_t at;       /* where the rest begins */
    const char *doc; /* the document, without blanks around it */
    size_t doc_len;
    int line;       /* where it begins, from 1; 0 before the first */
    size_t counted; /* up to here lines are counted */
};

/** Whether @c is white space, which does not make a document. */
static inline bool sw_split_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

/** The next document that is not blank. @return false at the end.
 * Source: Helm 3.7.1 releaseutil.SplitManifests: split at "---" at the start of a line, whatever
 * follows it. Pinned by test/unit/chart/recipe_parts_test.c. */
bool sw_split_next(struct sw_split *split);

/** The document as an object, the caller's; NULL: nothing but comments. A text in it that ends with
 * the document keeps its line end, as Helm writes one after each document. @path: of the template,
 * for messages. @return 0 | SW_INVALID: "path:line: ...", malformed YAML or not a map */
int sw_split_parse(const struct sw_split *split, const char *path, struct json_object **object,
                   struct sw_err *err) SW_CHECKED;
