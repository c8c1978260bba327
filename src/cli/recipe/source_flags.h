#pragma once
/* source_flags: where the recipe of a command comes from, and the credentials for that server. */
#include <stddef.h>

#include "chart/recipe/recipe.h"
#include "cli/command/cli.h"

struct json_object;
struct sw_connect_opts;
struct sw_fetcher;

/** A chart that was fetched, before it is read; what is wanted of @got is copied. */
typedef void sw_source_got_fn(void *arg, const struct sw_recipe_ask *ask,
                              const struct sw_recipe_got *got);

/** The options, as helm has them. */
struct sw_source_flags {
    const char *repo, *version;
    const char *username, *password, *ca_file, *cert_file, *key_file, *registry_config;
    const char *cache_dir, *charts_dir, *mirror;
    int64_t fetch_timeout_ms;
    bool stand_ins, insecure, pass_credentials, verify;
    const char *keyring;
    const char *criteria, *data; /* as aicr_criteria and aicr_data in sw_recipe_opts */
    /* No options: */
    bool late;                /* as in sw_fetch_opts */
    bool no_stand_ins;        /* they are of no use here */
    bool verify_fetched_only; /* @verify is of what is fetched; the recipe itself is a folder */
    bool no_lock, no_charts, allow_stale_lock; /* as in sw_recipe_opts */
    sw_source_got_fn *on_got;                  /* called with each chart that was fetched */
    void *on_got_arg;
    const char *of_dependency, *instead_version; /* as in sw_recipe_opts */
};

#define SW_SOURCE_FLAG(at, field) ((at) + offsetof(struct sw_source_flags, field))
#define SW_SOURCE_ROW(at, name, kind, field, arg, doc)                                             \
    SW_FLAG_ROW(name, 0, kind, SW_SOURCE_FLAG(at, field), arg, doc)
/** The rows of a command's table; @at: the offset of its struct sw_source_flags. */
#define SW_SOURCE_FLAGS(at)                                                                        \
    SW_SOURCE_ROW(at, "repo", SW_FLAG_STRING, repo, "URL",                                         \
                  "chart repository that has the recipe; RECIPE is the chart's name"),             \
        SW_SOURCE_ROW(at, "version", SW_FLAG_STRING, version, "RANGE",                             \
                      "version of the chart, or a range of versions (default: the newest)"),       \
        SW_SOURCE_ROW(at, "username", SW_FLAG_STRING, username, "NAME",                            \
                      "user name at the server that has the recipe"),                              \
        SW_SOURCE_ROW(at, "password", SW_FLAG_STRING, password, "TEXT",                            \
                      "password or token, or the pass phrase of the SSH key"),                     \
        SW_SOURCE_ROW(                                                                             \
            at, "pass-credentials", SW_FLAG_BOOL, pass_credentials, NULL,                          \
            "send user name and password to other servers, too, to which that one refers"),        \
        SW_SOURCE_ROW(at, "ca-file", SW_FLAG_STRING, ca_file, "FILE",                              \
                      "PEM file of CA certificates to trust instead of the system's"),             \
        SW_SOURCE_ROW(at, "cert-file", SW_FLAG_STRING, cert_file, "FILE",                          \
                      "PEM file of the client's certificate"),                                     \
        SW_SOURCE_ROW(at, "key-file", SW_FLAG_STRING, key_file, "FILE",                            \
                      "PEM file of the client's key; for git+ssh:// the SSH key"),                 \
        SW_SOURCE_ROW(at, "insecure-skip-tls-verify", SW_FLAG_BOOL, insecure, NULL,                \
                      "do not verify the server's certificate"),                                   \
        SW_SOURCE_ROW(at, "registry-config", SW_FLAG_STRING, registry_config, "FILE",              \
                      "docker's config.json with the logins for oci:// (default: docker's own)"),  \
        SW_SOURCE_ROW(                                                                             \
            at, "verify", SW_FLAG_BOOL, verify, NULL,                                              \
            "accept only packed charts that a key of the keyring has signed (needs gpgv)"),        \
        SW_SOURCE_ROW(at, "keyring", SW_FLAG_STRING, keyring, "FILE",                              \
                      "file of public keys for --verify (default pubring.* in ~/.gnupg)"),         \
        SW_SOURCE_ROW(at, "criteria", SW_FLAG_STRING, criteria, "NAME=VALUE,...",                  \
                      "of a catalogue of NVIDIA's AI Cluster Runtime: which recipe of it, by "     \
                      "service, accelerator, intent, os, platform, nodes"),                        \
        SW_SOURCE_ROW(at, "data", SW_FLAG_STRING, data, "DIR",                                     \
                      "of a RecipeResult: the catalogue, a folder with registry.yaml, overlays/ "  \
                      "and components/ (default: where it is)"),                                   \
        SW_SOURCE_ROW(at, "cache-dir", SW_FLAG_STRING, cache_dir, "DIR",                           \
                      "folder for downloads (default $SLIPWAY_CACHE_DIR, else ~/.cache/slipway)"), \
        SW_SOURCE_ROW(at, "charts-dir", SW_FLAG_STRING, charts_dir, "DIR",                         \
                      "folder of charts that are taken from there instead of being fetched "       \
                      "(default $SLIPWAY_CHARTS_DIR)"),                                            \
        SW_SOURCE_ROW(at, "stand-ins", SW_FLAG_BOOL, stand_ins, NULL,                              \
                      "take the emulator's stand-ins for the vendors' charts, to try a recipe "    \
                      "without a network (default with --emulate or $SLIPWAY_STAND_INS)"),         \
        SW_SOURCE_ROW(at, "fetch-timeout", SW_FLAG_DURATION, fetch_timeout_ms, "TIME",             \
                      "time limit for getting the recipe (default 2m)")

/** One row more: a mirror of charts and images. */
#define SW_MIRROR_FLAG(at)                                                                         \
    SW_SOURCE_ROW(at, "mirror", SW_FLAG_STRING, mirror, "SOURCE=MIRROR,...",                       \
                  "charts of servers whose name begins with SOURCE come from MIRROR; what is "     \
                  "applied takes its images from there, too")

/** The folder of charts that --charts-dir or the environment names; NULL: none. Borrowed. */
const char *sw_source_charts_dir(const char *flag);
/** Whether the emulator's stand-ins are taken, by the option or by $SLIPWAY_STAND_INS. */
bool sw_source_stand_ins(bool flag);
/** The path of the recipe @name that came with the program: installed with it (PREFIX/bin/slipway
 * and PREFIX/share/slipway), or in the tree in whose build/ the program is. The caller's. NULL:
 * there is none, or @name is a path of the user's. */
char *sw_source_installed(const char *name);
/** Open the recipe that the options and @source name: a path, a URL, or the name of one that was
 * installed with the program. @connect: the cluster for cm:// URLs; NULL:
 * as kubectl would find it. @fetcher: where to put the fetcher that got the recipe, the caller's;
 * may be NULL.
 * @return as sw_recipe_open() and sw_fetcher_get() */
int sw_source_open(const struct sw_source_flags *flags, const char *source,
                   const struct sw_connect_opts *connect, struct sw_recipe **out,
                   struct sw_fetcher **fetcher, struct sw_err *err) SW_CHECKED;

/** Write @recipe to @dir as <name>-<version>.tgz. @*path: of the file, the caller's.
 * @return 0 | as sw_recipe_pack() and sw_file_write() */
int sw_source_pack(const struct sw_recipe *recipe, const char *dir, char **path,
                   struct sw_err *err) SW_CHECKED;
