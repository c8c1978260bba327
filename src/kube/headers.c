/* headers: the headers of every request, and the bearer token, which may be in a file. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kube/config/kubeconfig.h"
#include "kube/internal.h"

enum { MAX_TOKEN_BYTES = 1 << 20 };

/** The token file as it was read. A mounted token is replaced by renaming: inode and time change.
 */
struct token {
    char *text;
    struct timespec mtime;
    ino_t inode;
    off_t size_bytes;
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
    if (!c->token && !c->token_file)
        return 0;
    int rc = c->token_file ? refresh(k->token, c->token_file, err) : 0;
    if (rc < 0 && !c->token)
        return rc;
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
