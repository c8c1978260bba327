#include "base/output.h"
#include "cli/commands/commands.h"
#include "cli/commands/complete.h"
#include "data/text/nearest.h"
#include "data/text/wrap.h"
#include "operator/renderer/renderer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef SW_COMMIT /* builds that only check the sources */
#define SW_COMMIT ""
#define SW_DATE ""
#define SW_LIBRARIES ""
#endif

const char *sw_version = SW_VERSION;
const struct sw_build sw_build = { SW_COMMIT, SW_DATE, SW_LIBRARIES };

static int execute(const struct sw_command *command, int argc, char **argv)
{
    return sw_cli_execute(&(struct sw_call){ command, sw_commands, argc, argv });
}

static void print_commands(FILE *out)
{
    enum { COLUMN = 15 };
    (void)fprintf(out, "slipway walks an accelerator's software stack onto a Kubernetes cluster,\n"
                       "one validated state after another.\n\n"
                       "Usage: slipway COMMAND [OPTION]... [ARGUMENT]...\n\nCommands:\n");
    for (const struct sw_command *const *c = sw_commands; *c; c++) {
        (void)fprintf(out, "  %-12s ", (*c)->name);
        sw_text_wrap(out, (*c)->summary, COLUMN, COLUMN);
    }
    (void)fprintf(out, "\n'slipway COMMAND --help' says what a command does.\n");
}

/* The only one of @names that begins with @name; NULL: there is none, or several. */
static const char *only_longer(const char *name, const char *const *names)
{
    const char *found = NULL;
    for (; *names; names++) {
        if (!*name || !sw_starts_with(*names, name))
            continue;
        if (found)
            return NULL;
        found = *names;
    }
    return found;
}

static int execute_named(const char *name, int argc, char **argv)
{
    const struct sw_command *command = sw_command_named(name);
    if (command) {
        struct sw_command as_called =
            *command; /* `init` is `create`: errors begin with the former */
        as_called.name = name;
        return execute(&as_called, argc, argv);
    }
    const char *names[64] = { 0 };
    for (size_t i = 0; sw_commands[i] && i + 1 < SW_COUNT(names); i++)
        names[i] = sw_commands[i]->name;
    const char *instead = sw_command_instead(name), *near = only_longer(name, names);
    near = near ? near : sw_text_nearest(name, names);
    if (instead) {
        (void)fprintf(stderr, "slipway: '%s' is not a command; try: %s\n", name, instead);
        return SW_EXIT_USAGE;
    }
    (void)fprintf(stderr, "slipway: '%s' is not a command%s%s%s; 'slipway --help' lists them\n",
                  name, near ? ", did you mean '" : "", near ? near : "", near ? "'" : "");
    return SW_EXIT_USAGE;
}

/* SRO's Deployment starts /manager with the controller's flags, DAS's `das-operator operator`: with
 * a link of that name in the image their users change nothing but the image. @return how many
 * arguments are before the flags; 0: it is none of these. */
static int n_before_flags(int argc, char **argv)
{
    const char *slash = argv[0] ? strrchr(argv[0], '/') : NULL, *name = slash ? slash + 1 : argv[0];
    if (sw_streq(name, "das-operator"))
        return argc > 1 && sw_streq(argv[1], "operator") ? 2 : 1;
    return sw_streq(name, "manager");
}

static int run(int argc, char **argv)
{
    static char help[] = "--help";
    int n = n_before_flags(argc, argv);
    if (n)
        return execute(&sw_command_controller, argc - n + 1, argv + n - 1);
    if (argc < 2) {
        print_commands(stderr);
        return SW_EXIT_USAGE;
    }
    if (sw_streq(argv[1], "renderer") && argc == 5) /* a child of the controller, no command */
        return sw_renderer_serve(STDIN_FILENO, strtoul(argv[2], NULL, 10),
                                 (unsigned)strtoul(argv[3], NULL, 10),
                                 (unsigned)strtoul(argv[4], NULL, 10));
    if (sw_streq(argv[1], COMPLETE_ARGUMENT)) /* asked by a completion script, no command */
        return complete_print(argc - 2, argv + 2);
    if (sw_streq(argv[1], "--version"))
        return execute(&sw_command_version, 1, argv + 1);
    if (!sw_streq(argv[1], "help") && !sw_streq(argv[1], "--help") && !sw_streq(argv[1], "-h"))
        return execute_named(argv[1], argc - 1, argv + 1);
    if (argc > 2)
        return execute_named(argv[2], 2, (char *[]){ argv[2], help, NULL });
    print_commands(stdout);
    return SW_EXIT_OK;
}

int main(int argc, char **argv)
{
    struct stat out;
    sw_program_start();
    int rc = run(argc, argv);
    sw_output_end();
    if (fflush(stdout) == 0 && !ferror(stdout))
        return rc;
    /* a full disk is an error; nothing is printed if the reader of a pipe has closed it */
    bool pipe = fstat(STDOUT_FILENO, &out) == 0 && (S_ISFIFO(out.st_mode) || S_ISSOCK(out.st_mode));
    if (!pipe)
        (void)fprintf(stderr, "slipway: what was to be printed could not be written\n");
    return rc == SW_EXIT_OK ? SW_EXIT_FAILED : rc;
}
