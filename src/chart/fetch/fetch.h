#pragma once
/* fetch: charts from a Helm repository (http://, https://), an OCI registry (oci://), a git
 * repository (git+https://, git+ssh://, git+file://) or a ConfigMap (cm://). A chart is checked
 * against its digest, cached under it, and bounded in size and time.
 *
 * Calls block on the network: commands call them, the controller runs `slipway fetch -` and gets
 * the answer through the loop (helper.h). One recipe is opened with one fetcher:
 *
 *     struct sw_fetcher *f = sw_fetcher_new(&opts);
 *     sw_recipe_open(url, &(struct sw_recipe_opts){ .get = sw_fetcher_get, .get_arg = f }, ...);
 *     sw_fetcher_free(f); */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "chart/recipe/recipe.h"

struct json_object;
struct sw_folders;

/** Credentials for servers, and CAs to trust. Strings may be NULL: none, the system's. */
struct sw_fetch_auth {
    const char *username, *password; /* sent to one server, when it requires them */
    const char *secret; /* "namespace/name" of the Secret that all of this is from, for messages;
                           NULL: from none */
    const char *url; /* that server: its URL, "host" or "host:port"; NULL: the one asked first; "":
                        none */
    bool pass_credentials; /* sent to all servers that require them */
    bool plain_http; /* also where nobody has verified whom the connection leads to: without TLS, or
                        with @insecure */
    const char *ca_file;       /* PEM, instead of the system's */
    const char *cert_file;     /* PEM: the client's certificate, for that server alone */
    const char *key_file;      /* PEM: its key; of git+ssh:// the private SSH key */
    bool insecure;             /* do not verify certificates */
    bool only_given;           /* neither logins of docker nor keys of SSH that this machine has */
    const char *docker_config; /* docker's config.json; NULL: where docker has it */
    const char *known_hosts;   /* SSH's file; NULL: $SSH_KNOWN_HOSTS, else ~/.ssh/known_hosts */
};

/** Zero values are the defaults; strings are borrowed for the fetcher's life. */
struct sw_fetch_opts {
    struct sw_fetch_auth auth;
    const char *cache_dir; /* NULL: sw_fetch_cache_dir(); "": no cache */
    /* Whose downloads these are, such as the Secret that they were logged in with: others do not
     * find them in the cache. NULL: all who read this folder may have them. */
    const char *cache_scope;
    size_t cache_bytes; /* most that the cache may hold; default 256 MiB */
    size_t max_bytes;   /* of one download; default 64 MiB */
    int64_t timeout_ms; /* for all charts together; default 2 minutes */
    /* A folder of charts that are taken from there instead of being fetched: <name>-<version>.tgz,
     * the highest version that fits, else an unpacked chart <name>/ of whatever version. NULL:
     * none. Where it has none, a chart is fetched. */
    const char *charts_dir;
    /* Charts that play others of the same name, each file as "<chart>/<path>": taken where
     * @charts_dir has none, instead of being fetched. NULL: none. */
    const struct sw_embedded *stand_ins;
    /* A chart that cannot be had now (no answer, not there, not for this login), and that may turn
     * out not to be installed (sw_recipe_ask's is_release), is an error when its templates are
     * rendered, and not before: SW_NOTFOUND. */
    bool late;
    const char *mirror; /* rules of sw_url_mirror() for all sources that are fetched; NULL: none */
    const struct sw_folders *folders; /* files of charts are read below these alone; NULL: all */
    bool verify;                      /* accept only packed charts signed by a key in the keyring */
    const char *keyring;              /* as sw_provenance.keyring */
    const char *asked_by;             /* what requires @verify, for messages; NULL: --verify */
    /** Get a ConfigMap of the cluster. @*out is the fetcher's.
     * @return 0 | SW_NOTFOUND | any error. NULL: cm:// cannot be read. */
    int (*config_map)(void *arg, const char *ns, const char *name, struct json_object **out,
                      struct sw_err *err);
    void *config_map_arg;
};

struct sw_fetcher;
/** @opts: copied, its strings are borrowed; NULL: the defaults. */
struct sw_fetcher *sw_fetcher_new(const struct sw_fetch_opts *opts);
/** Remove what was written outside the cache, too. NULL is accepted. */
void sw_fetcher_free(struct sw_fetcher *f);
SW_DEFINE_AUTO(sw_fetcher, sw_fetcher_free)

/** Ask with @auth from now on; NULL: with that of the options again. It is copied, its strings are
 * borrowed. */
void sw_fetcher_set_auth(struct sw_fetcher *f, const struct sw_fetch_auth *auth);

/** A sw_recipe_get_fn whose arg is the fetcher. Message on failure: "<source>: <reason>".
 * @return 0 | SW_NOTFOUND: no such path, chart, version, ref, key | SW_FORBIDDEN: the credentials
 *         are missing or refused | SW_UNAVAILABLE: no answer, a bad one, a timeout, a broken
 *         connection | SW_INVALID: not a source, a wrong digest, an untrusted certificate, too
 *         large | SW_PENDING: from config_map */
int sw_fetcher_get(void *fetcher, const struct sw_recipe_ask *ask, struct sw_recipe_got *got,
                   struct sw_err *err);

/** Open a recipe of any source, also of this machine. With opts.verify an archive on this machine
 * needs its signature beside it, in a file named as the archive with ".prov" added, and is listed
 * by sw_fetcher_got(). @opts: get and get_arg are the fetcher's.
 * @return as sw_recipe_open(), sw_fetcher_get() and sw_provenance_check() */
int sw_fetcher_open(struct sw_fetcher *f, const char *source, const struct sw_recipe_opts *opts,
                    struct sw_recipe **out, struct sw_err *err) SW_CHECKED;

/** The URL of the chart @name of @version that the repository @url has, the caller's. In a folder
 * (file://) it is the folder itself, or in it a packed chart or an unpacked one, with its version
 * in the name or without; every other URL is a copy of @url. @folders: what lies outside them is
 * not looked at; NULL: all is. */
char *sw_fetch_chart_url(const char *url, const char *name, const char *version,
                         const struct sw_folders *folders);

/** One chart that was fetched. Borrowed from the fetcher. */
struct sw_fetched {
    const char *origin; /* as sw_recipe_got.origin */
    const char *digest; /* "sha256:<hex>"; "": none, as of a ConfigMap's files */
    const char *signer; /* as gpgv names it; NULL: not verified */
    bool cached;        /* it was in the cache: no byte of it was downloaded */
    bool is_missing;    /* it cannot be had now: sw_fetch_opts.late */
    bool is_stand_in;   /* one of sw_fetch_opts.stand_ins; the origin is the chart's name */
};
/** How many charts were fetched, or taken from where they are at hand. */
size_t sw_fetcher_n_got(const struct sw_fetcher *f);
/** The @i-th of them, in the order in which they were requested. */
const struct sw_fetched *sw_fetcher_got(const struct sw_fetcher *f, size_t i);

/** Whether a fetcher can read @source, by its scheme. */
bool sw_fetch_knows(const char *source);
/** The same of a resource's repository.url, where file:// is allowed too. @return 0 | SW_INVALID,
 * with the schemes that are known */
int sw_fetch_check(const char *url, struct sw_err *err) SW_CHECKED;

/** $SLIPWAY_CACHE_DIR, else $XDG_CACHE_HOME/slipway, else ~/.cache/slipway; heap. NULL: no
 * cache, since the first is "" or none is set. */
char *sw_fetch_cache_dir(void);
