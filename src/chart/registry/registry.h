#pragma once
/* registry: the client of container image registries: image references, mirrors, logins, and
 * requests for manifests, blobs, tags and single files. Nothing here blocks; every answer is a
 * callback on the loop.
 *
 * What it leaves to others: where pull secrets, mirrors and CAs come from (they are passed in, and
 * may be replaced at any time), and what images are used for.
 *
 * Sources: the OCI distribution and image specifications, Docker's token authentication,
 * containers-registries.conf(5), docker's config.json. Pinned by test/unit/chart/registry_*_test.c.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct json_object;
struct sw_loop;
struct sw_logins;
struct sw_mirrors;
struct sw_registry;
struct sw_registry_call;

/* ---- references --------------------------------------------------------------------------------
 */

/** "host:port/repo/name:tag@sha256:..." taken apart; strings are owned. */
struct sw_image_ref {
    char *host; /* "quay.io", "reg:5000", "[::1]:5000"; "docker.io" where the reference has none */
    char *repo; /* "library/busybox" */
    char *tag;  /* NULL: none; a reference with neither tag nor digest means "latest" */
    char *digest; /* "sha256:..."; wins over the tag; NULL: none */
};

/** Parse a reference. @return 0 | SW_INVALID: the text and what is wrong with it; @out is untouched
 * Source: the grammar of github.com/distribution/reference, docker.io's short names included. */
int sw_image_ref_parse(const char *text, struct sw_image_ref *out, struct sw_err *err);
/** Free its strings. Twice is harmless. */
void sw_image_ref_done(struct sw_image_ref *ref);
/** "docker.io/library/busybox:1@sha256:...", the caller's. */
char *sw_image_ref_text(const struct sw_image_ref *ref);
/** Whether @text is "sha256:<64 hex>" or "sha512:<128 hex>". */
bool sw_image_digest_is_valid(const char *text);

/* ---- logins ------------------------------------------------------------------------------------
 */

/** Users and passwords by registry, from pull secrets; reference-counted. Starts with one. */
struct sw_logins *sw_logins_new(void);
/** One reference more. NULL is accepted. */
struct sw_logins *sw_logins_ref(struct sw_logins *logins);
/** One reference less; the last one frees it. NULL is accepted. */
void sw_logins_free(struct sw_logins *logins);
SW_DEFINE_AUTO(sw_logins, sw_logins_free)

/** Add a docker config.json ({"auths": {...}}) or its older form without "auths". What was added
 * before wins for the same registry. @source names it in messages ("Secret a/b").
 * @return 0 | SW_INVALID */
int sw_logins_add(struct sw_logins *logins, const char *source, const char *text, size_t len_bytes,
                  struct sw_err *err);
/** Add those of a Secret of type kubernetes.io/dockerconfigjson or kubernetes.io/dockercfg.
 * @return 0 | SW_INVALID: not such a Secret, or its content is malformed */
int sw_logins_add_secret(struct sw_logins *logins, struct json_object *secret, struct sw_err *err);
/** Add those of podman and docker on this machine: $REGISTRY_AUTH_FILE, containers/auth.json in
 * $XDG_RUNTIME_DIR and ~/.config, $DOCKER_CONFIG/config.json or ~/.docker/config.json. Missing
 * files are skipped. @return 0 | SW_INVALID, SW_FORBIDDEN: the file is named */
int sw_logins_add_home(struct sw_logins *logins, struct sw_err *err);

/** One login. Strings are borrowed from the logins; NULL: it has none. */
struct sw_login {
    const char *username, *password;
    const char *identity_token; /* an OAuth2 refresh token instead of a password */
    const char *registry_token; /* a bearer token, used as it is */
    const char *source;         /* as in sw_logins_add() */
};
/** The login for a repository: the longest entry that matches ("reg:5000/team" before "reg:5000",
 * "*.example.com" too). @logins may be NULL. @return false: there is none */
bool sw_logins_find(const struct sw_logins *logins, const char *host, const char *repo,
                    struct sw_login *out);
/** "Secret a/b, Secret c/d" for messages; "none" where empty. The caller's. */
char *sw_logins_sources(const struct sw_logins *logins);

/* ---- mirrors -----------------------------------------------------------------------------------
 */

/** The mirrors of registries, and which registries are insecure or blocked. */
struct sw_mirrors *sw_mirrors_new(void);
/** NULL is accepted. */
void sw_mirrors_free(struct sw_mirrors *mirrors);
SW_DEFINE_AUTO(sw_mirrors, sw_mirrors_free)

/** Add the [[registry]] tables of a registries.conf (version 2; of version 1 the insecure and
 * blocked lists). @file is for messages. @return 0 | SW_INVALID: nothing was added */
int sw_mirrors_add_conf(struct sw_mirrors *mirrors, const char *file, const char *text,
                        size_t len_bytes, struct sw_err *err);
/** Add the files of this machine: @conf, a registries.conf; NULL: /etc/containers/registries.conf
 * with its registries.conf.d, and /mnt/host/registries.conf, where a node's is mounted.
 * @return 0 | SW_INVALID | SW_NOTFOUND, SW_FORBIDDEN: of @conf */
int sw_mirrors_add_machine(struct sw_mirrors *mirrors, const char *conf, struct sw_err *err);
/** Add an ImageContentSourcePolicy, ImageDigestMirrorSet or ImageTagMirrorSet of OpenShift, or the
 * registrySources of its Image configuration. Other objects are ignored. */
void sw_mirrors_add_policy(struct sw_mirrors *mirrors, struct json_object *policy);
/** Allow plain HTTP and unverified certificates for the registry @host; "" is ignored. */
void sw_mirrors_add_insecure(struct sw_mirrors *mirrors, const char *host);

/** One endpoint to pull an image from. */
struct sw_pull_source {
    struct sw_image_ref ref;
    bool insecure;
    bool is_mirror;
};
/** Places in the order in which to try them. Owned by the caller; sw_pull_sources_done(). */
struct sw_pull_sources {
    size_t n, cap;
    struct sw_pull_source *items;
};
/** Where to pull @ref from, in order: the mirrors of the longest prefix that matches, then the
 * source itself unless it is blocked. @mirrors may be NULL.
 * @return 0 | SW_FORBIDDEN: blocked, and it has no mirror */
int sw_mirrors_sources(const struct sw_mirrors *mirrors, const struct sw_image_ref *ref,
                       struct sw_pull_sources *out, struct sw_err *err);
/** Free it. Twice is harmless. */
void sw_pull_sources_done(struct sw_pull_sources *sources);

/** One of the rules "SOURCE=MIRROR, ..." of an annotation or option; borrowed from its text. */
struct sw_mirror_rule {
    const char *from, *to;
    size_t from_len, to_len;
};
/** Read the rule at *@text, which moves behind it. @return 1 | 0: at the end | SW_INVALID */
int sw_mirror_rule_next(const char **text, struct sw_mirror_rule *rule, struct sw_err *err);
/** The image in the fields repository, image and version of @map, as in NVIDIA's ClusterPolicy:
 * "repository/image:version"; a version that begins with "sha256:" is a digest. The caller's; NULL:
 * a field is missing. Source: NVIDIA's GPU operator, api/nvidia/v1, ImagePath(). */
char *sw_image_from_fields(struct json_object *map);

/** The name of @image at its mirror, by the rule with the longest SOURCE that @image is or lies in;
 * "nginx" counts as docker.io/library/nginx. @out: the caller's; NULL where no rule fits.
 * @return 0 | SW_INVALID: the rules */
int sw_image_mirror(const char *rules, const char *image, char **out, struct sw_err *err);
/** The same for the URL of a chart repository or registry. A SOURCE without a scheme is compared
 * with what follows the URL's, a MIRROR without one keeps it. */
int sw_url_mirror(const char *rules, const char *url, char **out, struct sw_err *err);

/* ---- the client --------------------------------------------------------------------------------
 */

/** Options of a client. Zero values are the defaults. */
struct sw_registry_opts {
    const char *user_agent; /* "slipway" */
    int64_t timeout_ms;     /* until a request's status line, and between bytes; 0: 30 s */
    int retries;      /* of one endpoint, after failures that may pass; 0: 2; negative: none */
    int64_t retry_ms; /* before the first retry, then twice as long each time; 0: 1 s */
};

/** A client on @loop. @opts: copied; NULL: the defaults. */
struct sw_registry *sw_registry_new(struct sw_loop *loop, const struct sw_registry_opts *opts);
/** Cancel all calls: none of their callbacks runs. Not from a callback. NULL is accepted. */
void sw_registry_free(struct sw_registry *reg);
SW_DEFINE_AUTO(sw_registry, sw_registry_free)

/** Use these mirrors from now on; taken. NULL: none. */
void sw_registry_set_mirrors(struct sw_registry *reg, struct sw_mirrors *mirrors);
/** Trust these CAs besides the system's from now on: @bundle (PEM, may be NULL) for all registries,
 * @by_host a map of PEM by "host" or "host..port" (as in OpenShift's additionalTrustedCA; may be
 * NULL). Calls that have started keep the CAs that they started with. @return 0 | SW_INVALID:
 * nothing changed */
int sw_registry_set_cas(struct sw_registry *reg, const char *bundle, struct json_object *by_host,
                        struct sw_err *err);

/** What to request. Strings are copied. */
struct sw_registry_ask {
    const char *image;        /* a reference */
    struct sw_logins *logins; /* a reference is taken; NULL: none */
    const char *platform;     /* "linux/amd64", "linux/arm/v7": of an index take that manifest;
                                 NULL: the index itself is the answer */
};

/** The answer to a call. All is borrowed for the callback. */
struct sw_registry_answer {
    /** 0 | SW_NOTFOUND: no such image, tag, platform or file | SW_FORBIDDEN: a login is missing or
     * refused | SW_UNAVAILABLE: no endpoint gave an answer | SW_INVALID: the answer has another
     * digest, is too large or malformed, the certificate is not trusted, or the reference is none
     */
    int code;
    const struct sw_err *err;
    const char *from; /* the reference that answered, which may be a mirror's; NULL on failure */
    const char *digest;
    const char *media_type;
    const char *bytes; /* a manifest's, or a file's */
    size_t len_bytes;
    struct json_object *doc; /* a manifest's document; tags: a list */
};
typedef void sw_registry_fn(const struct sw_registry_answer *answer, void *arg);

/** Check that the image exists, for that platform. As the other requests it calls @fn once, never
 * before it has returned; the handle is valid until then. An endpoint that fails is retried, then
 * the next one is asked. */
struct sw_registry_call *sw_registry_check(struct sw_registry *reg,
                                           const struct sw_registry_ask *ask, sw_registry_fn *fn,
                                           void *arg);
/** Get the manifest (Docker v2 schema 2, OCI), or the index where no platform is given. */
struct sw_registry_call *sw_registry_manifest(struct sw_registry *reg,
                                              const struct sw_registry_ask *ask, sw_registry_fn *fn,
                                              void *arg);
/** Get a blob, piece by piece: @on_data returns 0, SW_PENDING (nothing was taken: the same piece
 * comes again after sw_registry_resume()), or a code that ends the call. The digest is checked at
 * the end: the pieces must not be trusted before the answer has code 0.
 * @max_bytes: more is SW_INVALID; 0: 16 MiB. */
typedef int sw_registry_data_fn(const char *bytes, size_t len, struct sw_err *err, void *arg);
struct sw_registry_call *sw_registry_blob(struct sw_registry *reg,
                                          const struct sw_registry_ask *ask, const char *digest,
                                          uint64_t max_bytes, sw_registry_data_fn *on_data,
                                          sw_registry_fn *fn, void *arg);
/** Go on after on_data returned SW_PENDING. */
void sw_registry_resume(struct sw_registry_call *call);
/** Get all tags of the repository; the reference's tag and digest are ignored. */
struct sw_registry_call *sw_registry_tags(struct sw_registry *reg,
                                          const struct sw_registry_ask *ask, sw_registry_fn *fn,
                                          void *arg);
/** Cancel: the callback does not run. NULL is accepted. */
void sw_registry_cancel(struct sw_registry_call *call);

/* ---- one file of an image ----------------------------------------------------------------------
 */

/** Which file to read. Zero values are the defaults; strings are copied. */
struct sw_registry_file_opts {
    const char *path;     /* "etc/driver-toolkit-release.json" */
    bool last_layer_only; /* search no other; else all, from the last one down */
    size_t max_bytes;     /* of the file; 0: 1 MiB */
    uint64_t max_layer;   /* of a layer, compressed; 0: 4 GiB */
};
struct sw_registry_file;
/** Read a file of an image from its layers while they are streamed; a layer is never held whole.
 * Results are cached by the layer's digest, also that a layer has no such file. The answer has the
 * file's bytes and the manifest's digest. */
struct sw_registry_file *sw_registry_file_open(struct sw_registry *reg,
                                               const struct sw_registry_ask *ask,
                                               const struct sw_registry_file_opts *opts,
                                               sw_registry_fn *fn, void *arg);
/** Cancel: the callback does not run. NULL is accepted; not needed after the answer. */
void sw_registry_file_close(struct sw_registry_file *file);
