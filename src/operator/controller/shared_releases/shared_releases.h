#pragma once
/* shared_releases: what several resources use is installed once. shared_releases.c knows which
 * releases there are, whose they are, and what follows for a resource; entry_write.c writes that.
 */
#include "operator/controller/core.h"
#include "operator/manifests/shared_release.h"

/** A release that a resource uses, wants to use, or has used. */
struct shared_release {
    struct resource *r;
    struct shared_release *next;
    char *name;                    /* "<namespace>/<release>" */
    char *version;                 /* that the plan pins; NULL: the plan does not have it */
    struct json_object *states;    /* of it, whose turn has come: {name: has it objects of it?} */
    struct op *op;                 /* its namespace is being written; or NULL */
    bool again;                    /* something has changed since that began */
    bool is_offered, is_inherited; /* "objects" of its entry are in the next sw_spec; the engine has
                                    * them */
    bool records_are_over;         /* Helm's records of it have the heir as their owner */
    int code;                      /* why it could not be written, 0: it could */
    char *message;
};

/** What the plan of a resource says, or its deletion: what is to become of its release of @entry.
 */
enum shared_wish {
    SHARED_AS_IT_IS,
    SHARED_WANTED, /* it is used */
    SHARED_LEFT,   /* it is not used any more */
};

/** The releases of namespaces, as last read: {"<namespace>": sw_shared_releases_of()}. NULL: they
 * are not known yet. */
struct json_object *shared_known(const struct sw_controller *c);
/** What is known of @name; borrowed. NULL: there is no such release. */
struct json_object *shared_find(const struct sw_controller *c, const char *name);
/** Take what @ns, a Namespace, says; @gone: it does not exist any more. */
void shared_take(struct sw_controller *c, struct json_object *ns, const char *name, bool gone);
/** Look at all resources again, soon. */
void shared_check_soon(struct sw_controller *c);

/** May @r begin to use releases that it does not use yet: does nothing else keep it from being
 * walked? */
bool shared_may_begin(const struct resource *r);
/** Has a state whose turn has come objects of @p, or joined it? */
bool shared_is_claimed(const struct shared_release *p);
/** Is it the resource's own, and has none of its states an object of it: is it switched off? */
bool shared_is_off(const struct shared_release *p);
/** Change @entry as @p wishes, for now; NULL: there is none. @ns: the namespace that has it; NULL:
 * not read. *@out: as it is to be, the caller's; NULL: there is to be none. @return whether that is
 * something else */
bool shared_change(struct shared_release *p, struct json_object *ns, struct json_object *entry,
                   struct json_object **out);
/** Write it, if it is something else than what is known. */
void shared_settle(struct shared_release *p);
