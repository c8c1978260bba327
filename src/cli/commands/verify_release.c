/* slipway verify-release: whether the files of a release are those that its SHA256SUMS names. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart/fetch/common/provenance.h"
#include "cli/commands/commands.h"
#include "data/data.h"
#include "data/json/hash.h"

static const size_t max_sums = (size_t)1 << 20, max_file = (size_t)1 << 31;
#define SUMS "SHA256SUMS"

struct verify_opts {
    const char *keyring, *output;
};

#define FIELD(member) offsetof(struct verify_opts, member)

static const struct sw_flag flags[] = {
    { "keyring", 0, SW_FLAG_STRING, FIELD(keyring), "FILE", NULL,
      "check the signature, " SUMS ".asc, with the public keys in FILE (gpgv)" },
    { "output", 'o', SW_FLAG_STRING, FIELD(output), "FORMAT", "text|json",
      "output format (default text)" },
    { 0 },
};

/* ---- what SHA256SUMS says -----------------------------------------------------------------------
 */

/* The list of @dir: by signature with a keyring, else as it lies there. @*out: the caller's. */
static int read_sums(const struct verify_opts *o, const char *dir, char **out, char **signer,
                     struct sw_err *err)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s%s", dir, SUMS, o->keyring ? ".asc" : "");
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    int rc = sw_file_read(path, max_sums, &text, &len, err);
    if (rc < 0 || !o->keyring) {
        *out = SW_TAKE(text);
        return rc;
    }
    rc = sw_signed_text(o->keyring, text, len, out, &len, signer, err);
    return rc < 0 ? sw_err_wrap(err, rc, "%s", path) : 0;
}

/* The digest and the name of a line "<64 hex digits>  <name>"; a name leads to no other folder. */
static int read_line(const char *line, size_t len, size_t number, char **digest, char **name,
                     struct sw_err *err)
{
    enum { DIGITS = 2 * SW_SHA256_LEN };
    if (len < DIGITS + 3 || strspn(line, "0123456789abcdef") != DIGITS || line[DIGITS] != ' ' ||
        !strchr(" *", line[DIGITS + 1]))
        return sw_err_set(err, SW_INVALID, SUMS ": line %zu: no digest and name of a file", number);
    *digest = sw_strndup(line, DIGITS);
    *name = sw_strndup(line + DIGITS + 2, len - DIGITS - 2);
    if (strchr(*name, '/'))
        return sw_err_set(err, SW_INVALID, SUMS ": line %zu: '%s' is not in this folder", number,
                          *name);
    return 0;
}

/* ---- the files ----------------------------------------------------------------------------------
 */

static void add(struct json_object *files, const char *name, const char *result)
{
    SW_AUTO_JSON *file = json_object_new_object();
    sw_json_set_str(file, name, "name", NULL);
    sw_json_set_str(file, result, "result", NULL);
    json_object_array_add(files, SW_TAKE(file));
}

/* What became of the file: "ok", "differs", "absent". */
static int check_file(const char *dir, const char *name, const char *digest, const char **result,
                      struct sw_err *err)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, name);
    SW_AUTO_CHARS *bytes = NULL;
    char is[SW_SHA256_HEX];
    size_t len;
    int rc = sw_file_read(path, max_file, &bytes, &len, err);
    if (rc == SW_NOTFOUND) {
        *result = "absent";
        return 0;
    }
    if (rc < 0)
        return rc;
    *result = sw_streq(sw_sha256_hex(bytes, len, is), digest) ? "ok" : "differs";
    return 0;
}

/* Files beside those that are named. */
static void add_others(const char *dir, struct json_object *files)
{
    struct dirent **entries = NULL;
    const int n = scandir(dir, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        if (*name != '.' && !sw_starts_with(name, SUMS) && !sw_json_find_by(files, "name", name))
            add(files, name, "unknown");
        free(entries[i]);
    }
    free(entries);
}

static int check_all(const char *dir, const char *sums, struct json_object *files,
                     struct sw_err *err)
{
    size_t number = 0;
    for (const char *line = sums; *line;) {
        const size_t len = strcspn(line, "\n");
        SW_AUTO_CHARS *digest = NULL;
        SW_AUTO_CHARS *name = NULL;
        const char *result = NULL;
        int rc = read_line(line, len, ++number, &digest, &name, err);
        if (rc == 0)
            rc = check_file(dir, name, digest, &result, err);
        if (rc < 0)
            return rc;
        add(files, name, result);
        line += len + (line[len] == '\n');
    }
    add_others(dir, files);
    return number ? 0 : sw_err_set(err, SW_INVALID, "%s/" SUMS " names no file", dir);
}

static size_t count(struct json_object *files, const char *result)
{
    size_t n = 0;
    for (size_t i = 0; i < sw_json_len(files); i++)
        n += sw_streq(sw_json_str(sw_json_at(files, i), "", "result", NULL), result);
    return n;
}

static void print(struct json_object *files, const char *signer)
{
    static const struct {
        const char *result, *text;
    } texts[] = { { "ok", "ok" },
                  { "differs", "NOT what " SUMS " says" },
                  { "absent", "not here" },
                  { "unknown", "not in " SUMS } };
    for (size_t i = 0; i < sw_json_len(files); i++) {
        struct json_object *file = sw_json_at(files, i);
        for (size_t t = 0; t < SW_COUNT(texts); t++)
            if (sw_streq(sw_json_str(file, "", "result", NULL), texts[t].result))
                (void)printf("%s: %s\n", sw_json_str(file, "", "name", NULL), texts[t].text);
    }
    if (signer)
        (void)printf("signed by %s\n", signer);
}

static int execute(const struct sw_call *call)
{
    struct verify_opts o = { 0 };
    struct sw_operands rest;
    SW_AUTO_CHARS *sums = NULL;
    SW_AUTO_CHARS *signer = NULL;
    SW_AUTO_JSON *doc = json_object_new_object();
    SW_ERR(err);
    int rc = sw_cli_parse(call, &o, 1, &rest);
    if (rc)
        return rc - 1;
    struct json_object *files = json_object_new_array();
    sw_json_set(doc, files, "files", NULL);
    if (read_sums(&o, rest.items[0], &sums, &signer, &err) < 0 ||
        check_all(rest.items[0], sums, files, &err) < 0)
        return sw_cli_fail("verify-release", &err);
    const size_t wrong = count(files, "differs") + count(files, "unknown");
    const bool is_good = wrong == 0 && count(files, "ok") > 0;
    if (sw_streq(o.output, "json")) {
        sw_json_set(doc, json_object_new_boolean(is_good), "verified", NULL);
        if (signer)
            sw_json_set_str(doc, signer, "signer", NULL);
        rc = sw_cli_print_json(doc);
        return is_good ? rc : SW_EXIT_FAILED;
    }
    print(files, signer);
    if (!is_good)
        (void)fprintf(stderr, "slipway verify-release: %s\n",
                      wrong ? "do not use what is not as " SUMS " says"
                            : "no file that " SUMS " names is here");
    return is_good ? SW_EXIT_OK : SW_EXIT_FAILED;
}

const struct sw_command sw_command_verify_release = {
    .name = "verify-release",
    .args = "DIR",
    .missing = "which folder? That of the files of a release and their " SUMS " is needed",
    .summary = "compare the files of a release with their checksums",
    .details = "DIR holds " SUMS
               " and files of the release; not all of them need be there. What is "
               "there beside them\n"
               "is told, and is a failure, too. With --keyring the signature is checked first, and "
               "only what is signed counts.",
    .flags = flags,
    .execute = execute,
};
