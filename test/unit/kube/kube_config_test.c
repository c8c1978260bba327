/* Kubeconfigs: kubectl's rules, and errors that name file, entry and field. */
#include "kube/config/kubeconfig.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/** A folder of its own, an environment without a cluster. */
struct fixture {
    char dir[32];
    struct sw_kube_config *c;
    struct sw_err err;
};

static int setup(void **state)
{
    static struct fixture f;
    f = (struct fixture){ .dir = "/tmp/kube_config_XXXXXX" };
    unsetenv("KUBECONFIG");
    unsetenv("KUBERNETES_SERVICE_HOST");
    unsetenv("KUBERNETES_SERVICE_PORT");
    *state = &f;
    return mkdtemp(f.dir) && setenv("HOME", f.dir, 1) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    SW_AUTO_CHARS *command = sw_printf("rm -rf %s", f->dir);
    sw_kube_config_free(f->c);
    sw_err_done(&f->err);
    return system(command);
}

static char *put(struct fixture *f, const char *name, const char *text)
{
    char *path = sw_printf("%s/%s", f->dir, name);
    assert_int_equal(sw_file_write(path, text, strlen(text), NULL), 0);
    return path;
}

static int load(struct fixture *f, const struct sw_kubeconfig_opts *opts)
{
    sw_kube_config_free(SW_TAKE(f->c));
    sw_err_done(&f->err);
    return sw_kubeconfig_load(opts, &f->c, &f->err);
}

static int parse(struct fixture *f, const char *text)
{
    sw_kube_config_free(SW_TAKE(f->c));
    sw_err_done(&f->err);
    return sw_kubeconfig_parse("/etc/kube/conf", text, strlen(text), NULL, &f->c, &f->err);
}

#define WHOLE                                                                                      \
    "apiVersion: v1\nkind: Config\ncurrent-context: one\n"                                         \
    "contexts:\n"                                                                                  \
    "- {name: one, context: {cluster: c1, user: u1, namespace: team}}\n"                           \
    "- {name: two, context: {cluster: c2, user: u2}}\n"                                            \
    "clusters:\n"                                                                                  \
    "- {name: c1, cluster: {server: 'https://one:6443', certificate-authority: ca.pem,"            \
    " tls-server-name: kubernetes, proxy-url: 'http://proxy:3128'}}\n"                             \
    "- {name: c2, cluster: {server: 'http://two/k8s', insecure-skip-tls-verify: true,"             \
    " certificate-authority-data: Q0EK}}\n"                                                        \
    "users:\n"                                                                                     \
    "- {name: u1, user: {client-certificate: /abs/cert.pem, client-key-data: S0VZ, as: jane,"      \
    " as-groups: [g1, g2]}}\n"                                                                     \
    "- {name: u2, user: {token: t, tokenFile: tok, username: me, password: pw}}\n"

static void every_field_of_the_current_context_is_read(void **state)
{
    struct fixture *f = *state;
    SW_AUTO_CHARS *path = put(f, "config", WHOLE);
    assert_int_equal(load(f, &(struct sw_kubeconfig_opts){ .path = path }), 0);
    SW_AUTO_CHARS *source = sw_printf("%s, context 'one'", path);
    SW_AUTO_CHARS *ca = sw_printf("%s/ca.pem", f->dir);
    assert_string_equal(f->c->source, source);
    assert_string_equal(f->c->server, "https://one:6443");
    assert_string_equal(f->c->ns, "team");
    assert_string_equal(f->c->ca_file, ca); /* relative to its file's folder */
    assert_string_equal(f->c->tls_server_name, "kubernetes");
    assert_string_equal(f->c->proxy_url, "http://proxy:3128");
    assert_string_equal(f->c->cert_file, "/abs/cert.pem");
    assert_string_equal(f->c->key_data, "KEY");
    assert_string_equal(f->c->as_user, "jane");
    assert_string_equal(f->c->as_groups[1], "g2");
    assert_null(f->c->as_groups[2]);
    assert_false(f->c->insecure);
}

static void another_context_server_and_namespace_may_be_chosen(void **state)
{
    struct fixture *f = *state;
    SW_AUTO_CHARS *path = put(f, "config", WHOLE);
    struct sw_kubeconfig_opts o = { .path = path, .context = "two" };
    assert_int_equal(load(f, &o), 0);
    assert_string_equal(f->c->server, "http://two/k8s");
    assert_true(f->c->insecure);
    assert_string_equal(f->c->ca_data, "CA\n");
    assert_string_equal(f->c->token, "t");
    assert_string_equal(f->c->username, "me");
    assert_string_equal(f->c->password, "pw");
    assert_null(f->c->ns);
    o.server = "http://other";
    o.ns = "n";
    assert_int_equal(load(f, &o), 0);
    assert_string_equal(f->c->server, "http://other");
    assert_string_equal(f->c->ns, "n");
}

static void of_several_files_the_first_to_say_it_wins(void **state)
{
    struct fixture *f = *state;
    SW_AUTO_CHARS *a = put(f, "a",
                           "current-context: two\nclusters:\n- {name: c2, cluster: {server: "
                           "'http://mine'}}\n");
    SW_AUTO_CHARS *b = put(f, "b", WHOLE);
    SW_AUTO_CHARS *listed = sw_printf("%s/missing:%s::%s", f->dir, a, b);
    setenv("KUBECONFIG", listed, 1);
    assert_int_equal(load(f, NULL), 0);
    assert_string_equal(f->c->server, "http://mine"); /* the whole entry: nothing of b's c2 */
    assert_false(f->c->insecure);
    assert_string_equal(f->c->token, "t");
}

static void the_home_folder_is_looked_at_last(void **state)
{
    struct fixture *f = *state;
    SW_AUTO_CHARS *kube = sw_printf("%s/.kube", f->dir);
    assert_int_equal(mkdir(kube, 0700), 0);
    free(put(f, ".kube/config", WHOLE));
    assert_int_equal(load(f, NULL), 0);
    assert_string_equal(f->c->server, "https://one:6443");
}

static void without_any_cluster_it_says_where_it_looked(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(load(f, NULL), SW_NOTFOUND);
    assert_non_null(strstr(f->err.text, "/.kube/config"));
    setenv("KUBECONFIG", "/nonexistent/a:/nonexistent/b", 1);
    assert_int_equal(load(f, NULL), SW_NOTFOUND);
    assert_non_null(strstr(f->err.text, "KUBECONFIG=/nonexistent/a:/nonexistent/b"));
    assert_int_equal(load(f, &(struct sw_kubeconfig_opts){ .path = "/nonexistent/c" }),
                     SW_NOTFOUND);
    assert_non_null(strstr(f->err.text, "/nonexistent/c"));
}

static void in_a_pod_the_service_account_is_used(void **state)
{
    struct fixture *f = *state;
    SW_AUTO_CHARS *token = put(f, "token", "abc");
    SW_AUTO_CHARS *ca = put(f, "ca.crt", "PEM");
    free(put(f, "namespace", "here\n"));
    struct sw_kubeconfig_opts o = { .service_account_dir = f->dir };
    setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
    setenv("KUBERNETES_SERVICE_PORT", "443", 1);
    assert_int_equal(load(f, &o), 0);
    assert_string_equal(f->c->server, "https://[fd00::1]:443");
    assert_string_equal(f->c->token_file, token);
    assert_string_equal(f->c->ca_file, ca);
    assert_string_equal(f->c->ns, "here");
    setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
    assert_int_equal(load(f, &o), 0);
    assert_string_equal(f->c->server, "https://10.0.0.1:443");
}

static void errors_name_file_entry_and_field(void **state)
{
    struct fixture *f = *state;
#define HEAD "current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\n"
    static const struct {
        const char *text, *words;
    } rows[] = {
        { "", "/etc/kube/conf: current-context is not set (contexts: none)" },
        { "contexts: [{name: x, context: {}}]",
          "/etc/kube/conf: current-context is not set (contexts: 'x')" },
        { "current-context: b\ncontexts: [{name: x, context: {}}]",
          "/etc/kube/conf: no context is called 'b' (contexts: 'x')" },
        { "- a\n- b\n", "/etc/kube/conf: a kubeconfig is a map" },
        { "clusters: {}\n", "/etc/kube/conf: clusters is not a list" },
        { HEAD, "/etc/kube/conf, context 'a': cluster: no cluster is called 'c'" },
        { HEAD "clusters: [{name: c, cluster: {}}]",
          "/etc/kube/conf: clusters 'c': server: missing" },
        { HEAD "clusters: [{name: c, cluster: {server: [1]}}]",
          "/etc/kube/conf: clusters 'c': server: not text (quote it)" },
        { HEAD "clusters: [{name: c, cluster: {server: s, insecure-skip-tls-verify: 'yes'}}]",
          "/etc/kube/conf: clusters 'c': insecure-skip-tls-verify: neither true nor false" },
        { HEAD "clusters: [{name: c, cluster: {server: s}}]",
          "/etc/kube/conf, context 'a': user: no user is called 'u'" },
        { HEAD "clusters: [{name: c, cluster: {server: s, certificate-authority-data: '%%%'}}]",
          "/etc/kube/conf: clusters 'c': certificate-authority-data: not base64 of a text" },
        { HEAD "clusters: [{name: c, cluster: {server: s}}]\nusers: [{name: u, user: {token: 12}}]",
          "/etc/kube/conf: users 'u': token: not text (quote it)" },
        { HEAD "clusters: [{name: c, cluster: {server: s}}]\n"
               "users: [{name: u, user: {exec: {command: aws}}}]",
          "/etc/kube/conf: users 'u': exec: apiVersion: '' is neither "
          "client.authentication.k8s.io/v1 nor client.authentication.k8s.io/v1beta1" },
        { HEAD "clusters: [{name: c, cluster: {server: s}}]\n"
               "users: [{name: u, user: {exec: {command: aws, apiVersion: "
               "client.authentication.k8s.io/v1}}}]",
          "/etc/kube/conf: users 'u': exec: interactiveMode: missing (Never, IfAvailable or "
          "Always)" },
        { HEAD "clusters: [{name: c, cluster: {server: s}}]\n"
               "users: [{name: u, user: {auth-provider: {name: gcp}}}]",
          "/etc/kube/conf: users 'u': auth-provider: Kubernetes has dropped it with 1.26; the "
          "provider has a program for exec" },
        { HEAD "clusters: [{name: c, cluster: {server: s}}]\n"
               "users: [{name: u, user: {as-groups: g}}]",
          "/etc/kube/conf: users 'u': as-groups: not a list" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        assert_int_equal(parse(f, rows[i].text), SW_INVALID);
        assert_string_equal(f->err.text, rows[i].words);
    }
    assert_int_equal(parse(f, "a: [\n"), SW_INVALID);
    assert_int_equal(strncmp(f->err.text, "/etc/kube/conf:2:", 17), 0); /* and line and column */
}

static void one_user_may_be_nobody(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(parse(f, "current-context: a\ncontexts: [{name: a, context: {cluster: c}}]\n"
                              "clusters: [{name: c, cluster: {server: 'http://s'}}]\n"),
                     0);
    assert_null(f->c->token);
}

static void line_ends_in_base64_are_skipped_and_nothing_else(void **state)
{
    struct fixture *f = *state;
#define CA_DATA(value)                                                                             \
    "current-context: a\ncontexts: [{name: a, context: {cluster: c}}]\n"                           \
    "clusters:\n- name: c\n  cluster:\n    server: s\n    certificate-authority-data: " value
    assert_int_equal(parse(f, CA_DATA("|\n      Q0\n      EK\n")), 0);
    assert_string_equal(f->c->ca_data, "CA\n");
    assert_int_equal(parse(f, CA_DATA("\"Q0EK\\r\\n\"\n")), 0);
    assert_string_equal(f->c->ca_data, "CA\n");
    static const char *const bad[] = { CA_DATA("'Q0 EK'\n"), CA_DATA("Q0E\n"), CA_DATA("Q0EKCg\n"),
                                       CA_DATA("Q0EKCg==x\n"), CA_DATA("AAAA\n") };
    for (size_t i = 0; i < SW_COUNT(bad); i++)
        assert_int_equal(parse(f, bad[i]), SW_INVALID);
}

static void what_is_written_reads_back_the_same(void **state)
{
    struct fixture *f = *state;
    struct sw_kube_config *c = sw_kube_config_new("https://127.0.0.1:1");
    c->ca_data = sw_strdup("-----BEGIN CERTIFICATE-----\nx\n");
    c->token = sw_strdup("tok: en #1");
    c->ns = sw_strdup("n");
    c->insecure = true;
    SW_AUTO_CHARS *text = sw_kubeconfig_text(c, "slipway");
    SW_AUTO_CHARS *path = put(f, "out", text);
    assert_int_equal(load(f, &(struct sw_kubeconfig_opts){ .path = path, .context = "slipway" }),
                     0);
    assert_string_equal(f->c->server, c->server);
    assert_string_equal(f->c->ca_data, c->ca_data);
    assert_string_equal(f->c->token, c->token);
    assert_string_equal(f->c->ns, "n");
    assert_true(f->c->insecure);
    struct sw_kube_config *copy = sw_kube_config_copy(f->c);
    assert_string_equal(copy->token, c->token);
    sw_kube_config_free(copy);
    sw_kube_config_free(c);
}

static void options_win_over_the_file(void **state)
{
    struct fixture *f = *state;
    SW_AUTO_CHARS *path = put(f, "whole", WHOLE);
    assert_int_equal(load(f, &(struct sw_kubeconfig_opts){ .path = path,
                                                           .server = "https://mine",
                                                           .token = "mine",
                                                           .as_user = "joe",
                                                           .as_groups = "a,b" }),
                     0);
    assert_string_equal(f->c->server, "https://mine");
    assert_string_equal(f->c->token, "mine");
    assert_string_equal(f->c->as_user, "joe");
    assert_string_equal(f->c->as_groups[0], "a");
    assert_string_equal(f->c->as_groups[1], "b");
    assert_null(f->c->as_groups[2]);
    assert_int_equal(load(f, &(struct sw_kubeconfig_opts){ .path = path, .as_user = "joe" }), 0);
    assert_null(f->c->as_groups); /* those of the file are another user's */
    assert_int_equal(
        load(f, &(struct sw_kubeconfig_opts){ .path = path, .cluster = "c2", .user = "u2" }), 0);
    assert_string_equal(f->c->server, "http://two/k8s");
    assert_string_equal(f->c->token, "t");
    assert_int_equal(load(f, &(struct sw_kubeconfig_opts){ .path = path, .user = "none" }),
                     SW_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_field_of_the_current_context_is_read, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(another_context_server_and_namespace_may_be_chosen, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(of_several_files_the_first_to_say_it_wins, setup, teardown),
        cmocka_unit_test_setup_teardown(the_home_folder_is_looked_at_last, setup, teardown),
        cmocka_unit_test_setup_teardown(without_any_cluster_it_says_where_it_looked, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(in_a_pod_the_service_account_is_used, setup, teardown),
        cmocka_unit_test_setup_teardown(errors_name_file_entry_and_field, setup, teardown),
        cmocka_unit_test_setup_teardown(one_user_may_be_nobody, setup, teardown),
        cmocka_unit_test_setup_teardown(line_ends_in_base64_are_skipped_and_nothing_else, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_is_written_reads_back_the_same, setup, teardown),
        cmocka_unit_test_setup_teardown(options_win_over_the_file, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
