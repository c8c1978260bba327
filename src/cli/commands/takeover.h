#pragma once
/* takeover: internal to the files of that name: what slipway in the place of another
 * operator would do, object by object. */
#include "cli/recipe/preview.h"

struct json_object;

/** The options of the command. */
struct takeover_opts {
    struct sw_connect_opts connect;
    const char *output, *charts;
    bool plan, keep_selectors;
    int64_t timeout_ms;
};

/** What happens to an object; takeover.c has the names and what they mean. */
enum takeover_change {
    TAKEOVER_UNCHANGED,
    TAKEOVER_ADOPTED,
    TAKEOVER_CHANGED,
    TAKEOVER_PODS_REPLACED,
    TAKEOVER_REPLACED,
    TAKEOVER_CREATED,
    TAKEOVER_DELETED,
    TAKEOVER_LEFT,
    TAKEOVER_REFUSED,
};

/** One run of the command. */
struct takeover {
    struct takeover_opts opts;
    struct sw_preview preview;     /* the connection, and the resource that is looked at */
    struct json_object *resources; /* all SpecialResources, borrowed */
    struct json_object *entries;   /* one an object, in the order of the work */
    struct json_object *seen;      /* by uid: the objects that are in @entries */
    size_t n_changed, n_refused;
};

/** What an entry says besides. */
struct takeover_more {
    const char *resource;       /* that it is of; NULL: of none */
    struct json_object *fields; /* paths that change; taken */
    int64_t pods;               /* how many are replaced */
    const char *why;            /* NULL: nothing more to say */
    bool is_operators;          /* of slipway itself: no change of what runs */
};
/** Add an entry for @doc. */
void takeover_add(struct takeover *t, enum takeover_change change, struct json_object *doc,
                  const struct takeover_more *more);

/** The paths at which two documents differ, an array, the caller's. */
struct json_object *takeover_fields(struct json_object *before, struct json_object *after);

/** Add the objects of @resource, a SpecialResource: what its recipe would do to them. */
void takeover_resource(struct takeover *t, struct json_object *resource);

/** Whether @doc, which is stored, is valid by @schema, the one that slipway brings. The paths that
 * @schema does not know are added to @unknown. @*why, NULL before: the errors, the caller's. */
bool takeover_accepts(struct json_object *schema, struct json_object *doc,
                      struct json_object *unknown, char **why);
