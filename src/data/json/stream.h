#pragma once
/* stream: reads lists and watches while their bytes arrive and keeps only the fields of each object
 * that a projection names. All other values are skipped without an allocation, so that the memory
 * for 5,000 nodes is that of the fields that are used. */
#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "base/base.h"

/** The fields to keep of each object, as dotted paths: "metadata.labels" (the whole subtree),
 * "status.nodeInfo.kernelVersion", "metadata.annotations['a.b/c']" or
 * "metadata.annotations.a\.b/c". A path applies to each element of a list: "spec.taints[*].key" and
 * "spec.taints.key" both keep the key of each taint. "!metadata.managedFields" drops a subtree. If
 * all paths begin with '!', everything else is kept; without any path, whole objects are kept. A
 * map of which nothing is kept is dropped. One projection can serve any number of streams. */
struct sw_projection;
/** Compile @paths. @*out is the caller's: sw_projection_free().
 * @return 0 | SW_INVALID "'a..b' is no path: ..." Pinned by test/unit/data/data_stream_test.c. */
int sw_projection_compile(const char *const *paths, size_t n_paths, struct sw_projection **out,
                          struct sw_err *err) SW_CHECKED;
/** Free the projection; no stream may use it any more. NULL is allowed. */
void sw_projection_free(struct sw_projection *projection);
SW_DEFINE_AUTO(sw_projection, sw_projection_free)

/** A new document with only the fields of @doc that @projection keeps, which the caller owns. */
struct json_object *sw_projection_of(const struct sw_projection *projection,
                                     struct json_object *doc) SW_CHECKED;

/** What the bytes of a stream contain. */
enum sw_stream_kind {
    SW_STREAM_LIST,   /* one List object: {"metadata":{...},"items":[...]} */
    SW_STREAM_WATCH,  /* {"type":"ADDED","object":{...}} one after another */
    SW_STREAM_OBJECT, /* one object */
};

/** Called for each item of a list and each event of a watch. @object is borrowed for the call; use
 * json_object_get() to keep it. @type: NULL in lists, else "ADDED", "MODIFIED", "DELETED",
 * "BOOKMARK" or "ERROR". The projection does not apply to the object of ERROR (a Status). An item
 * of a list has apiVersion and kind only if the server sent them with the item.
 * A negative return value ends the stream with that error. */
typedef int sw_stream_item(void *arg, const char *type, struct json_object *object,
                           struct sw_err *err);

/** How to read a stream. Zero selects the default of each field. */
struct sw_stream_opts {
    enum sw_stream_kind kind;
    const struct sw_projection
        *projection;       /* borrowed for the stream's life; NULL: whole objects */
    size_t max_item_bytes; /* length of the text of one item or event; 0: 16 MiB */
    size_t max_tree_bytes; /* memory of one object, see sw_stream_is_stripped(); 0: any */
    int max_depth;         /* at most, and 0: 512 */
};

/** A list, watch or object that is being read. */
struct sw_stream;
/** A new stream, which the caller owns: sw_stream_free(). @opts is borrowed for the call; @cb is
 * called with @arg from sw_stream_feed(). */
struct sw_stream *sw_stream_new(const struct sw_stream_opts *opts, sw_stream_item *cb, void *arg);
/** Free the stream; not from within its callback. NULL is allowed. */
void sw_stream_free(struct sw_stream *stream);
SW_DEFINE_AUTO(sw_stream, sw_stream_free)

/** Read the next bytes, which are borrowed for the call. After an error each further call returns
 * the same error.
 * @return 0 | SW_INVALID "at byte N: reason" | what the callback returned */
int sw_stream_feed(struct sw_stream *stream, const char *bytes, size_t len_bytes,
                   struct sw_err *err) SW_CHECKED;
/** The memory that the item took which is being delivered, or was last: see
 * sw_json_tree_bytes(). */
size_t sw_stream_item_bytes(const struct sw_stream *stream);
/** Did @object take more than max_tree_bytes? Then it has only apiVersion, kind and metadata's
 * name, namespace, uid, resourceVersion, generation and deletionTimestamp. */
bool sw_stream_is_stripped(struct json_object *object);

/** End the stream: there are no more bytes.
 * @return 0 | SW_UNAVAILABLE: the text is incomplete | the error of sw_stream_feed() */
int sw_stream_end(struct sw_stream *stream, struct sw_err *err) SW_CHECKED;

/** One object, nested at most 100 deep, that is read while its bytes come. */
struct sw_object_stream;
/** The caller's: sw_object_stream_free(). */
struct sw_object_stream *sw_object_stream_new(const struct sw_projection *projection);
/** NULL is allowed. */
void sw_object_stream_free(struct sw_object_stream *stream);
SW_DEFINE_AUTO(sw_object_stream, sw_object_stream_free)
/** Read the next bytes, which are borrowed for the call. @return 0 | SW_INVALID */
int sw_object_stream_feed(struct sw_object_stream *stream, const char *bytes, size_t len_bytes,
                          struct sw_err *err) SW_CHECKED;
/** There are no more bytes. @*out is the caller's. @return 0 | SW_INVALID: it is no JSON object */
int sw_object_stream_end(struct sw_object_stream *stream, struct json_object **out,
                         struct sw_err *err) SW_CHECKED;

/** Consecutive bytes of a text. */
struct sw_piece {
    const char *bytes;
    size_t len_bytes;
};
/** sw_object_stream, from the text that @pieces make up. @*out is the caller's.
 * @return 0 | SW_INVALID: the text is no JSON object */
int sw_stream_read_object(const struct sw_projection *projection, const struct sw_piece *pieces,
                          size_t n_pieces, struct json_object **out, struct sw_err *err) SW_CHECKED;

/** metadata.resourceVersion of the list, borrowed from the stream; "" if it has not been read. The
 * API server sends the metadata before the items, other servers may send it after them: call this
 * after sw_stream_end(). */
const char *sw_stream_resource_version(const struct sw_stream *stream);
/** metadata.continue of the list, as sw_stream_resource_version(). */
const char *sw_stream_continue(const struct sw_stream *stream);
