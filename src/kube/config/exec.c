#include "kube/config/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/spawn.h"
#include "data/data.h"
#include "data/text/base64.h"

enum { MAX_ANSWER_BYTES = 1 << 20, ASK_MS = 60000, MAX_CA_BYTES = 1 << 20, POLL_MS = 50 };

#define API_GROUP "client.authentication.k8s.io/"
#define INFO "KUBERNETES_EXEC_INFO"

/* ---- what the kubeconfig says ------------------------------------------------------------------
 */

static const char *text_of(struct json_object *exec, const char *field)
{
    return sw_json_str(exec, "", field, NULL);
}

static bool are_texts(struct json_object *list)
{
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (!json_object_is_type(sw_json_at(list, i), json_type_string))
            return false;
    return !list || json_object_is_type(list, json_type_array);
}

static char *env_fault(struct json_object *env)
{
    if (env && !json_object_is_type(env, json_type_array))
        return sw_strdup("env: not a list");
    for (size_t i = 0; i < sw_json_len(env); i++)
        if (!*sw_json_str(sw_json_at(env, i), "", "name", NULL))
            return sw_printf("env[%zu].name: missing", i);
    return NULL;
}

char *sw_exec_check(struct json_object *exec, const char *dir, struct json_object *extension,
                    struct sw_kube_config *config)
{
    const char *version = text_of(exec, "apiVersion"), *mode = text_of(exec, "interactiveMode");
    const char *command = text_of(exec, "command");
    bool v1 = sw_streq(version, API_GROUP "v1");
    if (!json_object_is_type(exec, json_type_object))
        return sw_strdup("not a map");
    if (!*command)
        return sw_strdup("command: missing");
    if (!v1 && !sw_streq(version, API_GROUP "v1beta1"))
        return sw_printf("apiVersion: '%s' is neither %sv1 nor %sv1beta1", version, API_GROUP,
                         API_GROUP);
    if (!are_texts(sw_json_get(exec, "args")))
        return sw_strdup("args: not a list of texts");
    if (!*mode && v1)
        return sw_strdup("interactiveMode: missing (Never, IfAvailable or Always)");
    if (*mode && !sw_streq(mode, "Never") && !sw_streq(mode, "IfAvailable") &&
        !sw_streq(mode, "Always"))
        return sw_printf("interactiveMode: '%s' is none of Never, IfAvailable, Always", mode);
    char *fault = env_fault(sw_json_get(exec, "env"));
    if (fault)
        return fault;
    config->exec = sw_json_copy(exec);
    if (dir && *command != '/' && strchr(command, '/')) {
        SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, command);
        sw_json_set_str(config->exec, path, "command", NULL);
    }
    if (extension)
        sw_json_set(config->exec, sw_json_copy(extension), "clusterConfig", NULL);
    return NULL;
}

/* ---- the call ----------------------------------------------------------------------------------
 */

static void put_base64(struct json_object *map, const char *field, const char *text, size_t len)
{
    size_t n;
    SW_AUTO_CHARS *packed = sw_base64_encode(text, len, &n);
    sw_json_set_str(map, packed, field, NULL);
}

/* The cluster, as the program may want to know it. */
static struct json_object *cluster_of(const struct sw_kube_config *c)
{
    struct json_object *map = json_object_new_object(),
                       *own = sw_json_get(c->exec, "clusterConfig");
    SW_AUTO_CHARS *ca = NULL;
    size_t len = 0;
    sw_json_set_str(map, c->server ? c->server : "", "server", NULL);
    if (c->tls_server_name)
        sw_json_set_str(map, c->tls_server_name, "tls-server-name", NULL);
    if (c->insecure)
        sw_json_set(map, json_object_new_boolean(true), "insecure-skip-tls-verify", NULL);
    if (c->ca_data)
        put_base64(map, "certificate-authority-data", c->ca_data, strlen(c->ca_data));
    else if (c->ca_file && sw_file_read(c->ca_file, MAX_CA_BYTES, &ca, &len, NULL) == 0)
        put_base64(map, "certificate-authority-data", ca, len);
    if (c->proxy_url)
        sw_json_set_str(map, c->proxy_url, "proxy-url", NULL);
    if (own)
        sw_json_set(map, json_object_get(own), "config", NULL);
    return map;
}

/* The variable that says what is wanted; heap. */
static char *info_of(const struct sw_kube_config *c, bool interactive)
{
    SW_AUTO_JSON *doc = json_object_new_object();
    sw_json_set_str(doc, "ExecCredential", "kind", NULL);
    sw_json_set_str(doc, text_of(c->exec, "apiVersion"), "apiVersion", NULL);
    sw_json_set(doc, json_object_new_boolean(interactive), "spec", "interactive", NULL);
    if (sw_json_bool(c->exec, false, "provideClusterInfo", NULL))
        sw_json_set(doc, cluster_of(c), "spec", "cluster", NULL);
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, NULL);
    return sw_printf(INFO "=%s", text);
}

/* This process's environment, with what is set for the program; in @arena. */
static char **environment(const struct sw_kube_config *c, const char *info, struct sw_arena *arena)
{
    struct json_object *env = sw_json_get(c->exec, "env");
    size_t n = 0, n_own = sw_json_len(env);
    while (environ[n])
        n++;
    char **all = sw_arena_alloc(arena, (n + n_own + 2) * sizeof *all);
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_set = sw_starts_with(environ[i], INFO "=");
        for (size_t j = 0; j < n_own && !is_set; j++) {
            const char *name = sw_json_str(sw_json_at(env, j), "", "name", NULL);
            is_set = sw_starts_with(environ[i], name) && environ[i][strlen(name)] == '=';
        }
        if (!is_set)
            all[k++] = environ[i];
    }
    for (size_t j = 0; j < n_own; j++)
        all[k++] = sw_arena_printf(arena, "%s=%s",
                                   sw_json_str(sw_json_at(env, j), "", "name", NULL),
                                   sw_json_str(sw_json_at(env, j), "", "value", NULL));
    all[k++] = sw_arena_printf(arena, "%s", info);
    all[k] = NULL;
    return all;
}

static char **arguments(const struct sw_kube_config *c, struct sw_arena *arena)
{
    struct json_object *args = sw_json_get(c->exec, "args");
    const size_t n = sw_json_len(args);
    char **all = sw_arena_alloc(arena, (n + 2) * sizeof *all);
    all[0] = sw_arena_printf(arena, "%s", text_of(c->exec, "command"));
    for (size_t i = 0; i < n; i++)
        all[i + 1] = sw_arena_printf(arena, "%s", json_object_get_string(sw_json_at(args, i)));
    all[n + 1] = NULL;
    return all;
}

static int64_t monotonic_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Read all that it prints. @until_ms: INT64_MAX for ever.
 * @return 0 | SW_UNAVAILABLE: too late | SW_INVALID: too much */
static int read_all(int fd, int64_t until_ms, char **text, size_t *len, struct sw_err *err)
{
    SW_AUTO_CHARS *bytes = sw_strdup("");
    size_t n = 0;
    for (;;) {
        struct pollfd wait = { .fd = fd, .events = POLLIN };
        const int64_t left_ms = until_ms == INT64_MAX ? -1 : until_ms - monotonic_ms();
        if (until_ms != INT64_MAX && left_ms <= 0)
            return sw_err_set(err, SW_UNAVAILABLE, "no answer within %d s", ASK_MS / 1000);
        if (poll(&wait, 1, (int)left_ms) <= 0)
            continue;
        bytes = sw_realloc(bytes, n + 4096 + 1, 1);
        const ssize_t got = read(fd, bytes + n, 4096);
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            return sw_err_set(err, SW_UNAVAILABLE, "%s", strerror(errno));
        n += got > 0 ? (size_t)got : 0;
        if (n > MAX_ANSWER_BYTES)
            return sw_err_set(err, SW_INVALID, "an answer of more than %d bytes", MAX_ANSWER_BYTES);
        if (got == 0)
            break;
    }
    bytes[n] = '\0';
    *text = SW_TAKE(bytes);
    *len = n;
    return 0;
}

/* Wait for its end. @return 0 | SW_UNAVAILABLE with what it ended with */
static int end_of(pid_t pid, int64_t until_ms, bool *is_over, struct sw_err *err)
{
    int status = 0;
    pid_t got;
    *is_over = false;
    while ((got = waitpid(pid, &status, until_ms == INT64_MAX ? 0 : WNOHANG)) <= 0) {
        if (got < 0 && errno == ECHILD) {
            *is_over = true; /* somebody else waited for it */
            return 0;
        }
        if (got == 0 && monotonic_ms() >= until_ms)
            return sw_err_set(err, SW_UNAVAILABLE, "it does not end");
        (void)poll(NULL, 0, got == 0 ? POLL_MS : 0);
    }
    *is_over = true;
    if (WIFSIGNALED(status))
        return sw_err_set(err, SW_UNAVAILABLE, "ended by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status) == 0
               ? 0
               : sw_err_set(err, SW_UNAVAILABLE, "exit status %d", WEXITSTATUS(status));
}

static int run(char **argv, char **env, bool interactive, char **text, size_t *len,
               struct sw_err *err)
{
    int ends[2];
    pid_t pid = 0;
    bool is_over = false;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return sw_err_set(err, SW_UNAVAILABLE, "%s", strerror(errno));
    const int64_t until_ms = interactive ? INT64_MAX : monotonic_ms() + ASK_MS;
    const int none = interactive ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int fds[] = { none, ends[1], -1 };
    const struct sw_spawn spawn = { .argv = (const char *const *)argv, .env = env, .fds = fds };
    const int fault = !interactive && none < 0 ? errno : sw_spawn(&spawn, &pid);
    (void)close(ends[1]);
    if (none >= 0)
        (void)close(none);
    if (fault) {
        (void)close(ends[0]);
        return sw_err_set(err, fault == ENOENT ? SW_NOTFOUND : SW_UNAVAILABLE, "%s",
                          fault == ENOENT ? "there is no such program" : strerror(fault));
    }
    int rc = read_all(ends[0], until_ms, text, len, err);
    (void)close(ends[0]);
    if (rc == 0)
        rc = end_of(pid, until_ms, &is_over, err);
    if (!is_over) {
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
    }
    return rc;
}

/* ---- the answer --------------------------------------------------------------------------------
 */

static char *kept(struct json_object *status, const char *field)
{
    const char *text = sw_json_str(status, "", field, NULL);
    return *text ? sw_strdup(text) : NULL;
}

static int read_answer(const struct sw_kube_config *c, const char *text, size_t len,
                       struct sw_exec_answer *out, struct sw_err *err)
{
    SW_AUTO_JSON *doc = NULL;
    SW_ERR(why);
    if (sw_json_parse(text, len, NULL, &doc, &why) < 0)
        return sw_err_set(err, SW_INVALID, "what it prints is no JSON");
    if (!sw_streq(sw_json_str(doc, "", "kind", NULL), "ExecCredential"))
        return sw_err_set(err, SW_INVALID, "what it prints is no ExecCredential");
    if (!sw_streq(sw_json_str(doc, "", "apiVersion", NULL), text_of(c->exec, "apiVersion")))
        return sw_err_set(err, SW_INVALID, "its answer is of apiVersion '%s', not '%s'",
                          sw_json_str(doc, "", "apiVersion", NULL), text_of(c->exec, "apiVersion"));
    struct json_object *status = sw_json_get(doc, "status");
    const char *until = sw_json_str(status, "", "expirationTimestamp", NULL);
    out->token = kept(status, "token");
    out->cert = kept(status, "clientCertificateData");
    out->key = kept(status, "clientKeyData");
    out->until_ms = INT64_MAX;
    if (*until && sw_time_parse(until, &out->until_ms, &why) < 0)
        return sw_err_set(err, SW_INVALID, "expirationTimestamp '%s' is no time", until);
    if (!out->cert != !out->key)
        return sw_err_set(err, SW_INVALID, "a certificate and its key come together");
    return out->token || out->cert
               ? 0
               : sw_err_set(err, SW_INVALID, "its answer has neither token nor certificate");
}

/* The last answer, and what the program was asked with: a process that opens the same cluster twice
 * asks once, as kubectl does. */
static struct {
    char *question;
    struct sw_exec_answer answer;
} last;

static char *question_of(const struct sw_kube_config *c)
{
    SW_AUTO_CHARS *info = info_of(c, false), *exec = sw_json_text(c->exec, SW_JSON_PLAIN, NULL);
    return sw_printf("%s\n%s\n%s\n%s", sw_text_or(c->source, ""), sw_text_or(c->server, ""), exec,
                     info);
}

static struct sw_exec_answer copy_of(const struct sw_exec_answer *a)
{
    return (struct sw_exec_answer){ .token = a->token ? sw_strdup(a->token) : NULL,
                                    .cert = a->cert ? sw_strdup(a->cert) : NULL,
                                    .key = a->key ? sw_strdup(a->key) : NULL,
                                    .until_ms = a->until_ms };
}

static void remember(const struct sw_kube_config *config, const struct sw_exec_answer *answer)
{
    free(last.question);
    sw_exec_answer_done(&last.answer);
    last.question = question_of(config);
    last.answer = copy_of(answer);
}

int sw_exec_get(const struct sw_kube_config *config, struct sw_exec_answer *out, struct sw_err *err)
{
    SW_AUTO_CHARS *question = last.question ? question_of(config) : NULL;
    if (!sw_streq(question, last.question) || !question || sw_now_ms() >= last.answer.until_ms)
        return sw_exec_ask(config, out, err);
    *out = copy_of(&last.answer);
    return 0;
}

int sw_exec_ask(const struct sw_kube_config *config, struct sw_exec_answer *out, struct sw_err *err)
{
    const char *mode = text_of(config->exec, "interactiveMode");
    const char *command = text_of(config->exec, "command");
    const char *hint = text_of(config->exec, "installHint");
    const bool terminal = isatty(STDIN_FILENO);
    const bool interactive = terminal && !sw_streq(mode, "Never");
    SW_AUTO_CHARS *text = NULL;
    size_t len = 0;
    if (sw_streq(mode, "Always") && !terminal)
        return sw_err_set(err, SW_UNAVAILABLE,
                          "%s: credentials by %s: it wants a terminal to ask at, and there is none",
                          config->source, command);
    struct sw_arena *arena = sw_arena_new();
    SW_AUTO_CHARS *info = info_of(config, interactive);
    int rc = run(arguments(config, arena), environment(config, info, arena), interactive, &text,
                 &len, err);
    sw_arena_free(arena);
    if (rc == 0)
        rc = read_answer(config, text, len, out, err);
    if (text)
        explicit_bzero(text, len);
    if (rc == 0) {
        remember(config, out);
        return 0;
    }
    sw_exec_answer_done(out);
    SW_AUTO_CHARS *why = sw_strdup(sw_err_text(err));
    const bool hinted = rc == SW_NOTFOUND && *hint;
    return sw_err_set(err, rc, "%s: credentials by %s: %s%s%s", config->source, command, why,
                      hinted ? "\n" : "", hinted ? hint : "");
}

void sw_exec_answer_done(struct sw_exec_answer *answer)
{
    char *const secrets[] = { answer->token, answer->cert, answer->key };
    for (size_t i = 0; i < SW_COUNT(secrets); i++) {
        if (secrets[i])
            explicit_bzero(secrets[i], strlen(secrets[i]));
        free(secrets[i]);
    }
    *answer = (struct sw_exec_answer){ 0 };
}
