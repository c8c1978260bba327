#pragma once
/* readiness: is an object ready, not yet, or has it failed? With a reason and a message that name
 * the condition. The rules by kind are a table in kstatus.c; what the annotations of a manifest say
 * instead is in gate.h. Pure: a live document goes in. */
#include "base/base.h"

struct json_object;

/** What is known of an object. */
enum sw_readiness_kind {
    SW_READINESS_WAITING, /* not yet; its next change may make it ready */
    SW_READINESS_READY,
    SW_READINESS_FAILED, /* its status says that it has failed */
};

/** Zero-initialise; sw_readiness_done(). */
struct sw_readiness {
    enum sw_readiness_kind kind;
    char *reason;  /* one CamelCase word ("Unavailable"); owned, NULL when ready */
    char *message; /* a sentence that names the condition and its reason; likewise */
    /** Of a pod: the container that has ended, or that runs and is not ready, whose log may say
     * why; of one that has succeeded its default container. NULL: there is none. Owned. */
    char *container;
    /** It is READY since it says of itself that it does not apply here (SW_ANN_CHECK). */
    bool skipped;
};
/** Free what it owns; it is zero then. */
void sw_readiness_done(struct sw_readiness *readiness);
/** A readiness of a function's own, freed at its end. */
#define SW_READINESS(name)                                                                         \
    __attribute__((cleanup(sw_readiness_done))) struct sw_readiness name = { 0 }
/** Replace all of it; the texts are copied. They are left out where @kind is READY. */
void sw_readiness_set(struct sw_readiness *readiness, enum sw_readiness_kind kind,
                      const char *reason, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/** The object's readiness by its kind, without annotations, into @out. @live is a whole document;
 * NULL: the object does not exist.
 * Source: kstatus (sigs.k8s.io/cli-utils), SRO's wait rules. Pinned by
 * test/unit/operator/engine_kstatus_test.c. */
void sw_kstatus(struct json_object *live, struct sw_readiness *out);

/** What keeps an object that is being deleted: "finalizers: a, b", and of a Namespace what its
 * conditions say of what is in it. "": it does not say. The caller's.
 * Source: the namespace controller (pkg/controller/namespace/deletion). */
char *sw_deletion_held_by(struct json_object *live);

/** The number of a Build; the newest of a BuildConfig, which says how that is, has the greatest. */
int64_t sw_build_number(struct json_object *build);

/** The @i-th kind that has a rule of its own, and its API group, for tests; NULL after the last. */
const char *sw_kstatus_kind(size_t i, const char **group);
