#pragma once
/* kinds: the resource types of a cluster. The built-in ones are rows of a table (kinds_table.c),
 * with the versions that each Kubernetes release served; CRDs add more at run time. */
#include <stdbool.h>
#include <stddef.h>

#include "emulator/store/store.h"

/** What a built-in kind has. */
enum sw_builtin_flags {
    SW_K_NAMESPACED = 1 << 0,
    SW_K_STATUS = 1 << 1,     /* status subresource */
    SW_K_SCALE = 1 << 2,      /* scale subresource */
    SW_K_GENERATION = 1 << 3, /* metadata.generation counts changes of the spec */
    SW_K_VIRTUAL = 1 << 4,    /* answered, never stored: TokenReview... */
    SW_K_FIRST = 1 << 5,      /* stored in the first version of the row, served or not */
};

/** A row. The versions, the preferred first, each with the minor releases that served it:
 * "v1:21- v1beta1:-24" is v1 since 1.21 and v1beta1 up to 1.24; "v1beta1:32-off" since 1.32, where
 * it is asked for. */
struct sw_builtin {
    const char *group, *versions, *kind, *plural, *short_names, *categories;
    unsigned flags;
    const char *subresources; /* besides status and scale: "log,eviction", or NULL */
};
/** The table of the built-in kinds. */
extern const struct sw_builtin sw_builtins[];
/** Its number of rows. */
extern const size_t sw_n_builtins;

/** A registry of kinds. */
struct sw_kinds;
/** @minor: the Kubernetes release, 29 for 1.29. */
struct sw_kinds *sw_kinds_new(int minor);
/** The release is 1.@minor from now on: the built-in kinds are served in its versions. */
void sw_kinds_upgrade(struct sw_kinds *kinds, int minor);
/** Serve other versions than by default, as kube-apiserver's flag --runtime-config says:
 * "GROUP/VERSION=true", "=false", without a value true, "api/all", "api/ga", "api/beta"; several
 * after commas. What names one version counts before what names many. NULL: the default.
 * @return 0 | SW_INVALID: another word, or no release has such a group
 * Source: Kubernetes' "kube-apiserver", --runtime-config. */
int sw_kinds_configure(struct sw_kinds *kinds, const char *runtime_config, struct sw_err *err);
/** NULL is accepted. */
void sw_kinds_free(struct sw_kinds *kinds);

/** Whether objects are answered and never stored (TokenReview...). */
bool sw_kind_is_virtual(const struct sw_emu_kind *kind);
/** Whether metadata.generation counts changes of the spec. */
bool sw_kind_has_generation(const struct sw_emu_kind *kind);
/** Whether it is served in @version. */
bool sw_kind_serves(const struct sw_emu_kind *kind, const char *version);
/** "group/version", or "version" for core; @version NULL: the storage version. Heap. */
char *sw_kind_api_version(const struct sw_emu_kind *kind, const char *version);
/** "deployments.apps", "pods": as error messages name the type. Heap. */
char *sw_kind_resource(const struct sw_emu_kind *kind);

/** A served kind by its name; @version may be NULL for any. NULL: none. */
struct sw_emu_kind *sw_kinds_by_kind(struct sw_kinds *kinds, const char *group, const char *version,
                                     const char *kind);
/** The same by the plural that stands in paths. */
struct sw_emu_kind *sw_kinds_by_plural(struct sw_kinds *kinds, const char *group,
                                       const char *version, const char *plural);
/** The kind at index @i in the order of discovery, served or not; NULL after the last. */
struct sw_emu_kind *sw_kinds_nth(struct sw_kinds *kinds, size_t i);
/** The kind of a CRD: a new one, or that of an earlier CRD of the same name. */
struct sw_emu_kind *sw_kinds_add(struct sw_kinds *kinds, const char *group, const char *plural);
/** The names of a kind; list_kind and singular are derived from kind where they are NULL. */
struct sw_kind_names {
    const char *kind, *list_kind, *singular, *short_names, *categories;
};
/** Set its names; all are copied. */
void sw_kind_rename(struct sw_emu_kind *kind, const struct sw_kind_names *names);
/** Replace the served versions: @n of them, copied. */
void sw_kind_set_versions(struct sw_emu_kind *kind, const char *const *versions, size_t n,
                          const char *storage);
/** Whether the names in @list ("ds,daemon"; NULL: none) contain @name. */
bool sw_names_contain(const char *list, const char *name);
/** For qsort() of version names: "v2" before "v1" before "v2beta1" before "v1alpha1". */
int sw_version_order(const void *a, const void *b);
