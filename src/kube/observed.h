#pragma once
/* observed: the objects that a watch has reported, with namespace, name, uid and version. With it a
 * new list, or a duplicate, late or lost event, is reduced to the changes since the last report. */
#include <stdbool.h>
#include <stddef.h>

struct observed;

/** How an object differs from what was reported. */
enum observed_change {
    OBSERVED_NEW,
    OBSERVED_CHANGED,
    OBSERVED_SAME,     /* already reported, or older than the reported version */
    OBSERVED_REPLACED, /* another uid: the reported object is gone */
};

/** The identity and version of one object; borrowed strings. */
struct observed_object {
    const char *ns; /* "" for none */
    const char *name;
    const char *uid;
    const char *resource_version;
};

/** An empty set; observed_free() frees it. */
struct observed *observed_new(void);
/** Free the set. */
void observed_free(struct observed *observed);
/** The number of objects in the set. */
size_t observed_count(const struct observed *observed);

/** Record that an object exists. The version from a list (@listed) always counts; a version from a
 * watch that is lower than the recorded one is outdated. */
enum observed_change observed_put(struct observed *observed, const struct observed_object *o,
                                  bool listed);
/** Record that an object is deleted. @return whether it was in the set */
bool observed_remove(struct observed *observed, const struct observed_object *o);

/** A list begins. */
void observed_begin_list(struct observed *observed);
/** The list ends: objects that were not put since observed_begin_list() are missing from it. */
void observed_end_list(struct observed *observed);
/** After observed_end_list(): remove the next object that is missing from the list and store it in
 * @key, whose strings are valid until the next call on @observed. @return false: no more */
bool observed_next_missing(struct observed *observed, struct observed_object *key);
