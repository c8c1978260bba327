#pragma once
/* fetch: charts from elsewhere - a Helm repository over http(s)://, an OCI registry (oci://), a git
 * repository (git+https://, git+ssh://, git+file://), a ConfigMap (cm://). What is got is checked
 * by its digest, kept in a cache by it, and bounded in size and time.
 *
 * It waits for the network: commands call it, the controller starts `slipway fetch` and hears from
 * it through the loop. A fetcher is what one recipe is opened with:
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

/** Who we are to a server and whom we trust. Strings may be NULL: nobody, the system's. */
struct sw_fetch_auth {
    const char *username, *password; /* given to the host asked first, and to no other */
    bool pass_credentials;           /* but to all hosts */
    const char *ca_file;             /* PEM, instead of the system's */
    const char *cert_file;           /* PEM: the client's certificate */
    const char *key_file;            /* PEM: its key; of git+ssh:// the private SSH key */
    bool insecure;                   /* certificates are not verified, because the user said so */
    const char *docker_config;       /* docker's config.json; NULL: where docker has it */
    const char *known_hosts; /* SSH's file; NULL: $SSH_KNOWN_HOSTS, else ~/.ssh/known_hosts */
};

/** Zero values are the defaults; strings are borrowed for the fetcher's life. */
struct sw_fetch_opts {
    struct sw_fetch_auth auth;
    const char *cache_dir; /* NULL: sw_fetch_cache_dir(); "": no cache */
    size_t cache_bytes;    /* the cache is kept under so much; default 256 MiB */
    size_t max_bytes;      /* of one download; default 64 MiB */
    int64_t timeout_ms;    /* for all that is got; default 2 minutes */
    bool verify;           /* only packed charts that somebody in the keyring has signed */
    const char *keyring;   /* as sw_provenance.keyring */
    const char *asked_by;  /* what wants it verified, for messages; NULL: --verify */
    /** A ConfigMap of the cluster. @*out: given away.
     * @return 0 | SW_NOTFOUND | any error. NULL: cm:// cannot be read. */
    int (*config_map)(void *arg, const char *ns, const char *name, struct json_object **out,
                      struct sw_err *err);
    void *config_map_arg;
};

struct sw_fetcher;
struct sw_fetcher *sw_fetcher_new(const struct sw_fetch_opts *opts);
/** Removes what it wrote outside the cache. NULL is accepted. */
void sw_fetcher_free(struct sw_fetcher *f);
SW_DEFINE_AUTO(sw_fetcher, sw_fetcher_free)

/** A sw_recipe_get_fn whose arg is the fetcher. Words on failure: "<source>: <reason>".
 * @return 0 | SW_NOTFOUND: no such host's path, chart, version, ref, key | SW_FORBIDDEN: who we are
 *         is not let in | SW_UNAVAILABLE: no answer, a bad one, a timeout, a broken connection |
 *         SW_INVALID: not a source, a wrong digest, an untrusted certificate, too large |
 *         SW_PENDING: from config_map */
int sw_fetcher_get(void *fetcher, const struct sw_recipe_ask *ask, struct sw_recipe_got *got,
                   struct sw_err *err);

/** A recipe of any source, this machine's included: there, too, only what is signed is taken where
 * the fetcher verifies (an archive with the file beside it, its path with ".prov"; it counts as
 * got). @opts: get and get_arg are the fetcher's.
 * @return as sw_recipe_open(), sw_fetcher_get() and sw_provenance_check() */
int sw_fetcher_open(struct sw_fetcher *f, const char *source, const struct sw_recipe_opts *opts,
                    struct sw_recipe **out, struct sw_err *err) SW_CHECKED;

/** One thing that was got, in the order of asking. Borrowed from the fetcher. */
struct sw_fetched {
    const char *origin;
    const char *digest;
    const char *signer; /* NULL: nobody asked */
    bool cached;        /* it was in the cache: no part of it was downloaded */
};
size_t sw_fetcher_n_got(const struct sw_fetcher *f);
const struct sw_fetched *sw_fetcher_got(const struct sw_fetcher *f, size_t i);

/** Whether @source is one that a fetcher knows, by its scheme. */
bool sw_fetch_knows(const char *source);
/** The same of a resource's repository.url, where file:// does as well. @return 0 | SW_INVALID,
 * with the schemes that there are */
int sw_fetch_check(const char *url, struct sw_err *err) SW_CHECKED;

/** $SLIPWAY_CACHE_DIR, else $XDG_CACHE_HOME/slipway, else ~/.cache/slipway; heap. NULL: there is
 * no such place, or the first is empty: no cache. */
char *sw_fetch_cache_dir(void);
