#pragma once
/* stream: lists and watches read while their bytes arrive, keeping of each object only the fields
 * that were declared. All other values are skipped without an allocation, so that 5,000 nodes cost
 * what their few fields cost. */
#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "base/base.h"

/** The fields to keep of each object, as dotted paths: "metadata.labels" (the whole subtree),
 * "status.nodeInfo.kernelVersion", "metadata.annotations['a.b/c']" or
 * "metadata.annotations.a\.b/c". Lists are looked through: "spec.taints[*].key" and
 * "spec.taints.key" both keep the key of each element. "!metadata.managedFields" leaves a subtree
 * out; without any path that keeps, all else is kept, so that no paths at all keep whole objects. A
 * map that nothing of is kept is left out. Shared by any number of streams.
 * @return 0 | SW_INVALID "'a..b' is no path: ..." Pinned by test/unit/data/data_stream_test.c. */
struct sw_projection;
int sw_projection_compile(const char *const *paths, size_t n_paths, struct sw_projection **out,
                          struct sw_err *err) SW_CHECKED;
void sw_projection_free(struct sw_projection *projection);
SW_DEFINE_AUTO(sw_projection, sw_projection_free)

/** The same on a document that is there already: a new, small document, the caller's. */
struct json_object *sw_projection_of(const struct sw_projection *projection,
                                     struct json_object *doc) SW_CHECKED;

enum sw_stream_kind {
    SW_STREAM_LIST,   /* one List object: {"metadata":{...},"items":[...]} */
    SW_STREAM_WATCH,  /* {"type":"ADDED","object":{...}} one after another */
    SW_STREAM_OBJECT, /* one object */
};

/** One item of a list, or one event. @object is borrowed for the call: json_object_get() keeps it.
 * @type: NULL in lists, else "ADDED", "MODIFIED", "DELETED", "BOOKMARK" or "ERROR". The object of
 * ERROR (a Status) is whole; in lists apiVersion and kind are those of the item where it has them.
 * A negative code ends the stream with it. */
typedef int sw_stream_item(void *arg, const char *type, struct json_object *object,
                           struct sw_err *err);

struct sw_stream_opts {
    enum sw_stream_kind kind;
    const struct sw_projection
        *projection;       /* borrowed for the stream's life; NULL: whole objects */
    size_t max_item_bytes; /* of text of one item or event; 0: 16 MiB */
    int max_depth;         /* at most, and 0: 512 */
};

struct sw_stream;
struct sw_stream *sw_stream_new(const struct sw_stream_opts *opts, sw_stream_item *cb, void *arg);
void sw_stream_free(struct sw_stream *stream);
SW_DEFINE_AUTO(sw_stream, sw_stream_free)

/** Feed bytes as they come. After an error the stream only repeats it.
 * @return 0 | SW_INVALID "at byte N: reason" | what the callback returned */
int sw_stream_feed(struct sw_stream *stream, const char *bytes, size_t len_bytes,
                   struct sw_err *err) SW_CHECKED;
/** The bytes are at their end. @return 0 | SW_UNAVAILABLE (cut off in the middle) */
int sw_stream_end(struct sw_stream *stream, struct sw_err *err) SW_CHECKED;

/** The list's metadata as far as it has been read: "" where there is none. Borrowed. With an API
 * server it comes before the items, but not with every server: ask after the end. */
const char *sw_stream_resource_version(const struct sw_stream *stream);
const char *sw_stream_continue(const struct sw_stream *stream);
/** The kind and apiVersion of the list, or of the one object where its projection keeps them; ""
 * else.
 */
const char *sw_stream_top_kind(const struct sw_stream *stream);
const char *sw_stream_top_api_version(const struct sw_stream *stream);
/** What came was the server's Status (kind "Status") instead: whole, or for SW_STREAM_OBJECT what
 * the projection kept of it; NULL if it was none. */
struct json_object *sw_stream_status(const struct sw_stream *stream);
/** Items or events delivered so far. */
size_t sw_stream_n_items(const struct sw_stream *stream);
