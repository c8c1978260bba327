#include "chart/fetch/git/gitchild.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "chart/fetch/git/gitcert.h"
#include "chart/fetch/git/gitlib.h"
#include "chart/fetch/reach/reach.h"
#include "data/text/url.h"

#if SW_HAVE_GIT

enum { ANSWER_MAX = 16 << 10, SHOWN = 8 };

/* ---- in the child: credentials -----------------------------------------------------------------
 */

/* The state of a child process. */
struct child {
    const struct sw_git_lib *lib;
    const struct git_job *job;
    char *home;   /* the user's, before it was replaced */
    int n_asked;  /* times that libgit2 requested credentials */
    bool refused; /* there were none, or none was accepted */
    bool untrusted;
    bool too_large;
};

/* The SSH key number @attempt: that of the options, else the agent's, then those in ~/.ssh. */
static int try_ssh(struct child *c, git_credential **out, const char *user, int attempt)
{
    static const char *const names[] = { "id_ed25519", "id_ecdsa", "id_rsa" };
    const struct sw_fetch_auth *auth = &c->job->auth;
    const char *pass = auth->password ? auth->password : "";
    if (auth->key_file)
        return attempt > 0 ? GIT_EAUTH : c->lib->ssh_key(out, user, NULL, auth->key_file, pass);
    if (auth->only_given)
        return GIT_EAUTH;
    if (attempt == 0)
        return getenv("SSH_AUTH_SOCK") ? c->lib->ssh_agent(out, user) : GIT_RETRY;
    if (attempt > (int)SW_COUNT(names) || !c->home)
        return GIT_EAUTH;
    SW_AUTO_CHARS *path = sw_printf("%s/.ssh/%s", c->home, names[attempt - 1]);
    return access(path, R_OK) == 0 ? c->lib->ssh_key(out, user, NULL, path, pass) : GIT_RETRY;
}

static int on_credentials(git_credential **out, const char *url SW_UNUSED, const char *url_user,
                          unsigned allowed, void *arg)
{
    struct child *c = arg;
    const struct sw_fetch_auth *auth = &c->job->auth;
    const char *user = auth->username ? auth->username : url_user ? url_user : "git";
    if (allowed & GIT_CREDENTIAL_USERNAME)
        return c->lib->username(out, user);
    int rc = GIT_EAUTH;
    if (allowed & GIT_CREDENTIAL_SSH_KEY)
        do
            rc = try_ssh(c, out, user, c->n_asked++);
        while (rc == GIT_RETRY);
    else if ((allowed & GIT_CREDENTIAL_USERPASS_PLAINTEXT) && auth->password && c->n_asked++ == 0)
        rc = c->lib->userpass(out, user, auth->password);
    c->refused = rc < 0;
    return rc;
}

static const char *ca_of(const struct git_job *job)
{
    return job->auth.ca_file ? job->auth.ca_file : sw_text_or(getenv("SSL_CERT_FILE"), NULL);
}

/* libgit2's own check decides, but a TLS certificate is not checked if the options say so. The
 * answer must be definite: libgit2 takes "no opinion" (above 0) for a yes. */
static int on_certificate(git_cert *cert, int valid, const char *host, void *arg)
{
    struct child *c = arg;
    bool is_tls = cert->cert_type == GIT_CERT_X509, unchecked = is_tls && c->job->auth.insecure;
    const git_cert_x509 *x509 = (const git_cert_x509 *)cert;
    c->untrusted = !valid && !unchecked &&
                   !(is_tls && git_cert_is_of_address(x509->data, x509->len, host, ca_of(c->job)));
    return c->untrusted ? GIT_ECERTIFICATE : 0;
}

static int on_progress(const git_indexer_progress *stats, void *arg)
{
    struct child *c = arg;
    c->too_large = stats->received_bytes > c->job->max_bytes;
    return c->too_large ? GIT_EUSER : 0;
}

/* ---- in the child: messages --------------------------------------------------------------------
 */

/* Code and message for libgit2's error @rc. */
static int explain(struct child *c, int rc, struct sw_err *err)
{
    static const struct {
        const char *part;
        int code;
    } by_message[] = {
        { "status code: 404", SW_NOTFOUND },       { "status code: 401", SW_FORBIDDEN },
        { "status code: 403", SW_FORBIDDEN },      { "not find repository", SW_NOTFOUND },
        { "failed to resolve path", SW_NOTFOUND },
    };
    const git_error *last = c->lib->error_last();
    const char *message = last && last->message ? last->message : "libgit2 does not say why";
    if (sw_reach_refused())
        return sw_err_set(err, SW_INVALID, "address not allowed");
    if (c->too_large)
        return sw_err_set(err, SW_INVALID, "the repository is larger than %zu bytes",
                          c->job->max_bytes);
    if (c->untrusted || rc == GIT_ECERTIFICATE)
        return sw_err_set(
            err, SW_INVALID,
            "the server is not trusted: %s (--ca-file names its CA, SSH's known_hosts "
            "its key)",
            message);
    if (*c->job->url->remote == '/' && rc < 0 && access(c->job->url->remote, F_OK) != 0)
        return sw_err_set(err, SW_NOTFOUND, "there is no such folder");
    if (c->refused || rc == GIT_EAUTH)
        return sw_err_set(err, SW_FORBIDDEN,
                          "the credentials are not accepted, or there are none (%s)", message);
    for (size_t i = 0; i < SW_COUNT(by_message); i++)
        if (strstr(message, by_message[i].part))
            return sw_err_set(err, by_message[i].code, "%s", message);
    return sw_err_set(err, rc == GIT_ENOTFOUND ? SW_NOTFOUND : SW_UNAVAILABLE, "%s", message);
}

/* ---- in the child: refs ------------------------------------------------------------------------
 */

struct session {
    git_repository *repo;
    git_remote *remote;
    const git_remote_head **heads;
    size_t n;
};

static void callbacks_init(struct child *c, git_remote_callbacks *cb)
{
    cb->credentials = on_credentials;
    cb->certificate_check = on_certificate;
    cb->transfer_progress = on_progress;
    cb->payload = c;
}

/* libgit2 would ask another server with the same password, and does not tell which one it asks. */
static bool may_redirect(const struct child *c)
{
    const struct sw_reach *reach = sw_reach_enforced();
    return !c->job->auth.password && !(reach && sw_reach_is_by_name(reach));
}

/* Without redirects libgit2 still follows those to another port of the host. */
static void keep_to_port(const char *remote)
{
    struct sw_url_server server;
    if (!sw_starts_with(remote, "http") || !sw_url_server(remote, &server))
        return;
    sw_reach_keep_to_port(server.port ? (unsigned)strtoul(server.port, NULL, 10) : 0);
    sw_url_server_done(&server);
}

static int forbid_redirects(const char *repo, struct sw_err *err)
{
    SW_AUTO_CHARS *path = sw_printf("%s/config", repo);
    FILE *f = fopen(path, "ae");
    bool ok = f && fputs("[http]\n\tfollowRedirects = false\n", f) >= 0;
    ok = (!f || fclose(f) == 0) && ok;
    return ok ? 0 : sw_err_set(err, SW_UNAVAILABLE, "%s: %s", path, strerror(errno));
}

/* Open the objects' folder, connect to the server and list its refs. */
static int open_session(struct child *c, struct session *s, struct sw_err *err)
{
    git_remote_callbacks cb = { .version = GIT_REMOTE_CALLBACKS_VERSION };
    git_proxy_options proxy = { .version = GIT_PROXY_OPTIONS_VERSION };
    callbacks_init(c, &cb);
    proxy.type = GIT_PROXY_AUTO;
    SW_AUTO_CHARS *path = sw_printf("%s/repo", c->job->dir);
    int rc = c->lib->repository_init(&s->repo, path, 1);
    if (rc == 0 && !may_redirect(c) && forbid_redirects(path, err) < 0)
        return SW_UNAVAILABLE;
    if (c->job->auth.password)
        keep_to_port(c->job->url->remote);
    if (rc == 0)
        rc = c->lib->remote_create(&s->remote, s->repo, c->job->url->remote);
    if (rc == 0)
        rc = c->lib->remote_connect(s->remote, GIT_DIRECTION_FETCH, &cb, &proxy, NULL);
    if (rc == 0)
        rc = c->lib->remote_ls(&s->heads, &s->n, s->remote);
    return rc < 0 ? explain(c, rc, err) : 0;
}

static const git_remote_head *find_head(const struct session *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (sw_streq(s->heads[i]->name, name))
            return s->heads[i];
    return NULL;
}

/* As git: a tag before a branch; what a tag points to before the tag. */
static const git_remote_head *choose_head(const struct session *s, const char *ref)
{
    static const char *const forms[] = { "%s^{}", "%s", "refs/tags/%s^{}", "refs/tags/%s",
                                         "refs/heads/%s" };
    if (!*ref)
        return find_head(s, "HEAD");
    for (size_t i = 0; i < SW_COUNT(forms); i++) {
        const char *at = strstr(forms[i], "%s");
        SW_AUTO_CHARS *name = sw_printf("%.*s%s%s", (int)(at - forms[i]), forms[i], ref, at + 2);
        const git_remote_head *head = find_head(s, name);
        if (head)
            return head;
    }
    return NULL;
}

static int no_such_ref(const struct session *s, const char *ref, struct sw_err *err)
{
    SW_AUTO_CHARS *known = sw_strdup("");
    size_t n = 0;
    for (size_t i = 0; i < s->n && n < SHOWN; i++) {
        const char *name = s->heads[i]->name, *slash = strchr(name + strcspn(name, "/") + 1, '/');
        if ((!sw_starts_with(name, "refs/heads/") && !sw_starts_with(name, "refs/tags/")) ||
            sw_ends_with(name, "^{}"))
            continue;
        sw_append(&known, "%s%s", n++ ? ", " : "", slash ? slash + 1 : name);
    }
    if (s->n == 0)
        return sw_err_set(err, SW_NOTFOUND, "the repository is empty");
    return sw_err_set(err, SW_NOTFOUND, "there is no branch or tag '%s' (there are %s%s)",
                      *ref ? ref : "HEAD", known, n == SHOWN ? ", ..." : "");
}

static int find_commit(struct child *c, char **text, struct sw_err *err)
{
    struct session s = { 0 };
    int rc = open_session(c, &s, err);
    if (rc < 0)
        return rc;
    const git_remote_head *head = choose_head(&s, c->job->url->ref);
    if (!head)
        return no_such_ref(&s, c->job->url->ref, err);
    char hex[GIT_OID_HEXSZ + 1];
    *text = sw_strdup(c->lib->oid_text(hex, sizeof hex, &head->oid));
    return 0;
}

/* ---- in the child: objects ---------------------------------------------------------------------
 */

static int download(struct child *c, struct session *s, char **specs, size_t n)
{
    git_fetch_options opts;
    (void)c->lib->fetch_options(&opts, GIT_FETCH_OPTIONS_VERSION);
    callbacks_init(c, &opts.callbacks);
    opts.proxy_opts.type = GIT_PROXY_AUTO;
    opts.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_NONE;
#if LIBGIT2_VER_MAJOR > 1 || LIBGIT2_VER_MINOR >= 7
    opts.depth = *c->job->url->remote == '/' ? 0 : 1; /* a local one cannot */
#endif
    const git_strarray list = { specs, n };
    return c->lib->remote_download(s->remote, &list, &opts);
}

static bool has_commit(struct child *c, struct session *s)
{
    git_oid oid;
    git_object *object = NULL;
    bool found = c->lib->oid_read(&oid, c->job->commit) == 0 &&
                 c->lib->object_lookup(&object, s->repo, &oid, GIT_OBJECT_ANY) == 0;
    c->lib->object_free(object);
    return found;
}

/* Fetch the commit by a ref that points to it; else by its name, where the server allows that; else
 * with the history of all refs. */
static int fetch_commit(struct child *c, char **text, struct sw_err *err)
{
    struct session s = { 0 };
    int rc = open_session(c, &s, err);
    if (rc < 0)
        return rc;
    SW_AUTO_CHARS *ref = NULL; /* that points to the commit */
    for (size_t i = 0; i < s.n && !ref; i++) {
        const char *name = s.heads[i]->name;
        char hex[GIT_OID_HEXSZ + 1];
        if (sw_streq(c->lib->oid_text(hex, sizeof hex, &s.heads[i]->oid), c->job->commit))
            ref = sw_strndup(name, strlen(name) - (sw_ends_with(name, "^{}") ? 3 : 0));
    }
    SW_AUTO_CHARS *one = sw_printf("+%s:refs/slipway/it", ref ? ref : c->job->commit);
    rc = download(c, &s, &one, 1);
    if (!ref && !c->too_large && (rc < 0 || !has_commit(c, &s))) {
        SW_AUTO_CHARS *heads = sw_strdup("+refs/heads/*:refs/slipway/heads/*");
        SW_AUTO_CHARS *tags = sw_strdup("+refs/tags/*:refs/slipway/tags/*");
        c->lib->remote_free(s.remote);
        c->lib->repository_free(s.repo);
        s = (struct session){ 0 };
        rc = open_session(c, &s, err);
        if (rc < 0)
            return rc;
        rc = download(c, &s, (char *[]){ heads, tags }, 2);
    }
    if (rc < 0)
        return explain(c, rc, err);
    if (!has_commit(c, &s))
        return sw_err_set(err, SW_NOTFOUND, "there is no commit %s", c->job->commit);
    *text = sw_strdup("");
    return 0;
}

/* ---- in the child: its environment -------------------------------------------------------------
 */

/* libgit2 reads known_hosts and its configuration from the home folder. It gets one with
 * known_hosts only. */
static void make_home(struct child *c)
{
    const char *home = getenv("HOME");
    c->home = sw_strdup(home);
    SW_AUTO_CHARS *own = sw_printf("%s/home", c->job->dir);
    SW_AUTO_CHARS *ssh = sw_printf("%s/.ssh", own);
    SW_AUTO_CHARS *link_path = sw_printf("%s/known_hosts", ssh);
    SW_AUTO_CHARS *usual = c->home ? sw_printf("%s/.ssh/known_hosts", c->home) : NULL;
    const char *known = c->job->auth.known_hosts ? c->job->auth.known_hosts
                                                 : sw_text_or(getenv("SSH_KNOWN_HOSTS"), usual);
    if (mkdir(own, 0700) == 0 && mkdir(ssh, 0700) == 0 && known && symlink(known, link_path) < 0)
        (void)0; /* then no host is known, and libgit2 fails */
    (void)setenv("HOME", own, 1);
}

/* @return whether the URL may be asked, as far as its host says */
static bool may_ask(const struct sw_git_url *url)
{
    unsigned port = sw_starts_with(url->remote, "https:")  ? 443
                    : sw_starts_with(url->remote, "http:") ? 80
                                                           : 22;
    return !*url->host || sw_reach_admits(url->host, port);
}

static int set_up(struct child *c, struct sw_err *err)
{
    make_home(c);
    if (!may_ask(c->job->url))
        return sw_err_set(err, SW_INVALID, "address not allowed");
    c->lib = sw_git_load(err);
    if (!c->lib)
        return SW_UNAVAILABLE;
    (void)c->lib->shutdown(); /* the process that made this one may have started it */
    (void)c->lib->init();
    (void)c->lib->set_opt(GIT_OPT_SET_OWNER_VALIDATION, 0); /* no code of the repository is run */
    const char *ca = ca_of(c->job);
    if (ca && c->lib->set_opt(GIT_OPT_SET_SSL_CERT_LOCATIONS, ca, NULL) < 0)
        return sw_err_set(err, SW_INVALID, "%s: no certificates can be read from it", ca);
    return 0;
}

typedef int child_fn(struct child *c, char **text, struct sw_err *err);

/* Run @work in the child. The answer on @fd is "<code>\n<message or result>". */
static _Noreturn void be_child(const struct git_job *job, child_fn *work, int fd)
{
    struct child c = { .job = job };
    char *text = NULL;
    SW_ERR(err);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    int rc = set_up(&c, &err);
    if (rc == 0)
        rc = work(&c, &text, &err);
    (void)dprintf(fd, "%d\n%s", rc, rc < 0 ? sw_err_text(&err) : text);
    _exit(0);
}

/* ---- in the parent -----------------------------------------------------------------------------
 */

/* Read until the other end is closed. @return false: the deadline has passed */
static bool read_answer(int fd, int64_t until_ms, char *answer, size_t room)
{
    size_t len = 0;
    for (;;) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        int64_t left_ms = until_ms - sw_monotonic_ms();
        int ready = left_ms > 0 ? poll(&p, 1, (int)(left_ms < 60000 ? left_ms : 60000)) : 0;
        if (left_ms <= 0)
            return false;
        if (ready <= 0)
            continue;
        ssize_t n = read(fd, answer + len, room - 1 - len);
        if (n <= 0 && errno == EINTR && n < 0)
            continue;
        len += n > 0 ? (size_t)n : 0;
        answer[len] = '\0';
        if (n <= 0 || len == room - 1)
            return true;
    }
}

static int run(const struct git_job *job, child_fn *work, char **text, struct sw_err *err)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0)
        return sw_err_set(err, SW_UNAVAILABLE, "no pipe: %s", strerror(errno));
    int64_t until_ms = sw_monotonic_ms() + job->timeout_ms;
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(fds[0]);
        be_child(job, work, fds[1]);
    }
    int saved = errno;
    (void)close(fds[1]);
    SW_AUTO_CHARS *answer = sw_zalloc(ANSWER_MAX, 1);
    char *end = NULL; /* of the code; NULL: there is no answer */
    int rc;
    if (pid < 0)
        rc = sw_err_set(err, SW_UNAVAILABLE, "no process: %s", strerror(saved));
    else if (!read_answer(fds[0], until_ms, answer, ANSWER_MAX))
        rc = sw_err_set(err, SW_UNAVAILABLE, "not done within %lld s",
                        (long long)(job->timeout_ms + 999) / 1000);
    else
        rc = (int)strtol(answer, &end, 10);
    if (end && (end == answer || *end != '\n'))
        rc = sw_err_set(err, SW_UNAVAILABLE, "the process of libgit2 failed");
    else if (end && rc < 0)
        (void)sw_err_set(err, rc, "%s", end + 1);
    else if (end)
        *text = sw_strdup(end + 1);
    (void)close(fds[0]);
    if (pid > 0) {
        (void)kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    return rc;
}

int git_child_find(const struct git_job *job, char **commit, struct sw_err *err)
{
    return run(job, find_commit, commit, err);
}

int git_child_fetch(const struct git_job *job, struct sw_err *err)
{
    SW_AUTO_CHARS *text = NULL;
    return run(job, fetch_commit, &text, err);
}

#else

static int no_git(struct sw_err *err)
{
    return sw_err_set(err, SW_UNAVAILABLE, "this slipway was built without libgit2");
}

int git_child_find(const struct git_job *job SW_UNUSED, char **commit SW_UNUSED, struct sw_err *err)
{
    return no_git(err);
}

int git_child_fetch(const struct git_job *job SW_UNUSED, struct sw_err *err)
{
    return no_git(err);
}
#endif
