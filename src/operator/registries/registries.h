#pragma once
/* registries: what is asked of image registries, with a cluster's settings for them (pull secrets,
 * mirrors, CAs). Those are read for each question and not watched, so that a changed secret or CA
 * counts with the next one.
 *
 * Who writes a resource names the registry, and what it sends is unpacked: where there is a queue
 * of helpers, one of them asks, and nothing but what it may reach. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;
struct sw_fetch_queue;
struct sw_kube;
struct sw_loop;
struct sw_mirrors;
struct sw_registries;

/** The zero value is the default of each; strings are copied. */
struct sw_registries_opts {
    /** A registries.conf; NULL: $SLIPWAY_REGISTRIES_CONF, else those of the machine
     * (sw_mirrors_add_machine()). */
    const char *conf;
    const char *ca_file;            /* PEM, trusted besides; NULL: none */
    bool home_logins;               /* also what podman and docker have on this machine */
    int64_t fresh_ms;               /* how long what was read is used; 0: 30 s */
    int64_t retry_ms;               /* see sw_registry_opts; 0: its default */
    struct sw_fetch_queue *fetches; /* whose helpers ask; borrowed. NULL: this process does */
};

/** @kube: borrowed; NULL: there is no cluster, only this machine. */
struct sw_registries *sw_registries_new(struct sw_loop *loop, struct sw_kube *kube,
                                        const struct sw_registries_opts *opts);
void sw_registries_free(struct sw_registries *r);

/* ---- questions ---------------------------------------------------------------------------------
 */

/** How much of the cluster's settings is read, beside the logins of the namespace: each more than
 * the one before. Of an image in an OpenShift's own registry the settings of other registries say
 * nothing, mostly: it is enough to begin with the first, and go on where that does not do (the
 * second for SW_FORBIDDEN, the third for SW_INVALID, a certificate). */
enum sw_access_scope { SW_ACCESS_NAMESPACE, SW_ACCESS_LOGIN, SW_ACCESS_ALL };

/** Strings are copied. */
struct sw_image_ask {
    const char *image;    /* a reference */
    const char *ns;       /* whose pull secrets count, and whose turn it is; NULL: none */
    const char *platform; /* "linux/amd64" */
    enum sw_access_scope scope;
    const char *path;     /* of the file to read; NULL: does the image exist? */
    bool last_layer_only; /* search no other; else all, from the last one down */
    size_t max_bytes;     /* of the file; 0: 1 MiB */
};
/** Borrowed. */
struct sw_image_answer {
    /** 0 | SW_NOTFOUND: no such image, or no such file in it | SW_FORBIDDEN: a login is missing or
     * refused | SW_UNAVAILABLE: no endpoint gave an answer | SW_INVALID: what it sends is
     * malformed, too large or not what its digest says, the certificate is not trusted, its address
     * is not allowed, or the reference is none; a broken registries.conf */
    int code;
    const char *message; /* of a failure */
    const char *bytes;   /* of the file */
    size_t len;
};
typedef void sw_image_fn(const struct sw_image_answer *answer, void *arg);

struct sw_image_question;
/** Ask. Answers once, never before it returned; what the cluster does not give (a Secret that may
 * not be read) is only logged, once. */
struct sw_image_question *sw_registries_ask(struct sw_registries *r, const struct sw_image_ask *ask,
                                            sw_image_fn *fn, void *arg);
/** No callback of it runs from here on. NULL is accepted; not needed after the answer. */
void sw_image_question_close(struct sw_image_question *question);
/** Is the image in an OpenShift's own registry, by the registry's Service? */
bool sw_image_is_internal(const char *image);

/* ---- mirrors -----------------------------------------------------------------------------------
 */

/** The mirrors as last read; borrowed until they are read the next time, NULL before the first. */
const struct sw_mirrors *sw_registries_mirrors(const struct sw_registries *r);
/** @code: 0 | what makes asking useless (a broken registries.conf: SW_INVALID). */
typedef void sw_registries_read_fn(int code, const char *message, void *arg);
/** Read all settings, for sw_registries_mirrors(). Answers once, never before it returned. */
struct sw_access *sw_registries_read(struct sw_registries *r, sw_registries_read_fn *fn, void *arg);
/** No callback of it runs from here on. NULL is accepted; not needed after the answer. */
void sw_access_close(struct sw_access *access);
