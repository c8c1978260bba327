#pragma once
/* seen: which objects a watch has told of, each by its key, uid and version alone. What a list says
 * anew, an event doubled, late or lost becomes by it the difference to what was told. */
#include <stdbool.h>
#include <stddef.h>

struct observed;

enum observed_change {
    OBSERVED_NEW,
    OBSERVED_CHANGED,
    OBSERVED_SAME,     /* told already, or older than what was told */
    OBSERVED_REPLACED, /* another object of that name: the one told of is gone */
};

struct observed_object {
    const char *ns; /* "" for none */
    const char *name;
    const char *uid;
    const char *resource_version;
};

struct observed *observed_new(void);
void observed_free(struct observed *observed);
size_t observed_count(const struct observed *observed);

/** Note that an object is there. In a list (@listed) what it says is true however old it looks;
 * in a watch a version lower than the one noted is an old tale. */
enum observed_change observed_put(struct observed *observed, const struct observed_object *o,
                                  bool listed);
/** Note that an object is gone. @return whether it had been told of. */
bool observed_remove(struct observed *observed, const struct observed_object *o);

/** A list begins, and ends: what was not put in between is missing from it. */
void observed_begin_list(struct observed *observed);
void observed_end_list(struct observed *observed);
/** After observed_end_list(): take the next object that the list did not have. @key's texts live
 * until
 * @seen is next called. @return false: no more */
bool observed_next_missing(struct observed *observed, struct observed_object *key);
