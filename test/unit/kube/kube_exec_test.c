/* Credentials by a program that the kubeconfig names: what it is told, and what is taken of its
 * answer. */
#include "kube/config/exec.h"

#include "base/base.h"
#include "data/data.h"
#include "data/text/base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <json-c/json.h>

#define V1 "client.authentication.k8s.io/v1"
#define ANSWER(status)                                                                             \
    "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":{" status "}}"

struct fixture {
    char dir[32];
    struct sw_kube_config *config;
    struct sw_exec_answer answer;
    struct sw_err err;
};

static int setup(void **state)
{
    static struct fixture f;
    f = (struct fixture){ .dir = "/tmp/kube_exec_XXXXXX" };
    *state = &f;
    return mkdtemp(f.dir) ? 0 : -1;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    SW_AUTO_CHARS *command = sw_printf("rm -rf %s", f->dir);
    sw_kube_config_free(f->config);
    sw_exec_answer_done(&f->answer);
    sw_err_done(&f->err);
    return system(command);
}

/* A program with @script, as the user's exec of a kubeconfig beside it, with @more of its fields.
 */
static int load(struct fixture *f, const char *script, const char *more)
{
    SW_AUTO_CHARS *program = sw_printf("%s/login", f->dir), *path = sw_printf("%s/config", f->dir);
    SW_AUTO_CHARS *text = sw_printf("#!/bin/sh\n%s\n", script);
    SW_AUTO_CHARS *kubeconfig = sw_printf(
        "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
        "clusters: [{name: k, cluster: {server: 'https://k:6443', certificate-authority-data: Q0EK,"
        " tls-server-name: kube, extensions: [{name: client.authentication.k8s.io/exec,"
        " extension: {audience: a}}]}}]\n"
        "users: [{name: u, user: {exec: {command: ./login, apiVersion: " V1
        ", interactiveMode: Never%s}}}]\n",
        more);
    assert_int_equal(sw_file_write(program, text, strlen(text), NULL), 0);
    assert_int_equal(chmod(program, 0700), 0);
    assert_int_equal(sw_file_write(path, kubeconfig, strlen(kubeconfig), NULL), 0);
    sw_kube_config_free(SW_TAKE(f->config));
    sw_err_done(&f->err);
    return sw_kubeconfig_load(&(struct sw_kubeconfig_opts){ .path = path }, &f->config, &f->err);
}

static int ask(struct fixture *f, const char *script, const char *more)
{
    if (load(f, script, more) < 0)
        fail_msg("%s", sw_err_text(&f->err));
    sw_exec_answer_done(&f->answer);
    return sw_exec_ask(f->config, &f->answer, &f->err);
}

static void fails(struct fixture *f, const char *script, int code, const char *words)
{
    assert_int_equal(ask(f, script, ""), code);
    if (!strstr(sw_err_text(&f->err), words))
        fail_msg("'%s' does not contain '%s'", sw_err_text(&f->err), words);
}

static void a_token_and_how_long_it_is_good(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(ask(f, "echo '" ANSWER("\"token\":\"t\"") "'", ""), 0);
    assert_string_equal(f->answer.token, "t");
    assert_int_equal(f->answer.until_ms, INT64_MAX);
    assert_null(f->answer.cert);
    assert_int_equal(ask(f,
                         "echo '" ANSWER("\"token\":\"t\",\"expirationTimestamp\":"
                                         "\"2030-01-02T03:04:05Z\"") "'",
                         ""),
                     0);
    assert_int_equal(f->answer.until_ms, INT64_C(1893553445000));
}

static void a_certificate_with_its_key(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(
        ask(f, "echo '" ANSWER("\"clientCertificateData\":\"C\",\"clientKeyData\":\"K\"") "'", ""),
        0);
    assert_string_equal(f->answer.cert, "C");
    assert_string_equal(f->answer.key, "K");
    assert_null(f->answer.token);
    fails(f, "echo '" ANSWER("\"clientCertificateData\":\"C\"") "'", SW_INVALID, "come together");
}

#define TELL                                                                                       \
    "printf '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1                                    \
    "\",\"status\":{\"token\":\"%s\"}}' \"$(printf %s \"$*/$A/$KUBERNETES_EXEC_INFO\" | base64 "   \
    "-w0)\""

static void it_gets_arguments_variables_and_what_is_wanted(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(ask(f, TELL, ", args: [x, y z], env: [{name: A, value: b}]"), 0);
    size_t len;
    SW_AUTO_CHARS *told = sw_base64_decode(f->answer.token, strlen(f->answer.token), &len);
    assert_string_equal(told, "x y z/b/{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
                              "\",\"spec\":{\"interactive\":false}}");
}

static void it_gets_the_cluster_where_it_asks_for_it(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(ask(f, TELL, ", provideClusterInfo: true"), 0);
    size_t len;
    SW_AUTO_CHARS *told = sw_base64_decode(f->answer.token, strlen(f->answer.token), &len);
    assert_non_null(strstr(told, "\"cluster\":{\"server\":\"https://k:6443\",\"tls-server-name\":"
                                 "\"kube\",\"certificate-authority-data\":\"Q0EK\","
                                 "\"config\":{\"audience\":\"a\"}}"));
}

static void what_is_wrong_is_told_with_its_name(void **state)
{
    struct fixture *f = *state;
    fails(f, "echo hello", SW_INVALID, "login: what it prints is no JSON");
    fails(f, "echo '{}'", SW_INVALID, "no ExecCredential");
    fails(f, "echo '" ANSWER("") "'", SW_INVALID, "neither token nor certificate");
    fails(f, "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"x\"}'", SW_INVALID,
          "of apiVersion 'x', not '" V1 "'");
    fails(f, "echo '" ANSWER("\"token\":\"t\",\"expirationTimestamp\":\"soon\"") "'", SW_INVALID,
          "'soon' is no time");
    fails(f, "exit 7", SW_UNAVAILABLE, "exit status 7");
    fails(f, "kill -9 $$", SW_UNAVAILABLE, "ended by signal 9");
    fails(f, "head -c 2000000 /dev/zero", SW_INVALID, "more than 1048576 bytes");
}

static void a_program_that_is_missing_is_told_with_the_hint(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(load(f, "", ", installHint: see example.test"), 0);
    sw_json_set_str(f->config->exec, "no-such-login", "command", NULL);
    assert_int_equal(sw_exec_ask(f->config, &f->answer, &f->err), SW_NOTFOUND);
    assert_non_null(strstr(sw_err_text(&f->err), "credentials by no-such-login: there is no such "
                                                 "program\nsee example.test"));
}

static void one_that_must_ask_wants_a_terminal(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(load(f, "", ""), 0);
    sw_json_set_str(f->config->exec, "Always", "interactiveMode", NULL);
    if (isatty(STDIN_FILENO))
        skip();
    assert_int_equal(sw_exec_ask(f->config, &f->answer, &f->err), SW_UNAVAILABLE);
    assert_non_null(strstr(sw_err_text(&f->err), "wants a terminal"));
}

static void fields_are_checked_when_the_file_is_read(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *more, *words;
    } rows[] = {
        { ", args: x", "users 'u': exec: args: not a list of texts" },
        { ", env: [{value: b}]", "exec: env[0].name: missing" },
        { ", env: x", "exec: env: not a list" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        assert_int_equal(load(f, "", rows[i].more), SW_INVALID);
        assert_non_null(strstr(sw_err_text(&f->err), rows[i].words));
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_token_and_how_long_it_is_good),
        TEST(a_certificate_with_its_key),
        TEST(it_gets_arguments_variables_and_what_is_wanted),
        TEST(it_gets_the_cluster_where_it_asks_for_it),
        TEST(what_is_wrong_is_told_with_its_name),
        TEST(a_program_that_is_missing_is_told_with_the_hint),
        TEST(one_that_must_ask_wants_a_terminal),
        TEST(fields_are_checked_when_the_file_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
