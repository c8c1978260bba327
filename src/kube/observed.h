#pragma once
/* seen: which objects a watch has told of, each by its key, uid and version alone. What a list says
 * anew, an event doubled, late or lost becomes by it the difference to what was told. */
#include <stdbool.h>
#include <stddef.h>

struct seen;

enum seen_change {
    SEEN_NEW,
    SEEN_CHANGED,
    SEEN_SAME,     /* told already, or older than what was told */
    SEEN_REPLACED, /* another object of that name: the one told of is gone */
};

struct seen_object {
    const char *ns; /* "" for none */
    const char *name;
    const char *uid;
    const char *resource_version;
};

struct seen *seen_new(void);
void seen_free(struct seen *seen);
size_t seen_count(const struct seen *seen);

/** Note that an object is there. In a list (@listed) what it says is true however old it looks;
 * in a watch a version lower than the one noted is an old tale. */
enum seen_change seen_put(struct seen *seen, const struct seen_object *o, bool listed);
/** Note that an object is gone. @return whether it had been told of. */
bool seen_remove(struct seen *seen, const struct seen_object *o);

/** A list begins, and ends: what was not put in between is missing from it. */
void seen_begin_list(struct seen *seen);
void seen_end_list(struct seen *seen);
/** After seen_end_list(): take the next object that the list did not have. @key's texts live until
 * @seen is next called. @return false: no more */
bool seen_next_missing(struct seen *seen, struct seen_object *key);
