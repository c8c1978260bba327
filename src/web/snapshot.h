#pragma once
/* snapshot: the objects of the cluster that the page shows, each cut down to what it shows of them,
 * kept up to date by watches. Internal to web. */
#include <stdbool.h>
#include <stddef.h>

#include "data/text/buffer.h"

struct json_object;
struct sw_kube;
struct sw_loop;
struct web_snapshot;

/** Something has changed: web_snapshot_put_changes() tells it, in this call. */
typedef void web_change_fn(void *arg);

/** What somebody sees of what there is, who may not see all. */
struct web_filter {
    /** @text of an object, or what stands for it: *@own, heap; NULL: he does not see it. */
    const char *(*see)(const char *kind, const char *key, const char *text, char **own, void *arg);
    void *arg;
    struct json_object *hidden; /* told with what is said about the server; borrowed. NULL: none */
};

/** Open the watches. @change is told what has changed, some 20 times a second at most. @loop and
 * @kube are borrowed. */
struct web_snapshot *web_snapshot_new(struct sw_loop *loop, struct sw_kube *kube,
                                      web_change_fn *change, void *arg);
/** Closes the watches. NULL is accepted. */
void web_snapshot_free(struct web_snapshot *s);
/** Kinds that were not served, or not to be read, are tried again. */
void web_snapshot_try_again(struct web_snapshot *s);
/** The API server answers, or (@why) does not. */
void web_snapshot_server(struct web_snapshot *s, const char *why);
/** Append everything as messages of the stream (text/event-stream): what a new connection gets
 * first. @version: of the program; @filter: NULL: all is seen */
void web_snapshot_put(const struct web_snapshot *s, const char *version,
                      const struct web_filter *filter, struct sw_buffer *out);
/** Append what has changed since the last call of the web_change_fn; nothing, where @filter hides
 * it. */
void web_snapshot_put_changes(const struct web_snapshot *s, const struct web_filter *filter,
                              struct sw_buffer *out);
/** Append everything as one JSON document: {"now", "objects": [[kind, key, object]...]...}. */
void web_snapshot_document(const struct web_snapshot *s, const char *version,
                           const struct web_filter *filter, struct sw_buffer *out);
/** Whether everything that can be read was. */
bool web_snapshot_is_synced(const struct web_snapshot *s);
/** Whether the pod is one of those that are shown. */
bool web_snapshot_has_pod(const struct web_snapshot *s, const char *ns, const char *name);
