/* slipway completion: a shell's completion script, made from the tables of commands and options. */
#include "cli/commands/commands.h"
#include "cli/commands/complete.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static void print_choices(const char *choices)
{
    for (const char *c = choices; *c && *c != ' '; c++)
        (void)putchar(*c == '|' ? ' ' : *c);
}

static void print_commands(const struct sw_command *const *all)
{
    for (const struct sw_command *c, *const *at = all; (c = *at); at++)
        (void)printf("%s ", c->name);
    (void)printf("help");
}

/* Whether the operands are commands or the choices that args lists, not files or names. */
static bool has_choices(const struct sw_command *c)
{
    return strstr(c->args, "COMMAND") || islower((unsigned char)*c->args);
}

/* Whether files come after the choices: "list|lock CHART". */
static bool has_files_too(const struct sw_command *c)
{
    return has_choices(c) && !strstr(c->args, "COMMAND") && strchr(c->args, ' ');
}

static void print_operands(const struct sw_command *const *all, const struct sw_command *c)
{
    if (strstr(c->args, "COMMAND"))
        print_commands(all);
    else
        print_choices(c->args);
}

static void bash(const struct sw_command *const *all)
{
    (void)printf("# what a kubeconfig and a cluster have\n_slipway_ask() {\n    local IFS=$'\\n'\n"
                 "    COMPREPLY=($(compgen -W \"$(slipway " COMPLETE_ARGUMENT
                 " \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null </dev/null)\" -- "
                 "\"${COMP_WORDS[COMP_CWORD]}\"))\n}\n");
    (void)printf("_slipway() {\n    local cur=${COMP_WORDS[COMP_CWORD]} "
                 "prev=${COMP_WORDS[COMP_CWORD-1]}\n    COMPREPLY=()\n"
                 "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W \"");
    print_commands(all);
    (void)printf(" --help --version\" -- \"$cur\"))\n        return\n    fi\n"
                 "    case \"${COMP_WORDS[1]} $prev\" in\n");
    for (const struct sw_command *c, *const *at = all; (c = *at); at++)
        for (const struct sw_flag *f = c->flags; f->name; f++)
            if (f->choices) {
                (void)printf("    ");
                if (f->letter)
                    (void)printf("'%s -%c'|", c->name, f->letter);
                (void)printf("'%s --%s') COMPREPLY=($(compgen -W \"", c->name, f->name);
                print_choices(f->choices);
                (void)printf("\" -- \"$cur\")); return ;;\n");
            } else if (complete_asks(f)) {
                (void)printf("    ");
                if (f->letter)
                    (void)printf("'%s -%c'|", c->name, f->letter);
                (void)printf("'%s --%s') _slipway_ask; return ;;\n", c->name, f->name);
            }
    (void)printf("    *' --log-level') COMPREPLY=($(compgen -W \"error warn info debug\" -- "
                 "\"$cur\")); return ;;\n    esac\n    case \"${COMP_WORDS[1]}${cur:0:1}\" in\n");
    for (const struct sw_command *c, *const *at = all; (c = *at); at++) {
        (void)printf("    %s-) COMPREPLY=($(compgen -W \"", c->name);
        for (const struct sw_flag *f = c->flags; f->name; f++)
            (void)printf(" --%s", f->name);
        (void)printf(" --log-level --help\" -- \"$cur\")); return ;;\n");
    }
    (void)printf("    esac\n    case \"${COMP_WORDS[1]}\" in\n"
                 "    help) COMPREPLY=($(compgen -W \"");
    print_commands(all);
    (void)printf("\" -- \"$cur\")) ;;\n");
    for (const struct sw_command *c, *const *at = all; (c = *at); at++)
        if (has_choices(c)) {
            (void)printf("    %s) COMPREPLY=($(compgen -W \"", c->name);
            print_operands(all, c);
            (void)printf("\" -- \"$cur\"))");
            if (has_files_too(c))
                (void)printf("; [ \"$COMP_CWORD\" -eq 2 ] || "
                             "COMPREPLY=($(compgen -f -- \"$cur\"))");
            (void)printf(" ;;\n");
        } else if (complete_operands(c)) {
            (void)printf("    %s) _slipway_ask ;;\n", c->name);
        }
    (void)printf("    *) local IFS=$'\\n'; COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n    esac\n}\n"
                 "complete -o filenames -F _slipway slipway\n");
}

/* Print a text with blanks for characters that the shell would interpret. */
static void print_text(const char *text, const char *special)
{
    for (; *text; text++)
        (void)putchar(strchr(special, *text) ? ' ' : *text);
}

#define ZSH_SPECIAL "'[]:" /* in '...[...]' */

static void zsh_flag(const struct sw_flag *f)
{
    (void)printf("            '%s--%s%s[", f->kind == SW_FLAG_LIST ? "*" : "", f->name,
                 f->kind == SW_FLAG_CHOICE ? "=-" : "");
    print_text(f->doc, ZSH_SPECIAL);
    (void)printf("]");
    if (f->arg)
        (void)printf(":%s%s:", f->kind == SW_FLAG_CHOICE ? ":" : "", f->arg);
    if (f->choices) {
        (void)putchar('(');
        print_choices(f->choices);
        (void)putchar(')');
    } else if (f->arg) {
        (void)printf(complete_asks(f) ? "_slipway_ask" : "_files");
    }
    (void)printf("' \\\n");
}

static void zsh(const struct sw_command *const *all)
{
    (void)printf("#compdef slipway\n_slipway_ask() {\n"
                 "    local -a found=(${(f)\"$(slipway " COMPLETE_ARGUMENT
                 " \"${(@)words[1,CURRENT]}\" 2>/dev/null </dev/null)\"})\n"
                 "    (( $#found )) && compadd -a found\n}\n");
    (void)printf("_slipway() {\n    if (( CURRENT == 2 )); then\n"
                 "        local -a commands=(\n");
    for (const struct sw_command *c, *const *at = all; (c = *at); at++) {
        (void)printf("            '%s:", c->name);
        print_text(c->summary, ZSH_SPECIAL);
        (void)printf("'\n");
    }
    (void)printf("            'help:print help'\n        )\n        _describe command commands\n   "
                 "     return\n    fi\n"
                 "    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n"
                 "    case $command in\n    help)\n        _arguments '*:command:(");
    print_commands(all);
    (void)printf(")' ;;\n");
    for (const struct sw_command *c, *const *at = all; (c = *at); at++) {
        (void)printf("    %s)\n        _arguments \\\n", c->name);
        for (const struct sw_flag *f = c->flags; f->name; f++)
            zsh_flag(f);
        (void)printf("            '--log-level[log level]:LEVEL:(error warn info debug)' \\\n"
                     "            '--help[print help]' \\\n            '%s:",
                     has_files_too(c) ? "1" : "*");
        if (has_choices(c)) {
            (void)printf("word:(");
            print_operands(all, c);
            (void)printf(")'%s ;;\n", has_files_too(c) ? " '*:file:_files'" : "");
        } else if (complete_operands(c)) {
            (void)printf("name:_slipway_ask' ;;\n");
        } else {
            (void)printf("file:_files' ;;\n");
        }
    }
    (void)printf("    esac\n}\nif [ \"$funcstack[1]\" = \"_slipway\" ]; then _slipway; else "
                 "compdef _slipway slipway; fi\n");
}

/* The words before the cursor; what is at the cursor fish compares itself. */
#define FISH_ASK                                                                                   \
    "(slipway " COMPLETE_ARGUMENT " (commandline -opc)[2..-1] \"\" 2>/dev/null </dev/null)"

static void fish_flag(const char *condition, const struct sw_flag *f)
{
    (void)printf("complete -c slipway %s -l %s", condition, f->name);
    if (f->letter)
        (void)printf(" -s %c", f->letter);
    if (f->arg && f->kind != SW_FLAG_CHOICE)
        (void)printf(" -r");
    if (f->choices) {
        (void)printf(" -f -a '");
        print_choices(f->choices);
        (void)printf("'");
    } else if (complete_asks(f)) {
        (void)printf(" -f -a '" FISH_ASK "'");
    }
    (void)printf(" -d '");
    print_text(f->doc, "'");
    (void)printf("'\n");
}

static void fish(const struct sw_command *const *all)
{
    for (const struct sw_flag *f = sw_common_flags; f->name; f++)
        fish_flag("", f);
    for (const struct sw_command *c, *const *at = all; (c = *at); at++) {
        (void)printf("complete -c slipway -n __fish_use_subcommand -f -a %s -d '", c->name);
        print_text(c->summary, "'");
        (void)printf("'\n");
        SW_AUTO_CHARS *condition = sw_printf("-n '__fish_seen_subcommand_from %s'", c->name);
        for (const struct sw_flag *f = c->flags; f->name; f++)
            fish_flag(condition, f);
        if (has_choices(c)) {
            (void)printf("complete -c slipway %s", condition);
            if (has_files_too(c)) {
                (void)printf(" -n 'not __fish_seen_subcommand_from ");
                print_operands(all, c);
                (void)printf("'");
            }
            (void)printf(" -f -a '");
            print_operands(all, c);
            (void)printf("'\n");
        } else if (complete_operands(c)) {
            (void)printf("complete -c slipway %s -f -a '" FISH_ASK "'\n", condition);
        }
    }
    (void)printf("complete -c slipway -n __fish_use_subcommand -f -a help -d 'print help'\n"
                 "complete -c slipway -n '__fish_seen_subcommand_from help' -f -a '");
    print_commands(all);
    (void)printf("'\n");
}

static const struct {
    const char *shell;
    void (*print)(const struct sw_command *const *all);
} shells[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };

static int execute(const struct sw_call *call)
{
    struct sw_operands rest;
    int rc = sw_cli_parse(call, NULL, 1, &rest);
    if (rc)
        return rc - 1;
    for (size_t i = 0; i < SW_COUNT(shells); i++)
        if (sw_streq(rest.items[0], shells[i].shell)) {
            shells[i].print(call->all);
            return SW_EXIT_OK;
        }
    return sw_cli_usage("completion", "no completion for '%s', only for bash, zsh and fish",
                        rest.items[0]);
}

const struct sw_command sw_command_completion = {
    .name = "completion",
    .args = "bash|zsh|fish",
    .missing = "which shell: bash, zsh or fish?",
    .summary = "print a shell's completion script",
    .details = "To try it in bash: source <(slipway completion bash)",
    .flags = sw_no_flags,
    .execute = execute,
};
