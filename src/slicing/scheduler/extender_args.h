#pragma once
/* question: a request of kube-scheduler, read from its bytes. It may name thousands of nodes, and a
 * document of them would cost more than the decisions about them: where the list is plain it is
 * read in place, and only the rest becomes a document. Internal to scheduler. Source:
 * k8s.io/kube-scheduler/extender/v1 (ExtenderArgs: no JSON tags, so fields go by their Go names; Go
 * takes them in either case). */
#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "base/base.h"

struct sw_projection;

/** Borrowed from the question's bytes or its document. */
struct name {
    const char *text;
    size_t len;
};

/** Zero is an empty one; it may be read into again and again, and keeps its room meanwhile. */
struct question {
    struct json_object *doc; /* without the names where they are plain; owned */
    struct name *names;      /* of nodes; owned, not what they point to */
    size_t n_names, cap;
    bool plain; /* names stand in the bytes between quotes, without escapes */
};

/** @body is borrowed until the question is cleared or read into again.
 * @return 0 | SW_INVALID: no JSON object */
int question_read(struct question *q, const struct sw_projection *fields, const char *body,
                  size_t len_bytes, struct sw_err *err) SW_CHECKED;
/** @return 0 | SW_INVALID: no list of node names is in it */
int question_need_names(const struct question *q, struct sw_err *err) SW_CHECKED;
/** Free what only this question needed. */
void question_clear(struct question *q);
/** Free all that it owns. */
void question_done(struct question *q);
/** A value by its Go name, or in lower case; borrowed. */
struct json_object *question_get(struct json_object *doc, const char *name, const char *other);
