#include "cli/command/cli.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *sw_version = SW_VERSION;

static void print_commands(FILE *out)
{
    (void)fprintf(out, "slipway walks an accelerator's software stack onto a Kubernetes cluster,\n"
                       "one validated state after another.\n\n"
                       "Usage: slipway COMMAND [OPTION]... [ARGUMENT]...\n\nCommands:\n");
    for (const struct sw_command *c = sw_commands; c->name; c++)
        (void)fprintf(out, "  %-12s %s\n", c->name, c->summary);
    (void)fprintf(out, "\n'slipway COMMAND --help' says what a command does.\n");
}

static int unknown_command(const char *name)
{
    const char *names[64] = { 0 };
    for (size_t i = 0; sw_commands[i].name && i + 1 < SW_COUNT(names); i++)
        names[i] = sw_commands[i].name;
    const char *near = sw_cli_nearest(name, names);
    (void)fprintf(stderr, "slipway: '%s' is not a command%s%s%s; 'slipway --help' lists them\n",
                  name, near ? ", did you mean '" : "", near ? near : "", near ? "'" : "");
    return SW_EXIT_USAGE;
}

/* "help", "--help", "--version" are spellings of what is there. */
static int special(int argc, char **argv)
{
    static char help[] = "--help";
    if (sw_streq(argv[1], "--version"))
        return sw_cmd_version(1, argv + 1);
    if (argc > 2) {
        char *again[] = { argv[2], help, NULL };
        const struct sw_command *c = sw_command_find(argv[2]);
        return c ? c->run(2, again) : unknown_command(argv[2]);
    }
    print_commands(stdout);
    return SW_EXIT_OK;
}

/* SRO's Deployment starts /manager with the controller's flags: with a link of that name in the
 * image its users change nothing but the image. */
static bool is_manager(const char *program)
{
    const char *slash = program ? strrchr(program, '/') : NULL;
    return sw_streq(slash ? slash + 1 : program, "manager");
}

/* A full disk must not look like success. A reader that went away knows why: nothing is said. */
static int written(int rc)
{
    struct stat out;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return rc;
    bool pipe = fstat(STDOUT_FILENO, &out) == 0 && (S_ISFIFO(out.st_mode) || S_ISSOCK(out.st_mode));
    if (!pipe)
        (void)fprintf(stderr, "slipway: what was to be printed could not be written\n");
    return rc == SW_EXIT_OK ? SW_EXIT_FAILED : rc;
}

static int run(int argc, char **argv)
{
    if (is_manager(argv[0]))
        return sw_cmd_controller(argc, argv);
    if (argc < 2) {
        print_commands(stderr);
        return SW_EXIT_USAGE;
    }
    if (sw_streq(argv[1], "help") || sw_streq(argv[1], "--help") || sw_streq(argv[1], "-h") ||
        sw_streq(argv[1], "--version"))
        return special(argc, argv);
    const struct sw_command *c = sw_command_find(argv[1]);
    return c ? c->run(argc - 1, argv + 1) : unknown_command(argv[1]);
}

int main(int argc, char **argv)
{
    sw_program_start();
    return written(run(argc, argv));
}
