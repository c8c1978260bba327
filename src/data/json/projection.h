#pragma once
/* projection: the tree of wanted fields, and what builds a document of nothing but them out of a
 * reader's events. Internal to data. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "data/json/json.h"

struct sw_field_node {
    char *key;
    size_t key_len;
    bool keep; /* the whole subtree, save for what is dropped in it */
    bool drop;
    struct sw_field_node *children;
    size_t n_children, cap_children;
};

struct sw_projection {
    struct sw_field_node root;
};

/** Everything. */
extern const struct sw_field_node sw_field_all;

/** What is wanted of the member @key; NULL: nothing. */
const struct sw_field_node *sw_field_child(const struct sw_field_node *node, const char *key,
                                           size_t key_len);

struct sw_projector_frame {
    struct json_object *value; /* borrowed: it is in the frame before, the first is root */
    const struct sw_field_node *node;
};

/** Takes the events of one value. Zero-initialise. */
struct sw_projector {
    struct json_object *root; /* owned */
    struct sw_projector_frame *frames;
    size_t n_frames, cap_frames;
    int skipping;                     /* how deep in a subtree that nobody wants */
    const struct sw_field_node *next; /* what is wanted of the value to come */
    char *key;
    size_t key_cap;
};

void sw_projector_done(struct sw_projector *p);
/** The next value is to be built by @node. */
void sw_projector_start(struct sw_projector *p, const struct sw_field_node *node);
/** Whether it is complete, and taken from here. */
bool sw_projector_open(const struct sw_projector *p);
struct json_object *sw_projector_take(struct sw_projector *p);

/** Is a scalar that comes now wanted? Only then make it, and give it to sw_projector_add(). */
bool sw_projector_keeps_scalar(const struct sw_projector *p);
void sw_projector_add(struct sw_projector *p, struct json_object *scalar);
void sw_projector_begin(struct sw_projector *p, bool map);
int sw_projector_key(struct sw_projector *p, const char *key, size_t key_len, struct sw_err *err);
void sw_projector_end(struct sw_projector *p);
