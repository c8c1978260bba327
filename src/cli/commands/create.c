/* slipway create: a new recipe that renders, lints and walks. */
#include "cli/command/cli.h"
#include "cli/commands/commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/recipe/scaffold.h"

/* Helm's limit of a release's name, which the recipe's becomes where none is given. */
enum { NAME_MAX_LEN = 53 };

/* Objects are called by the name: an RFC 1123 label. */
static int check_name(const char *name, struct sw_err *err)
{
    static const char ends[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    size_t len = strlen(name);
    bool ok = len > 0 && len <= NAME_MAX_LEN &&
              strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == len &&
              strchr(ends, name[0]) && strchr(ends, name[len - 1]);
    return ok ? 0
              : sw_err_set(err, SW_INVALID,
                           "'%s' is no name for a recipe: expected lower-case letters, digits and "
                           "'-' between them, %d at most",
                           name, NAME_MAX_LEN);
}

/* @text with the recipe's name put in; the caller's. */
static char *fill(const char *text, const char *name)
{
    char *out = sw_strdup("");
    for (const char *hole; *text; text = hole) {
        const char *mark = strstr(text, SW_SCAFFOLD_NAME);
        int len = mark ? (int)(mark - text) : (int)strlen(text);
        hole = mark ? mark + strlen(SW_SCAFFOLD_NAME) : text + len;
        sw_append(&out, "%.*s%s", len, text, mark ? name : "");
    }
    return out;
}

static int make_dir(const char *dir, struct sw_err *err)
{
    if (mkdir(dir, 0777) == 0)
        return 0;
    int code = errno == EEXIST                     ? SW_INVALID
               : errno == ENOENT                   ? SW_NOTFOUND
               : errno == EACCES || errno == EROFS ? SW_FORBIDDEN
                                                   : SW_UNAVAILABLE;
    return errno == EEXIST ? sw_err_set(err, code, "'%s' exists already; it is left as it is", dir)
                           : sw_err_set(err, code, "%s: %s", dir, strerror(errno));
}

static int write_files(const char *dir, const char *name, struct sw_err *err)
{
    SW_AUTO_CHARS *templates = sw_printf("%s/templates", dir);
    int rc = make_dir(templates, err);
    for (const struct sw_scaffold_file *f = sw_scaffold; rc == 0 && f->path; f++) {
        SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, f->path);
        SW_AUTO_CHARS *text = fill(f->text, name);
        rc = sw_file_write(path, text, strlen(text), 0666, err);
    }
    return rc;
}

/* Half a recipe is of no use, and would be in the way of the next attempt. */
static void remove_files(const char *dir)
{
    for (const struct sw_scaffold_file *f = sw_scaffold; f->path; f++) {
        SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, f->path);
        (void)unlink(path); /* it may never have been written */
    }
    SW_AUTO_CHARS *templates = sw_printf("%s/templates", dir);
    (void)rmdir(templates);
    (void)rmdir(dir);
}

static int create(const char *dir, struct sw_err *err)
{
    const char *slash = strrchr(dir, '/'), *name = slash ? slash + 1 : dir;
    int rc = check_name(name, err);
    if (rc == 0)
        rc = make_dir(dir, err);
    if (rc < 0)
        return rc;
    rc = write_files(dir, name, err);
    if (rc < 0)
        remove_files(dir);
    return rc;
}

static int execute(const struct sw_call *call)
{
    struct sw_operands rest;
    int rc = sw_cli_parse(call, NULL, 1, &rest);
    if (rc)
        return rc - 1;
    SW_ERR(err);
    if (create(rest.items[0], &err) < 0)
        return sw_cli_fail("create", &err);
    SW_AUTO_CHARS *words = sw_printf("created %s; try: slipway run %s --emulate\n", rest.items[0],
                                     rest.items[0]);
    return sw_cli_print(words, strlen(words));
}

const struct sw_command sw_command_create = {
    .name = "create",
    .args = "NAME",
    .missing = "what is the recipe to be called?",
    .summary = "begin a new recipe",
    .details = "Writes the folder NAME: a chart of two states that renders, lints and walks, to be "
               "changed\n"
               "from there. Nothing that exists is overwritten.",
    .flags = sw_no_flags,
    .execute = execute,
};
