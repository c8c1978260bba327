#pragma once
/* projection: the tree of fields to keep, and a builder that makes a document of only these fields
 * from the events of a reader. Internal to data. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "data/json/json.h"

/** One field in the tree of a projection. */
struct sw_field_node {
    char *key; /* owned */
    size_t key_len;
    bool keep; /* keep the whole subtree, except for children that are dropped */
    bool drop; /* drop the whole subtree */
    struct sw_field_node *children;
    size_t n_children, cap_children;
};

/** The fields to keep of each object; see sw_projection_compile(). */
struct sw_projection {
    struct sw_field_node root;
};

/** The node that keeps the whole value. */
extern const struct sw_field_node sw_field_all;

/** The node for the member @key, borrowed; NULL: the member is skipped. */
const struct sw_field_node *sw_field_child(const struct sw_field_node *node, const char *key,
                                           size_t key_len);

/** A map or list that is being built. */
struct sw_projector_frame {
    struct json_object *value; /* borrowed from the previous frame's value; the first is root */
    const struct sw_field_node *node;
};

/** Builds one value from events. Zero-initialise; sw_projector_done() frees it. */
struct sw_projector {
    struct json_object *root; /* owned */
    struct sw_projector_frame *frames;
    size_t n_frames, cap_frames;
    int skipping;                     /* depth in a subtree that is skipped; 0: not in one */
    const struct sw_field_node *next; /* the node for the next value; NULL: skip it */
    char *key;                        /* of the next value; owned */
    size_t key_cap;
};

/** Free the projector and the value that was not taken. */
void sw_projector_done(struct sw_projector *p);
/** Begin a value; @node says which of its fields to keep. It is borrowed until the value ends. */
void sw_projector_start(struct sw_projector *p, const struct sw_field_node *node);
/** Whether the value has begun and is not complete. */
bool sw_projector_open(const struct sw_projector *p);
/** The value that was built, which the caller owns. */
struct json_object *sw_projector_take(struct sw_projector *p);

/** Whether the projection keeps a scalar that comes next. If not, sw_projector_add() must not be
 * called for it. */
bool sw_projector_keeps_scalar(const struct sw_projector *p);
/** Add @scalar (taken; NULL: null) as the next value. */
void sw_projector_add(struct sw_projector *p, struct json_object *scalar);
/** A map or list begins; it is skipped where the projection does not keep it. */
void sw_projector_begin(struct sw_projector *p, bool map);
/** The key of the next value in the innermost map; copied. @return 0, or a negative code with @err
 */
int sw_projector_key(struct sw_projector *p, const char *key, size_t key_len, struct sw_err *err);
/** The innermost map or list ends. */
void sw_projector_end(struct sw_projector *p);
