#pragma once
/* extender_args: a request of kube-scheduler, read from its bytes. It may name thousands of nodes,
 * and a document of them would cost more than the decisions about them: where the list is plain it
 * is read in place, and only the rest becomes a document. Internal to scheduler. Source:
 * k8s.io/kube-scheduler/extender/v1 (ExtenderArgs: no JSON tags, so fields go by their Go names; Go
 * takes them in either case). */
#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "base/base.h"

struct sw_projection;

/** Borrowed from the request's bytes or its document. */
struct name {
    const char *text;
    size_t len;
};

/** A request. Zero is an empty one; it is read into again and again, and keeps its memory. */
struct extender_args {
    struct json_object *doc; /* without the names where they are plain; owned */
    struct name *names;      /* of nodes; owned, not what they point to */
    size_t n_names, cap;
    bool plain; /* names stand in the bytes between quotes, without escapes */
};

/** @body is borrowed until the request is cleared or read into again.
 * @return 0 | SW_INVALID: no JSON object */
int extender_args_read(struct extender_args *q, const struct sw_projection *fields,
                       const char *body, size_t len_bytes, struct sw_err *err) SW_CHECKED;
/** @return 0 | SW_INVALID: no list of node names is in it */
int extender_args_need_names(const struct extender_args *q, struct sw_err *err) SW_CHECKED;
/** Free what only this request needed. */
void extender_args_clear(struct extender_args *q);
/** Free all that it owns. */
void extender_args_done(struct extender_args *q);
/** A value by its Go name, or in lower case; borrowed. */
struct json_object *extender_args_get(struct json_object *doc, const char *name, const char *other);
