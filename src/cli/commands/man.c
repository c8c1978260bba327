/* slipway man: manual pages, from the same tables as --help and the completion. */
#include <ctype.h>
#include <stdio.h>

#include "cli/commands/commands.h"

/* Print a text in roff, with backslashes, hyphens, and dots and quotes that begin a line escaped.
 */
static void put(const char *text)
{
    bool fresh = true;
    for (; *text; text++) {
        if (fresh && (*text == '.' || *text == '\''))
            (void)fputs("\\&", stdout);
        if (*text == '\\')
            (void)fputs("\\e", stdout);
        else if (*text == '-')
            (void)fputs("\\-", stdout);
        else
            (void)putchar(*text);
        fresh = *text == '\n';
    }
}

/* Without a date, so that equal programs give equal pages. */
static void put_title(const char *name, const char *summary)
{
    (void)printf(".TH ");
    for (const char *c = name; *c; c++)
        (void)putchar(toupper((unsigned char)*c));
    (void)printf(" 1 \"\" \"slipway %s\" \"slipway\"\n.SH NAME\n%s \\- ", sw_version, name);
    put(summary);
    (void)printf("\n");
}

static void put_flag(const struct sw_flag *f)
{
    (void)printf(".TP\n");
    if (f->letter)
        (void)printf("\\fB\\-%c\\fR, ", f->letter);
    (void)printf("\\fB\\-\\-");
    put(f->name);
    (void)printf("\\fR");
    if (f->arg) {
        (void)printf(f->kind == SW_FLAG_CHOICE ? "[=\\fI" : " \\fI");
        put(f->arg);
        (void)printf(f->kind == SW_FLAG_CHOICE ? "\\fR]" : "\\fR");
    }
    (void)printf("\n");
    put(f->doc);
    if (f->choices) {
        (void)printf(" (");
        put(f->choices);
        (void)printf(")");
    }
    (void)printf("\n");
}

static void put_command(const struct sw_command *c)
{
    const struct sw_flag *const tables[] = { c->flags, sw_common_flags };
    SW_AUTO_CHARS *name = sw_printf("slipway-%s", c->name);
    put_title(name, c->summary);
    (void)printf(".SH SYNOPSIS\n.B slipway %s\n[\\fIOPTION\\fR]... ", c->name);
    put(c->args);
    (void)printf("\n");
    if (c->details) {
        (void)printf(".SH DESCRIPTION\n");
        put(c->details);
        (void)printf("\n");
    }
    (void)printf(".SH OPTIONS\n");
    for (size_t i = 0; i < SW_COUNT(tables); i++)
        for (const struct sw_flag *f = tables[i]; f->name; f++)
            put_flag(f);
    (void)printf(".SH SEE ALSO\n.BR slipway (1)\n");
}

static void put_all(const struct sw_command *const *all)
{
    put_title("slipway", "walk an accelerator's software stack onto a Kubernetes cluster");
    (void)printf(".SH SYNOPSIS\n.B slipway\n\\fICOMMAND\\fR [\\fIOPTION\\fR]... "
                 "[\\fIARGUMENT\\fR]...\n.SH DESCRIPTION\n");
    put("A recipe is a Helm chart whose parts are ordered. slipway renders each state with facts "
        "of the\ncluster, applies it, waits for its gate, labels the nodes that have finished it, "
        "and goes on.\n");
    (void)printf(".SH COMMANDS\n");
    for (const struct sw_command *c, *const *at = all; (c = *at); at++) {
        (void)printf(".TP\n.BR slipway\\-%s (1)\n", c->name);
        put(c->summary);
        (void)printf("\n");
    }
    (void)printf(".SH EXIT STATUS\n.TP\n0\ndone\n.TP\n1\nit was tried, and failed\n"
                 ".TP\n2\nbad usage or input: nothing was tried\n"
                 ".TP\n3\n\\fB\\-\\-timeout\\fR passed\n"
                 ".SH ENVIRONMENT\n.TP\nKUBECONFIG\nthe cluster and the user, as for kubectl\n"
                 ".TP\nOPERATOR_NAMESPACE\nwhere the operator runs\n.TP\nNO_COLOR\nno colours\n");
}

static int execute(const struct sw_call *call)
{
    struct sw_operands rest;
    int rc = sw_cli_parse(call, NULL, 1, &rest);
    if (rc)
        return rc - 1;
    const struct sw_command *c = rest.n ? sw_command_find(call->all, rest.items[0]) : NULL;
    if (rest.n && !c)
        return sw_cli_usage("man", "'%s' is not a command", rest.items[0]);
    if (c)
        put_command(c);
    else
        put_all(call->all);
    return SW_EXIT_OK;
}

const struct sw_command sw_command_man = {
    .name = "man",
    .args = "[COMMAND]",
    .summary = "print a manual page",
    .details = "In roff, for man(1): slipway man run | man -l -",
    .flags = sw_no_flags,
    .execute = execute,
};
