/* slipway create: a new recipe that renders, lints and walks. */
#include "cli/commands/commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/recipe/scaffold.h"

/* Helm's limit for names of releases: by default a release has the recipe's name. */
enum { NAME_MAX_LEN = 53 };

static int make_dir(const char *dir, struct sw_err *err)
{
    if (mkdir(dir, 0777) == 0)
        return 0;
    if (errno == EEXIST)
        return sw_err_set(err, SW_INVALID, "'%s' exists already; it is left as it is", dir);
    int code = errno == ENOENT                     ? SW_NOTFOUND
               : errno == EACCES || errno == EROFS ? SW_FORBIDDEN
                                                   : SW_UNAVAILABLE;
    return sw_err_set(err, code, "%s: %s", dir, strerror(errno));
}

/* Write @file with the recipe's name in place of SW_SCAFFOLD_NAME. */
static int write_file(const struct sw_scaffold_file *file, const char *dir, const char *name,
                      struct sw_err *err)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, file->path), *text = sw_strdup("");
    const char *at = file->text;
    for (const char *mark; (mark = strstr(at, SW_SCAFFOLD_NAME));
         at = mark + strlen(SW_SCAFFOLD_NAME))
        sw_append(&text, "%.*s%s", (int)(mark - at), at, name);
    sw_append(&text, "%s", at);
    return sw_file_write(path, text, strlen(text), err);
}

static int create(const char *dir, struct sw_err *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    const char *slash = strrchr(dir, '/'), *name = slash ? slash + 1 : dir;
    size_t len = strlen(name);
    if (len == 0 || len > NAME_MAX_LEN || strspn(name, letters) < len || *name == '-' ||
        name[len - 1] == '-')
        return sw_err_set(err, SW_INVALID,
                          "'%s' is no name for a recipe: expected lower-case letters, digits and "
                          "'-' between them, %d at most",
                          name, NAME_MAX_LEN);
    SW_AUTO_CHARS *templates = sw_printf("%s/templates", dir);
    int rc = make_dir(dir, err);
    if (rc < 0)
        return rc;
    rc = make_dir(templates, err);
    for (const struct sw_scaffold_file *f = sw_scaffold; rc == 0 && f->path; f++)
        rc = write_file(f, dir, name, err);
    if (rc == 0)
        return 0;
    for (const struct sw_scaffold_file *f = sw_scaffold; f->path;
         f++) { /* the next try starts anew */
        SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, f->path);
        (void)unlink(path); /* it may not have been written */
    }
    (void)rmdir(templates);
    (void)rmdir(dir);
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
    (void)printf("created %s; try: slipway run %s --emulate\n", rest.items[0], rest.items[0]);
    return SW_EXIT_OK;
}

const struct sw_command sw_command_create = {
    .name = "create",
    .args = "NAME",
    .missing = "what is the recipe to be called?",
    .summary = "create a new recipe",
    .details = "Writes the folder NAME: a chart of two states that renders, lints and gets Ready, "
               "for you to change.\n"
               "Nothing that exists is overwritten.",
    .flags = sw_no_flags,
    .execute = execute,
};
