/* headers: the headers of every request, and the bearer token, which may be in a file. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kube/config/exec.h"
#include "kube/internal.h"

enum { MAX_TOKEN_BYTES = 1 << 20, ASK_GAP_MS = 10000 };

/** The token file as it was read. A mounted token is replaced by renaming: inode and time change.
 */
struct token {
    char *text;
    struct timespec mtime;
    ino_t inode;
    off_t size_bytes;
    int64_t until_ms; /* of a program's token, since 1970; 0: it is asked with the next request */
    int64_t asked_ms; /* when it was asked last */
};

struct token *kube_token_new(void)
{
    return sw_zalloc(1, sizeof(struct token));
}

static void wipe(char *secret)
{
    if (secret)
        explicit_bzero(secret, strlen(secret));
    free(secret);
}

void kube_token_free(struct token *t)
{
    if (!t)
        return;
    wipe(t->text);
    free(t);
}

void kube_token_doubt(struct token *t)
{
    t->inode = 0;
    t->until_ms = 0;
}

void kube_token_take(struct token *t, struct sw_exec_answer *answer)
{
    wipe(t->text);
    t->text = SW_TAKE(answer->token);
    t->until_ms = answer->until_ms;
    t->asked_ms = sw_now_ms();
}

/* Ask the program for another token where the last one has expired or was rejected, at most every
 * ten seconds. The loop waits for it: these programs are for people's machines. */
static int ask(struct sw_kube *k, struct sw_err *err)
{
    struct token *t = k->token;
    struct sw_exec_answer answer = { 0 };
    const int64_t now_ms = sw_now_ms();
    if (now_ms < t->until_ms || now_ms - t->asked_ms < ASK_GAP_MS)
        return 0;
    const int rc = sw_exec_ask(k->config, &answer, err);
    t->asked_ms = now_ms;
    if (rc == 0)
        kube_token_take(t, &answer);
    sw_exec_answer_done(&answer);
    return rc;
}

/** Read the token file if it has changed. @return 0 also when it cannot be read but an older token
 * is there, which may still be valid */
static int refresh(struct token *t, const char *file, struct sw_err *err)
{
    struct stat st;
    if (stat(file, &st) == 0 && t->text && st.st_ino == t->inode && st.st_size == t->size_bytes &&
        st.st_mtim.tv_sec == t->mtime.tv_sec && st.st_mtim.tv_nsec == t->mtime.tv_nsec)
        return 0;
    SW_ERR(why);
    char *text;
    size_t len;
    int rc = sw_file_read(file, MAX_TOKEN_BYTES, &text, &len, &why);
    if (rc < 0 && t->text)
        return 0;
    if (rc < 0) {
        (void)sw_err_wrap(&why, rc, "token file");
        return sw_err_move(err, &why);
    }
    text[strcspn(text, "\r\n \t")] = '\0';
    if (!text[0]) {
        free(text);
        return t->text ? 0 : sw_err_set(err, SW_INVALID, "token file '%s' is empty", file);
    }
    wipe(t->text);
    *t = (struct token){
        .text = text, .mtime = st.st_mtim, .inode = st.st_ino, .size_bytes = st.st_size
    };
    return 0;
}

/** Add a header. A line end in the value would begin another header. */
static int add(struct header_list *h, const char *name, const char *value, struct sw_err *err)
{
    if (!value)
        return 0;
    if (value[strcspn(value, "\r\n")])
        return sw_err_set(err, SW_INVALID, "header %s: a line end in its value", name);
    if ((size_t)h->n == SW_COUNT(h->lines))
        return sw_err_set(err, SW_INVALID, "header %s: more than %zu headers", name,
                          SW_COUNT(h->lines));
    h->lines[h->n] = sw_printf("%s: %s", name, value);
    h->view[h->n] = h->lines[h->n];
    h->n++;
    return 0;
}

static int add_token(struct sw_kube *k, struct header_list *h, struct sw_err *err)
{
    const struct sw_kube_config *c = k->config;
    if (!c->token && !c->token_file && !c->exec)
        return 0;
    int rc = c->token_file          ? refresh(k->token, c->token_file, err)
             : c->exec && !c->token ? ask(k, err)
                                    : 0;
    if (rc < 0 && !c->token)
        return rc;
    if (!k->token->text && !c->token)
        return 0; /* the program gave a certificate */
    SW_AUTO_CHARS *value = sw_printf("Bearer %s", k->token->text ? k->token->text : c->token);
    rc = add(h, "Authorization", value, err);
    explicit_bzero(value, strlen(value));
    return rc;
}

int kube_headers(struct sw_kube *k, const char *accept, const char *content_type,
                 const char *as_user, struct header_list *h, struct sw_err *err)
{
    *h = (struct header_list){ 0 };
    int rc = add_token(k, h, err);
    if (rc == 0)
        rc = add(h, "Accept", accept ? accept : "application/json", err);
    if (rc == 0)
        rc = add(h, "Content-Type", content_type, err);
    if (rc == 0)
        rc = add(h, "Host", k->host_header, err);
    const char *user = as_user ? as_user : k->config->as_user;
    if (rc == 0 && user && !user[strspn(user, " \t")])
        rc = sw_err_set(err, SW_INVALID, "an account is to be impersonated, and its name is empty");
    if (rc == 0)
        rc = add(h, "Impersonate-User", user, err);
    for (char **group = as_user ? NULL : k->config->as_groups; rc == 0 && group && *group; group++)
        rc = add(h, "Impersonate-Group", *group, err);
    if (rc < 0)
        kube_headers_done(h);
    return rc;
}

int kube_headers_proxied(struct header_list *h, const char *token, struct sw_err *err)
{
    SW_AUTO_CHARS *value = sw_printf("Bearer %s", token);
    const int rc = add(h, "X-Slipway-Authorization", value, err);
    explicit_bzero(value, strlen(value));
    if (rc < 0)
        kube_headers_done(h);
    return rc;
}

void kube_headers_done(struct header_list *h)
{
    for (int i = 0; i < h->n; i++)
        wipe(h->lines[i]);
    h->n = 0;
}
