#pragma once
/* takeover: internal to the files of that name: what slipway in the place of another
 * operator would do, object by object. */
#include "cli/recipe/preview.h"

struct json_object;
struct sw_recipe;

/** The options of the command. */
struct takeover_opts {
    struct sw_connect_opts connect;
    const char *output, *charts, *recipes;
    bool plan, keep_selectors, legacy_rights;
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
    const char *operator_ns;       /* of the operator that goes; owned */
    struct json_object *entries;   /* one an object, in the order of the work */
    struct json_object *told;      /* by uid: the objects that are in @entries */
    struct json_object *apart;     /* by uid: owners whose objects are not compared, and why */
    struct json_object *builds;    /* BuildConfigs that are not there, of this recipe */
    struct json_object *vendors;   /* by name: of its driver containers */
    char *account;                 /* of the resource that is looked at; NULL: the operator's */
    bool rights_unknown;           /* what the account may do cannot be asked */
    size_t n_forbidden;            /* objects of the resource that the account may not write */
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

/** The same, before the @at-th entry: what follows is made by @doc. */
void takeover_add_at(struct takeover *t, size_t at, enum takeover_change change,
                     struct json_object *doc, const struct takeover_more *more);
/** Whether @doc has an entry. */
bool takeover_is_told(const struct takeover *t, struct json_object *doc);

/** The paths at which two documents differ, an array, the caller's. */
struct json_object *takeover_fields(struct json_object *before, struct json_object *after);

/** Add @resource, a SpecialResource, and what its recipe would do to its objects. One without a uid
 * is not there yet. */
void takeover_resource(struct takeover *t, struct json_object *resource);
/** The same of @module, a SpecialResourceModule, for each version that it finds. */
void takeover_module(struct takeover *t, struct json_object *module);
/** The same of @das, a DASOperator, for which slipway makes a resource. */
void takeover_das(struct takeover *t, struct json_object *das);
/** Add the objects that the recipe of t->preview.resource makes; the preview is closed by the
 * caller. @return 0 | as takeover_recipe(), sw_preview_open(), sw_preview_each() */
int takeover_objects(struct takeover *t, struct sw_err *err) SW_CHECKED;

/** Whether nothing is done for @doc now: it is refused by its definition, deleted or Unmanaged. It
 * has its entry then, and its objects are told as left alone. */
bool takeover_is_left_alone(struct takeover *t, struct json_object *doc);
/** The entry of @doc, whose objects are those from the @at-th entry on. @code less than 0: it could
 * not be compared, for the reason @why; else NULL, or more to say. */
void takeover_close(struct takeover *t, size_t at, struct json_object *doc, int code,
                    const char *why);

/** From here on it is looked at what the account of @doc, a resource or module, may do. @return 0 |
 * as requests.h */
int takeover_rights_open(struct takeover *t, struct json_object *doc,
                         struct sw_err *err) SW_CHECKED;
/** Whether the account may write an object, if the dry run has not shown it. @return 0 |
 * SW_FORBIDDEN: it may not | as requests.h */
int takeover_rights_check(struct takeover *t, const struct sw_preview_change *change,
                          struct sw_err *err) SW_CHECKED;
/** The end of it. What is to be said of the account, the caller's; NULL: nothing. */
char *takeover_rights_close(struct takeover *t, struct json_object *doc);

/** The account that what @doc asks for is done as, the caller's; NULL: the operator's, or one that
 * `make deploy-das` gives its rights. */
char *takeover_account(const struct takeover *t, struct json_object *doc);
/** Fetch the recipe of @doc, a resource or module, with what its account may read of the cluster.
 * @return 0 | as requests.h | as sw_fetcher_get() and sw_recipe_from_bundle() */
int takeover_recipe(struct takeover *t, struct json_object *doc, struct sw_recipe **out,
                    struct sw_err *err) SW_CHECKED;

/** Whether @doc, which is stored, is valid by @schema, the one that slipway brings. The paths that
 * @schema does not know are added to @unknown. @*why, NULL before: the errors, the caller's. */
bool takeover_accepts(struct json_object *schema, struct json_object *doc,
                      struct json_object *unknown, char **why);
