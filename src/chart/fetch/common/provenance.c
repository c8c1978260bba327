#include "chart/fetch/common/provenance.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/spawn.h"
#include "chart/fetch/common/cache.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/yaml/yaml.h"

static const size_t max_text = (size_t)1 << 20; /* of a .prov, and of gpgv's output */

/* ---- gpgv --------------------------------------------------------------------------------------
 */

struct gpgv {
    int out, log;
    char *text, *log_text; /* the signed text; gpgv's messages; owned */
    size_t text_len, log_len;
};

/* The rest of gpgv's status line @keyword, heap; NULL: there is none. */
static char *find_status(const struct gpgv *g, const char *keyword)
{
    SW_AUTO_CHARS *begin = sw_printf("[GNUPG:] %s ", keyword);
    for (const char *line = g->log_text; line && *line;) {
        size_t len = strcspn(line, "\n");
        if (sw_starts_with(line, begin))
            return sw_strndup(line + strlen(begin), len - strlen(begin));
        line += len + (line[len] == '\n');
    }
    return NULL;
}

static int read_result(const struct gpgv *g, int status, char **signer, struct sw_err *err)
{
    SW_AUTO_CHARS *good = find_status(g, "GOODSIG");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && good && g->text_len > 0) {
        *signer = SW_TAKE(good);
        return 0;
    }
    SW_AUTO_CHARS *unknown = find_status(g, "NO_PUBKEY");
    if (unknown)
        return sw_err_set(err, SW_INVALID, "the signature does not hold: the keyring has no key %s",
                          unknown);
    const char *why = "it does not say why"; /* gpgv's last message */
    for (const char *line = g->log_text; line && *line;) {
        if (sw_starts_with(line, "gpgv: "))
            why = line + strlen("gpgv: ");
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return sw_err_set(err, SW_INVALID, "the signature does not hold: %.*s", (int)strcspn(why, "\n"),
                      why);
}

/* Run gpgv: it names the signer and writes the signed part of the text. */
static int run(struct gpgv *g, const char *text, size_t len, const char *keyring, char **signer,
               struct sw_err *err)
{
    const char *const argv[] = { "gpgv",  "--status-fd", "2", "--keyring",
                                 keyring, "--output",    "-", NULL };
    int status;
    g->out = sw_file_unnamed();
    g->log = sw_file_unnamed();
    if (g->out < 0 || g->log < 0)
        return sw_err_set(err, SW_UNAVAILABLE, "gpgv: %s", strerror(errno));
    const int failed = sw_spawn_over(argv, text, len, g->out, g->log, &status);
    if (failed)
        return sw_err_set(err, SW_UNAVAILABLE,
                          "signatures are checked by gpgv, which cannot be run: %s",
                          strerror(failed));
    SW_ERR(none);
    if (sw_fd_read(g->out, "gpgv", max_text, &g->text, &g->text_len, &none) < 0 ||
        sw_fd_read(g->log, "gpgv", max_text, &g->log_text, &g->log_len, &none) < 0)
        return sw_err_set(err, SW_INVALID, "gpgv says more than %zu bytes", max_text);
    return read_result(g, status, signer, err);
}

/* ---- the keyring -------------------------------------------------------------------------------
 */

static int find_keyring(const char *given, char **out, struct sw_err *err)
{
    static const char *const names[] = { "pubring.gpg", "pubring.kbx" };
    const char *gnupg = getenv("GNUPGHOME"), *home = getenv("HOME");
    if (given) { /* a full path: gpgv searches its own folder for a bare name */
        *out = realpath(given, NULL);
        return *out ? 0
                    : sw_err_set(err, SW_NOTFOUND, "the keyring %s: %s", given, strerror(errno));
    }
    SW_AUTO_CHARS *dir = gnupg && *gnupg ? sw_strdup(gnupg)
                                         : sw_printf("%s/.gnupg", home ? home : "");
    for (size_t i = 0; i < SW_COUNT(names); i++) {
        SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, names[i]);
        if (access(path, R_OK) == 0) {
            *out = SW_TAKE(path);
            return 0;
        }
    }
    return sw_err_set(err, SW_NOTFOUND, "there is no keyring in %s: --keyring names one", dir);
}

/* ---- the signed text ---------------------------------------------------------------------------
 */

/* The digest that the signed text has for the archive; borrowed from @doc. */
static const char *find_digest(struct json_object *doc, const char *name)
{
    struct json_object *files = sw_json_get(doc, "files");
    if (!json_object_is_type(files, json_type_object))
        return NULL;
    if (name)
        return json_object_get_string(sw_json_get(files, name));
    const char *only = NULL;
    json_object_object_foreach(files, key, digest)
    {
        (void)key;
        if (only)
            return NULL;
        only = json_object_get_string(digest);
    }
    return only;
}

static int compare(const struct sw_provenance *p, const char *text, size_t len, struct sw_err *err)
{
    static const char mark[] = "\n...\n";
    const char *behind = memmem(text, len, mark, sizeof mark - 1);
    if (!behind)
        return sw_err_set(err, SW_INVALID, "what is signed is not a chart's provenance");
    behind += sizeof mark - 1;
    SW_AUTO_JSON *doc = NULL;
    const struct sw_yaml_opts opts = { .file = "what is signed", .max_bytes = max_text };
    int rc = sw_yaml_parse(behind, (size_t)(text + len - behind), &opts, &doc, err);
    if (rc < 0)
        return rc;
    const char *want = find_digest(doc, p->name);
    if (!want)
        return sw_err_set(err, SW_INVALID, "what is signed does not name %s",
                          p->name ? p->name : "one archive");
    SW_AUTO_CHARS *is = sw_digest_of(p->archive, p->archive_len);
    return sw_streq(is, want)
               ? 0
               : sw_err_set(err, SW_INVALID, "the archive is %s, signed was %s", is, want);
}

int sw_signed_text(const char *keyring, const char *text, size_t len, char **out, size_t *out_len,
                   char **signer, struct sw_err *err)
{
    SW_AUTO_CHARS *path = NULL;
    struct gpgv g = { .out = -1, .log = -1 };
    if (len > max_text)
        return sw_err_set(err, SW_INVALID, "a signed text of more than %zu bytes", max_text);
    int rc = find_keyring(keyring, &path, err);
    if (rc == 0)
        rc = run(&g, text, len, path, signer, err);
    const int fds[] = { g.out, g.log };
    for (size_t i = 0; i < SW_COUNT(fds); i++)
        if (fds[i] >= 0)
            (void)close(fds[i]);
    if (rc == 0) {
        *out = SW_TAKE(g.text);
        *out_len = g.text_len;
    }
    free(g.text);
    free(g.log_text);
    return rc;
}

int sw_provenance_check(const struct sw_provenance *p, char **signer, struct sw_err *err)
{
    SW_AUTO_CHARS *text = NULL;
    SW_AUTO_CHARS *who = NULL;
    size_t len;
    int rc = sw_signed_text(p->keyring, p->text, p->text_len, &text, &len, &who, err);
    if (rc == 0)
        rc = compare(p, text, len, err);
    if (rc == 0)
        *signer = SW_TAKE(who);
    return rc;
}
