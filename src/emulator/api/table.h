#pragma once
/* table: the meta.k8s.io/v1 Table that `kubectl get` prints. The columns of the built-in kinds are
 * in table_columns.c, those of a custom resource in its CRD (additionalPrinterColumns). */
#include "emulator/api/request.h"

/** An empty table with the columns of the request's kind; takes @meta (a list's), may be NULL. */
json_object *sw_table_new(struct sw_req *req, json_object *meta);
/** Add a row for @doc (borrowed), with the object or metadata that includeObject selects. */
void sw_table_add(struct sw_req *req, json_object *table, json_object *doc);
/** A table of one object (borrowed). */
json_object *sw_table_of_one(struct sw_req *req, json_object *doc);
/** Its PartialObjectMetadata; a new document. */
json_object *sw_table_partial(json_object *doc);

/* ---- columns ------------------------------------------------------------------------------------
 */

/** The arguments of a cell's function. */
struct sw_cell {
    json_object *doc;
    int64_t now_ms;
    const char *path; /* the column's: dotted, or what its function expects */
};

/** A column of a table. */
struct sw_column {
    const char *name, *type; /* "string", "integer", "boolean", "date" */
    int priority;            /* 0: always shown, 1: with -o wide */
    const char *path;
    json_object *(*cell)(const struct sw_cell *c);
};
/** The columns of a kind. */
struct sw_columns {
    const char *group, *kind;
    const struct sw_column *columns; /* after "Name", ended by an empty row */
    bool no_name;                    /* the first column is not the name */
};
/** The columns of a built-in kind; NULL: it has the default ones. */
const struct sw_columns *sw_columns_of(const struct sw_emu_kind *kind);

/** A duration as kubectl prints it, "3d4h". @buf holds 32 bytes. */
char *sw_human_duration(int64_t ms, char buf[static 32]);
