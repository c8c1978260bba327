#include "cli/command/cli.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/yaml/yaml.h"

const struct sw_flag sw_no_flags[] = { { 0 } };

const struct sw_command *sw_command_find(const struct sw_command *const *all, const char *name)
{
    while (*all && !sw_streq((*all)->name, name))
        all++;
    return *all;
}

int sw_cli_parse(const struct sw_call *call, void *opts, size_t max, struct sw_operands *rest)
{
    const struct sw_command *c = call->command;
    SW_AUTO_CHARS *program = sw_printf("slipway %s", c->name);
    const struct sw_flag_set set = { .program = program,
                                     .summary = c->summary,
                                     .args = c->args,
                                     .details = c->details,
                                     .flags = c->flags,
                                     .max_operands = max };
    int rc = sw_flags_parse(&set, call->argc, call->argv, opts, rest);
    if (rc == 0 && rest->n == 0 && c->missing)
        return 1 + sw_flags_usage(program, "%s", c->missing);
    return rc;
}

/* The flag by which @command prints one JSON document; NULL: it has none. */
static const struct sw_flag *format_flag(const struct sw_command *command)
{
    const struct sw_flag *f = command->flags;
    while (f->name && !(f->choices && strstr(f->choices, "json")))
        f++;
    return f->name ? f : NULL;
}

/* The format that the arguments ask for, also where they are wrong otherwise; borrowed, "": none.
 */
static const char *asked_format(const struct sw_call *call)
{
    const struct sw_flag *f = format_flag(call->command);
    if (!f)
        return "";
    SW_AUTO_CHARS *name = sw_printf("--%s", f->name), *start = sw_printf("%s=", name);
    SW_AUTO_CHARS *letter = sw_printf("-%c", f->letter);
    const char *format = "";
    for (int i = 1; i < call->argc && !sw_streq(call->argv[i], "--"); i++) {
        const char *arg = call->argv[i], *next = call->argv[i + 1];
        if (sw_starts_with(arg, start))
            format = arg + strlen(start);
        else if (next && (sw_streq(arg, name) || (f->letter && sw_streq(arg, letter))))
            format = next;
        else if (f->letter && sw_starts_with(arg, letter))
            format = arg + strlen(letter);
    }
    return format;
}

int sw_cli_execute(const struct sw_call *call)
{
    const int rc = call->command->execute(call);
    if (rc == SW_EXIT_OK || !sw_output_is_empty())
        return rc;
    const char *format = asked_format(call);
    const bool is_yaml = sw_streq(format, "yaml") &&
                         strstr(format_flag(call->command)->choices, "yaml");
    SW_AUTO_CHARS *message = sw_output_last_message();
    if (!sw_streq(format, "json") && !is_yaml) {
        if (call->command->print_failure)
            call->command->print_failure(format, message);
        return rc;
    }
    SW_AUTO_JSON *doc = json_object_new_object();
    sw_json_set_str(doc, message, "message", NULL);
    sw_json_set(doc, json_object_new_int(rc), "exit", NULL);
    if (is_yaml) {
        size_t len;
        SW_AUTO_CHARS *text = sw_yaml_text(doc, &len);
        (void)sw_cli_print(text, len);
    } else {
        (void)sw_cli_print_json(doc); /* main() checks stdout for errors */
    }
    return rc;
}

int sw_cli_usage(const char *command, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *program = sw_printf("slipway %s", command), *text = sw_vprintf(fmt, ap);
    va_end(ap);
    return sw_flags_usage(program, "%s", text);
}

int sw_cli_fail(const char *command, const struct sw_err *err)
{
    (void)fprintf(stderr, "slipway %s: %s\n", command, sw_err_text(err));
    return err->code == SW_INVALID || err->code == SW_NOTFOUND ? SW_EXIT_USAGE : SW_EXIT_FAILED;
}

const char *sw_cli_operator_namespace(void)
{
    const char *ns = getenv("OPERATOR_NAMESPACE");
    return ns && *ns ? ns : "slipway";
}

bool sw_cli_colours(int fd)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fd) && !(no && *no) && term && *term && !sw_streq(term, "dumb");
}

int sw_cli_print(const char *text, size_t len_bytes)
{
    bool ok = fwrite(text, 1, len_bytes, stdout) == len_bytes && fflush(stdout) == 0;
    return ok ? SW_EXIT_OK : SW_EXIT_FAILED;
}

int sw_cli_print_json(struct json_object *doc)
{
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PRETTY, &len);
    text[len++] = '\n'; /* in place of the final NUL */
    return sw_cli_print(text, len);
}
