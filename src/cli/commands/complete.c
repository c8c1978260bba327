/* complete: the words that may stand where the cursor is, asked for by the completion scripts. What
 * the tables say of options and commands is in the scripts; here is what a kubeconfig and a cluster
 * have. */
#include "cli/commands/complete.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "cli/commands/commands.h"
#include "cli/commands/explain_topic.h"
#include "cli/commands/revisions.h"
#include "data/data.h"
#include "kube/config/kubeconfig.h"

enum { WAIT_MS = 2000 }; /* a prompt that hangs is worse than one without an answer */

/* A command line up to the cursor. */
struct line {
    const struct sw_command *command;
    int argc; /* words behind the command, the last being the one at the cursor */
    char **argv;
    struct sw_connect_opts connect;
    const char *operands[4]; /* before the cursor */
    size_t n_operands;
    const struct sw_flag *value_of; /* the cursor is at this flag's value; NULL: at an operand */
};

bool complete_asks(const struct sw_flag *flag)
{
    static const char *const names[] = { "context", "cluster", "user", "namespace" };
    for (size_t i = 0; i < SW_COUNT(names); i++)
        if (flag->arg && sw_streq(flag->name, names[i]))
            return true;
    return false;
}

static bool has_cluster(const struct sw_command *c)
{
    for (const struct sw_flag *f = c->flags; f->name; f++)
        if (sw_streq(f->name, "kubeconfig"))
            return true;
    return false;
}

static bool is_of_node(const struct sw_command *c)
{
    return sw_streq(c->args, "[NODE]");
}

bool complete_operands(const struct sw_command *c)
{
    return has_cluster(c) && (strstr(c->args, "NAME") || is_of_node(c)) &&
           !strstr(c->args, "RECIPE");
}

/* ---- the line -----------------------------------------------------------------------------------
 */

/* The connection's options of each command; the rows of its table are the command's own. */
static const struct sw_flag connect_flags[] = { SW_CONNECT_FLAGS(struct line, connect), { 0 } };

static const struct sw_flag *find_flag(const struct sw_flag *flags, const char *word)
{
    const size_t len = strcspn(word, "=");
    for (; flags->name; flags++)
        if ((word[1] == '-' && strlen(flags->name) == len - 2 &&
             memcmp(flags->name, word + 2, len - 2) == 0) ||
            (word[1] == flags->letter && flags->letter && !word[2]))
            return flags;
    return NULL;
}

static void keep_value(struct line *line, const struct sw_flag *flag, const char *value)
{
    for (const struct sw_flag *f = connect_flags; f->name; f++)
        if (f->kind == SW_FLAG_STRING && sw_streq(f->name, flag->name))
            memcpy((char *)line + f->offset, &value, sizeof value);
}

static void read_line(struct line *line)
{
    for (int i = 0; i + 1 < line->argc; i++) {
        const char *word = line->argv[i];
        if (*word != '-' || !word[1]) {
            if (line->n_operands < SW_COUNT(line->operands))
                line->operands[line->n_operands++] = word;
            continue;
        }
        const struct sw_flag *flag = find_flag(line->command->flags, word);
        const char *equals = strchr(word, '=');
        if (!flag || flag->kind == SW_FLAG_BOOL || flag->kind == SW_FLAG_CHOICE)
            continue;
        if (equals)
            keep_value(line, flag, equals + 1);
        else if (i + 2 < line->argc)
            keep_value(line, flag, line->argv[++i]);
        else
            line->value_of = flag;
    }
}

/* ---- what there is ------------------------------------------------------------------------------
 */

static void print_names(struct json_object *list)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *item = sw_json_at(list, i);
        (void)printf("%s\n", json_object_is_type(item, json_type_object)
                                 ? sw_json_str(item, sw_obj_name(item), "name", NULL)
                                 : json_object_get_string(item));
    }
}

static int open_connection(struct sw_connection *conn, const struct line *line, struct sw_err *err)
{
    struct sw_connect_opts opts = line->connect;
    opts.request_timeout_ms = WAIT_MS;
    int rc = sw_connection_init(conn, "completion", &opts, err);
    if (rc == 0)
        conn->until_ms = sw_loop_now_ms(conn->loop) + WAIT_MS;
    return rc;
}

/* The names of a kind's objects; of @name one object (a list of it then). */
static int find_objects(const struct line *line, const char *api_version, const char *kind,
                        struct json_object **out, struct sw_err *err)
{
    struct sw_connection conn = { 0 };
    int rc = open_connection(&conn, line, err);
    if (rc == 0)
        rc = sw_cluster_find(&conn, api_version, kind, NULL, NULL, NULL, out, err);
    sw_connection_done(&conn);
    return rc;
}

static int print_objects(const struct line *line, const char *api_version, const char *kind,
                         struct sw_err *err)
{
    SW_AUTO_JSON *list = NULL;
    int rc = find_objects(line, api_version, kind, &list, err);
    if (rc == 0)
        print_names(list);
    return rc;
}

/* States or revisions of the resource that is named before. */
static int print_of_resource(const struct line *line, bool is_revisions, struct sw_err *err)
{
    struct sw_connection conn = { 0 };
    struct sw_revisions all = { 0 };
    SW_AUTO_JSON *resource = NULL;
    int rc = open_connection(&conn, line, err);
    if (rc == 0)
        rc = sw_cluster_resource(&conn, line->operands[0], 0, &resource, err);
    if (rc == 0 && !is_revisions)
        print_names(sw_json_find(resource, "status", "states", NULL));
    else if (rc == 0)
        rc = sw_revisions_read(&conn, resource, &all, err);
    for (size_t i = 0; i < all.n; i++)
        (void)printf("%lld\n", (long long)all.items[i].number);
    sw_revisions_done(&all);
    sw_connection_done(&conn);
    return rc;
}

static int print_value(const struct line *line, struct sw_err *err)
{
    const struct sw_kubeconfig_opts opts = { .path = line->connect.kubeconfig };
    const char *name = line->value_of->name;
    if (sw_streq(name, "namespace"))
        return has_cluster(line->command) ? print_objects(line, "v1", "Namespace", err) : 0;
    SW_AUTO_CHARS *list = sw_printf("%ss", name);
    SW_AUTO_JSON *names = sw_kubeconfig_names(&opts, list);
    print_names(names);
    return 0;
}

static int print_operand(const struct line *line, struct sw_err *err)
{
    const bool is_explain = line->command == &sw_command_explain;
    if (line->n_operands == 0 && is_of_node(line->command))
        return print_objects(line, "v1", "Node", err);
    if (line->n_operands == 0) {
        for (const char *const *topic = explain_topics(); is_explain && *topic; topic++)
            (void)printf("%s\n", *topic);
        return print_objects(line, "sro.openshift.io/v1beta1", "SpecialResource", err);
    }
    if (line->n_operands > 1)
        return 0;
    if (is_explain && explain_is_topic(line->operands[0])) {
        SW_AUTO_CHARS *names = explain_topic_names(line->operands[0]);
        (void)fputs(names, stdout);
        return 0;
    }
    const bool is_revisions = strstr(line->command->args, "REVISION") != NULL;
    return is_revisions || strstr(line->command->args, "STATE")
               ? print_of_resource(line, is_revisions, err)
               : 0;
}

int complete_print(int argc, char **argv)
{
    struct line line = { .argc = argc - 1, .argv = argv + 1 };
    SW_ERR(ignored); /* a prompt is no place for messages */
    sw_log_set_level(SW_LOG_ERROR);
    line.command = argc > 1 ? sw_command_named(argv[0]) : NULL;
    if (!line.command)
        return SW_EXIT_OK;
    read_line(&line);
    int rc = 0;
    if (line.value_of && complete_asks(line.value_of))
        rc = print_value(&line, &ignored);
    else if (!line.value_of && complete_operands(line.command))
        rc = print_operand(&line, &ignored);
    if (rc < 0)
        sw_err_done(&ignored);
    return SW_EXIT_OK;
}
