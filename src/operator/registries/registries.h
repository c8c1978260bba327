#pragma once
/* registries: a cluster's settings for image registries (pull secrets, mirrors, CAs), given to one
 * registry client. They are read for each access and not watched, so that a changed secret or CA
 * counts with the next one. */
#include <stdbool.h>

#include "chart/registry/registry.h"

struct json_object;
struct sw_access;
struct sw_kube;
struct sw_loop;
struct sw_registries;

/** The zero value is the default of each; strings are copied. */
struct sw_registries_opts {
    /** A registries.conf; NULL: $SLIPWAY_REGISTRIES_CONF, else those of the machine
     * (/etc/containers/registries.conf with its registries.conf.d, and /mnt/host/registries.conf,
     * where a node's is mounted). */
    const char *conf;
    const char *ca_file; /* PEM, trusted besides; NULL: none */
    bool home_logins;    /* also what podman and docker have on this machine */
    int64_t fresh_ms;    /* how long what was read is used; 0: 30 s */
    int64_t retry_ms;    /* see sw_registry_opts; 0: its default */
};

/** @kube: borrowed; NULL: there is no cluster, only this machine. */
struct sw_registries *sw_registries_new(struct sw_loop *loop, struct sw_kube *kube,
                                        const struct sw_registries_opts *opts);
void sw_registries_free(struct sw_registries *r);

/** @code is always 0 or what makes asking useless (a broken registries.conf: SW_INVALID); what the
 * cluster does not give (a Secret that may not be read) is only logged, once. @logins: of
 * openshift-config/pull-secret and of the namespace; keep it with sw_logins_ref(). */
typedef void sw_access_fn(int code, const char *message, struct sw_registry *registry,
                          struct sw_logins *logins, void *arg);
/** How much of the cluster's settings is read, beside the logins of the namespace: each more than
 * the one before. Of an image in an OpenShift's own registry the settings of other registries say
 * nothing, mostly: it is enough to begin with the first, and go on where that does not do (the
 * second for SW_FORBIDDEN, the third for SW_INVALID, a certificate). */
enum sw_access_scope { SW_ACCESS_NAMESPACE, SW_ACCESS_LOGIN, SW_ACCESS_ALL };
/** Answers once, never before it returned. @ns may be NULL. */
struct sw_access *sw_access_open(struct sw_registries *r, const char *ns,
                                 enum sw_access_scope wants, sw_access_fn *fn, void *arg);
/** Is the image in an OpenShift's own registry, by the registry's Service? */
bool sw_access_is_internal(const char *image);
/** No callback of it runs from here on. NULL is accepted; not needed after the answer. */
void sw_access_close(struct sw_access *access);

/** The mirrors as last read; borrowed until the next answer, NULL before the first. */
const struct sw_mirrors *sw_registries_mirrors(const struct sw_registries *r);
