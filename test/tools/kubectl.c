/* kubectl: `kubectl get` as tests ask for it, of an emulator, in a twentieth of the CPU and with
 * the same bytes (kubectl_tool_test.sh compares them). It sends requests that read, and no others;
 * every other command, and each answer that it does not know how to print, is left to the real one:
 * $SW_KUBECTL, or the next in PATH. hack/run-tests.sh puts it first into PATH. SW_KUBECTL_REAL=1:
 * the real one does all, for tests of how kubectl gets on with a server. */
#include "base/base.h"
#include "data/data.h"
#include "emulator/store/kinds.h"
#include "kube/config/kubeconfig.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/** Slipway's own resources; those of Kubernetes are in the emulator's table. */
static const struct sw_builtin own[] = {
    { "sro.openshift.io", "v1beta1", "SpecialResource", "specialresources", "sr", NULL, 0, NULL },
    { "sro.openshift.io", "v1beta1", "SpecialResourceModule", "specialresourcemodules", "srm", NULL,
      0, NULL },
};

/** What the command line says; borrowed from it. */
struct ask {
    const char *kubeconfig, *context, *ns, *labels, *fields, *output, *raw;
    bool all_ns, ignore_not_found;
    char *resource; /* owned */
    const char *name;
    const struct sw_builtin *kind;
    char version[16];
};

struct answer {
    char *text; /* owned */
    size_t len;
    long status;
    const char *body; /* in the text */
    size_t body_len;
};

static void done(struct ask *ask, struct answer *a)
{
    free(ask->resource);
    free(a->text);
}

/* ---- the real one ------------------------------------------------------------------------------
 */

/** The next kubectl in PATH that is not this program. @return heap, or NULL */
static char *next_in_path(void)
{
    SW_AUTO_CHARS *self = realpath("/proc/self/exe", NULL);
    SW_AUTO_CHARS *path = sw_strdup(getenv("PATH") ? getenv("PATH") : "");
    char *rest = NULL;
    for (char *dir = strtok_r(path, ":", &rest); dir; dir = strtok_r(NULL, ":", &rest)) {
        char *file = sw_printf("%s/kubectl", dir);
        SW_AUTO_CHARS *real = realpath(file, NULL);
        if (real && !sw_streq(real, self) && access(file, X_OK) == 0)
            return file;
        free(file);
    }
    return NULL;
}

static int run_real(char **argv)
{
    SW_AUTO_CHARS *found = getenv("SW_KUBECTL") ? sw_strdup(getenv("SW_KUBECTL")) : next_in_path();
    if (!found) {
        (void)fprintf(stderr, "kubectl: there is no other kubectl in PATH\n");
        return 127;
    }
    (void)execv(found, argv);
    (void)fprintf(stderr, "kubectl: %s: %s\n", found, strerror(errno));
    return 126;
}

/* ---- the command line --------------------------------------------------------------------------
 */

struct option {
    const char *word, *letter;
    size_t offset;
};
static const struct option options[] = {
    { "--kubeconfig", NULL, offsetof(struct ask, kubeconfig) },
    { "--context", NULL, offsetof(struct ask, context) },
    { "--namespace", "-n", offsetof(struct ask, ns) },
    { "--selector", "-l", offsetof(struct ask, labels) },
    { "--field-selector", NULL, offsetof(struct ask, fields) },
    { "--output", "-o", offsetof(struct ask, output) },
    { "--raw", NULL, offsetof(struct ask, raw) },
};

/** Take the option @argv[*i], and its value. @return whether it is known */
static bool take_option(struct ask *ask, char **argv, int *i)
{
    const char *word = argv[*i];
    if (sw_streq(word, "-A") || sw_streq(word, "--all-namespaces"))
        return ask->all_ns = true;
    if (sw_streq(word, "--ignore-not-found"))
        return ask->ignore_not_found = true;
    for (size_t k = 0; k < SW_COUNT(options); k++) {
        const struct option *o = &options[k];
        const char **value = (const char **)((char *)ask + o->offset);
        size_t len = strlen(o->word);
        if (*value)
            continue;
        if (sw_streq(word, o->word) || (o->letter && sw_streq(word, o->letter)))
            return (*value = argv[++*i]) != NULL;
        if (strncmp(word, o->word, len) == 0 && word[len] == '=')
            return *(*value = word + len + 1) != 0;
        if (o->letter && strncmp(word, o->letter, 2) == 0)
            return *(*value = word + 2 + (word[2] == '=')) != 0;
    }
    return false;
}

/** get KIND [NAME], get KIND/NAME, get --raw PATH. @return whether it is one of these */
static bool read_line(struct ask *ask, char **argv)
{
    bool is_get = false;
    for (int i = 1; argv[i]; i++) {
        if (argv[i][0] == '-') {
            if (!take_option(ask, argv, &i))
                return false;
        } else if (!is_get) {
            if (!sw_streq(argv[i], "get"))
                return false;
            is_get = true;
        } else if (!ask->resource) {
            ask->resource = sw_strdup(argv[i]);
            char *slash = strchr(ask->resource, '/');
            if (slash) {
                *slash = 0;
                ask->name = slash + 1;
            }
        } else if (!ask->name) {
            ask->name = argv[i];
        } else {
            return false;
        }
    }
    if (ask->name && ask->all_ns)
        return false;
    if (ask->name && (!ask->name[0] || strpbrk(ask->name, "/%?#,") || ask->labels || ask->fields))
        return false;
    return is_get && (ask->raw ? !ask->resource : ask->resource != NULL);
}

/** Is @word the plural, the singular, or a short name of @kind, with its group or without? */
static bool is_called(const struct sw_builtin *kind, const char *word)
{
    size_t len = strcspn(word, ".");
    if (word[len] && !sw_streq(word + len + 1, kind->group))
        return false;
    if (strlen(kind->plural) == len && strncasecmp(word, kind->plural, len) == 0)
        return true;
    if (strlen(kind->kind) == len && strncasecmp(word, kind->kind, len) == 0)
        return true;
    for (const char *s = kind->short_names; s && *s; s += strcspn(s, ","), s += *s == ',')
        if (strcspn(s, ",") == len && strncmp(s, word, len) == 0)
            return true;
    return false;
}

static const struct sw_builtin *find_kind(const char *word)
{
    for (size_t i = 0; i < sw_n_builtins; i++)
        if (!(sw_builtins[i].flags & SW_K_VIRTUAL) && is_called(&sw_builtins[i], word))
            return &sw_builtins[i];
    for (size_t i = 0; i < SW_COUNT(own); i++)
        if (is_called(&own[i], word))
            return &own[i];
    return NULL;
}

/* ---- the server --------------------------------------------------------------------------------
 */

/** Whether @config is that of an emulator: plain HTTP on loopback, and at most a token. @port: its
 * port, borrowed. */
static bool is_emulator(const struct sw_kube_config *c, const char **port)
{
    static const char loopback[] = "http://127.0.0.1:";
    if (!sw_starts_with(c->server, loopback) || c->exec || c->as_user || c->as_groups ||
        c->proxy_url || c->token_file || c->username)
        return false;
    *port = c->server + strlen(loopback);
    return (*port)[0] && strspn(*port, "0123456789") == strlen(*port);
}

static int connect_to(const char *port)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)atol(port)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&at, sizeof at) < 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

/** Read until the server ends the connection. */
static bool read_all(int fd, struct answer *a)
{
    for (ssize_t n = 1; n != 0;) {
        a->text = sw_realloc(a->text, a->len + (64 << 10) + 1, 1);
        n = read(fd, a->text + a->len, 64 << 10);
        if (n < 0)
            return false;
        a->len += (size_t)n;
        a->text[a->len] = 0;
    }
    return true;
}

/** Find status and body in what was read. @return whether it is all there, and brought no warning
 */
static bool split(struct answer *a)
{
    char *end = strstr(a->text, "\r\n\r\n");
    if (!end || sscanf(a->text, "HTTP/1.%*d %ld", &a->status) != 1)
        return false;
    *end = 0;
    const char *length = strcasestr(a->text, "\r\nContent-Length:");
    a->body = end + 4;
    a->body_len = a->len - (size_t)(a->body - a->text);
    return !strcasestr(a->text, "\r\nWarning:") && !strcasestr(a->text, "\r\nTransfer-Encoding:") &&
           length && strtoul(length + strlen("\r\nContent-Length:"), NULL, 10) == a->body_len;
}

static bool get(const struct sw_kube_config *config, const char *path, struct answer *a)
{
    const char *port = NULL;
    int fd = is_emulator(config, &port) ? connect_to(port) : -1;
    if (fd < 0)
        return false;
    SW_AUTO_CHARS *request = sw_printf("GET %s HTTP/1.0\r\nHost: 127.0.0.1:%s\r\n"
                                       "User-Agent: kubectl\r\nAccept: application/json\r\n%s%s%s"
                                       "Connection: close\r\n\r\n",
                                       path, port, config->token ? "Authorization: Bearer " : "",
                                       config->token ? config->token : "",
                                       config->token ? "\r\n" : "");
    size_t len = strlen(request);
    bool ok = write(fd, request, len) == (ssize_t)len && read_all(fd, a) && split(a);
    (void)close(fd);
    return ok;
}

static void put_query(char **path, const char *key, const char *value)
{
    if (!value)
        return;
    sw_append(path, "%c%s=", strchr(*path, '?') ? '&' : '?', key);
    for (; *value; value++)
        sw_append(path, isalnum((unsigned char)*value) ? "%c" : "%%%02X", (unsigned char)*value);
}

/** The path of what is asked for; heap. */
static char *path_of(const struct ask *ask, const char *default_ns)
{
    const struct sw_builtin *kind = ask->kind;
    char *path = sw_printf("%s%s/%s", kind->group[0] ? "/apis/" : "/api", kind->group,
                           ask->version);
    if ((kind->flags & SW_K_NAMESPACED) && !ask->all_ns)
        sw_append(&path, "/namespaces/%s", ask->ns ? ask->ns : default_ns ? default_ns : "default");
    sw_append(&path, "/%s", kind->plural);
    if (ask->name) {
        sw_append(&path, "/%s", ask->name);
        return path;
    }
    put_query(&path, "labelSelector", ask->labels);
    put_query(&path, "fieldSelector", ask->fields);
    put_query(&path, "limit", "500");
    return path;
}

/* ---- what is printed ---------------------------------------------------------------------------
 */

static void drop_managers(struct json_object *doc)
{
    (void)sw_json_del(doc, "metadata", "managedFields", NULL);
    struct json_object *items = sw_json_get(doc, "items");
    for (size_t i = 0; i < sw_json_len(items); i++)
        (void)sw_json_del(sw_json_at(items, i), "metadata", "managedFields", NULL);
}

/** As kubectl does, four blanks a level. */
static int print_json(struct json_object *doc)
{
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_SORTED | SW_JSON_PRETTY | SW_JSON_HTML, NULL);
    for (const char *line = text; *line;) {
        size_t blanks = strspn(line, " "), len = strcspn(line, "\n");
        (void)printf("%*s%.*s\n", (int)blanks, "", (int)len, line);
        line += len + (line[len] == '\n');
    }
    return 0;
}

static int print_yaml(struct json_object *doc)
{
    SW_AUTO_CHARS *text = NULL;
    if (sw_yaml_marshal(doc, &text, NULL, NULL) < 0)
        return -1;
    (void)fputs(text, stdout);
    return 0;
}

static int print_path(struct json_object *doc, const char *expression)
{
    SW_AUTO(sw_jsonpath) *path = NULL;
    SW_AUTO_CHARS *text = NULL;
    if (!strchr(expression, '{') || sw_jsonpath_compile(expression, &path, NULL) < 0 ||
        sw_jsonpath_print(path, doc, true, &text, NULL) < 0)
        return -1;
    (void)fputs(text, stdout);
    return 0;
}

static void print_name(const struct sw_builtin *kind, struct json_object *object)
{
    for (const char *c = kind->kind; *c; c++)
        (void)putchar(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
    (void)printf("%s%s/%s\n", kind->group[0] ? "." : "", kind->group, sw_obj_name(object));
}

/** A list as kubectl makes it of what the server gave, whose items do not say their kind. */
static struct json_object *as_list(const struct sw_builtin *kind, struct json_object *doc)
{
    struct json_object *list = json_object_new_object(), *items = sw_json_get(doc, "items");
    for (size_t i = 0; i < sw_json_len(items); i++) {
        sw_json_set_str(sw_json_at(items, i), kind->kind, "kind", NULL);
        sw_json_set_str(sw_json_at(items, i), sw_json_str(doc, "", "apiVersion", NULL),
                        "apiVersion", NULL);
    }
    sw_json_set_str(list, "v1", "apiVersion", NULL);
    sw_json_set(list, items ? json_object_get(items) : json_object_new_array(), "items", NULL);
    sw_json_set_str(list, "List", "kind", NULL);
    sw_json_set_str(list, "", "metadata", "resourceVersion", NULL);
    return list;
}

static bool is_unread(void)
{
    struct stat out, null;
    return fstat(STDOUT_FILENO, &out) == 0 && stat("/dev/null", &null) == 0 &&
           S_ISCHR(out.st_mode) && out.st_rdev == null.st_rdev;
}

/** @return 0, or -1: the real one is to do it, and nothing is printed yet */
static int print_doc(const struct ask *ask, struct json_object *doc)
{
    SW_AUTO_JSON *list = ask->name ? NULL : as_list(ask->kind, doc);
    struct json_object *items = sw_json_get(list, "items"), *what = list ? list : doc;
    if (list && ask->ignore_not_found && sw_json_len(items) == 0)
        return 0;
    if (sw_streq(ask->output, "name")) {
        if (doc && !list)
            print_name(ask->kind, doc);
        for (size_t i = 0; i < sw_json_len(items); i++)
            print_name(ask->kind, sw_json_at(items, i));
        return 0;
    }
    if (!ask->output)
        return is_unread() && (!list || sw_json_len(items) > 0) ? 0 : -1;
    if (sw_starts_with(ask->output, "jsonpath="))
        return print_path(what, ask->output + strlen("jsonpath="));
    drop_managers(what);
    return sw_streq(ask->output, "json") ? print_json(what) : print_yaml(what);
}

/** Of the failures only what is not there, of which kubectl says the server's words. @return as
 * main, or -1 */
static int say_failure(const struct ask *ask, struct json_object *doc)
{
    if (!ask->name || !sw_streq(sw_json_str(doc, "", "reason", NULL), "NotFound") ||
        !sw_streq(sw_json_str(doc, "", "details", "name", NULL), ask->name))
        return -1;
    if (ask->ignore_not_found)
        return 0;
    (void)fprintf(stderr, "Error from server (NotFound): %s\n",
                  sw_json_str(doc, "", "message", NULL));
    return 1;
}

/** Without -o it prints a table, which is left to the real one: here is said what is not there, and
 * nothing where nobody reads it. */
static bool can_print(const struct ask *ask)
{
    const char *o = ask->output;
    if (!o)
        return ask->name || is_unread();
    return sw_streq(o, "json") || sw_streq(o, "yaml") || sw_streq(o, "name") ||
           sw_starts_with(o, "jsonpath=");
}

/** @return the exit status, or -1: the real one is to do it */
static int answer_to(struct ask *ask, struct answer *a)
{
    SW_AUTO_JSON *doc = NULL;
    struct sw_kube_config *config = NULL;
    SW_AUTO_CHARS *path = NULL;
    if (!ask->raw && (!can_print(ask) || !(ask->kind = find_kind(ask->resource))))
        return -1;
    if (ask->kind)
        (void)snprintf(ask->version, sizeof ask->version, "%.*s",
                       (int)strcspn(ask->kind->versions, " :"), ask->kind->versions);
    if (sw_kubeconfig_load(
            &(struct sw_kubeconfig_opts){ .path = ask->kubeconfig, .context = ask->context },
            &config, NULL) < 0)
        return -1;
    path = ask->raw ? sw_strdup(ask->raw) : path_of(ask, config->ns);
    int rc = get(config, path, a) ? 0 : -1;
    if (rc == 0 && ask->raw) {
        rc = a->status == 200 ? 0 : -1;
        if (rc == 0)
            (void)fwrite(a->body, 1, a->body_len, stdout);
    } else if (rc == 0) {
        if (sw_json_parse(a->body, a->body_len, NULL, &doc, NULL) < 0 ||
            sw_json_str(doc, "", "metadata", "continue", NULL)[0])
            rc = -1;
        else
            rc = a->status == 200 ? print_doc(ask, doc) : say_failure(ask, doc);
    }
    sw_kube_config_free(config);
    return rc;
}

int main(int argc SW_UNUSED, char **argv)
{
    struct ask ask = { 0 };
    struct answer a = { 0 };
    int rc = -1;
    if (!getenv("SW_KUBECTL_REAL") && read_line(&ask, argv))
        rc = answer_to(&ask, &a);
    done(&ask, &a);
    return rc < 0 ? run_real(argv) : rc;
}
