#pragma once
/* owner: whose an object on the cluster is: a resource's (or module's), or somebody else's, which
 * is not written. */
#include <stdbool.h>

struct json_object;

/** Who asks. All may be NULL. */
struct sw_owner {
    const char *name;           /* of a SpecialResource: its annotation says so, too */
    const char *uid;            /* of the resource or module */
    const char *predecessor;    /* uid of the DASOperator whose objects it goes on with */
    const char *object_uid;     /* that the object had when it was the owner's */
    const char *shared;         /* the shared release that the object is of */
    struct json_object *former; /* list of names: who has owned it, and is gone without having
                                   handed it over */
};

/** Did DAS make @live for the DASOperator of the uid @predecessor (NULL: no)? */
bool sw_owner_is_predecessor(struct json_object *live, const char *predecessor);
/** Why @live is not @owner's, heap; NULL: it is. */
char *sw_owner_foreign(const struct sw_owner *owner, struct json_object *live);
/** What is to be done about it, behind that text. */
#define SW_OWNER_ADVICE                                                                            \
    "remove it, name another in the recipe, or take it over: annotate its manifest in the "        \
    "recipe with " SW_ANN_ADOPT
/** Has @live, which is @owner's, still the mark of a former owner? */
bool sw_owner_is_former(const struct sw_owner *owner, struct json_object *live);
/** Is @live, which is somebody else's, used as it is: a namespace or a definition? */
bool sw_owner_borrows(struct json_object *live);

/** On an object that was there before, and is left when the resource goes. */
#define SW_ANN_ADOPTED "slipway.dev/adopted"

/** Take from @doc, which is about to be applied, what would have it deleted with its resource (the
 * garbage collector follows owner references), where its annotation says that it is to be kept, or
 * where it is @adopted. That it then has a mark of, and no marks of Helm's: it stays with the
 * release that it was of. */
void sw_owner_spare(struct json_object *doc, bool adopted);
