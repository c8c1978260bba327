#pragma once
/* options: command lines of the small programs, as Go's flag package reads them ("--name=value",
 * "--name value", "-name"; switches need no value). slipway itself has src/cli. */
#include <stdbool.h>
#include <stddef.h>

enum sw_option_kind { SW_OPTION_TEXT, SW_OPTION_NUMBER, SW_OPTION_SWITCH };

/** One row an option; a table of them says what a program takes. */
struct sw_option {
    const char *name;
    enum sw_option_kind kind;
    size_t offset; /* in the settings: const char *, int (0 to 65535) or bool */
    const char *help;
};

enum { SW_EXIT_BAD_OPTION = 2 };

/** Read @argv into @settings (texts are borrowed from it). What is wrong is told on stderr.
 * @return 0 | SW_EXIT_BAD_OPTION: the exit status */
int sw_options_parse(const char *program, const struct sw_option *table, size_t n, int argc,
                     char **argv, void *settings);
/** "program: @fmt...; --help lists the flags" on stderr. @return SW_EXIT_BAD_OPTION */
int sw_options_fault(const char *program, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/** The table for people, on stdout. */
void sw_options_help(const char *program, const char *what, const struct sw_option *table,
                     size_t n);
/** "error", "warn", "info", "debug". @return 0 | SW_EXIT_BAD_OPTION */
int sw_options_log_level(const char *program, const char *name);
