#include "cli/view/live.h"

#include "base/base.h"
#include "base/output.h"
#include "cli/command/cli.h"
#include "cli/view/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct sw_live {
    int fd;
    char *drawn; /* the text on the terminal */
};

/* For atexit(): an exit from anywhere must show the cursor again. */
static int hidden_fd = -1;

static void write_all(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, text, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return; /* the terminal was closed */
        text += n;
        len -= (size_t)n;
    }
}

static void show_cursor(void)
{
    if (hidden_fd >= 0)
        write_all(hidden_fd, "\033[?25h", 6);
    hidden_fd = -1;
}

struct sw_style sw_style_of(int fd)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    struct sw_style style = { .colour = sw_cli_colours(fd) };
    struct winsize size;
    const char *locale = NULL; /* the first that is set */
    for (size_t i = 0; i < SW_COUNT(names) && !(locale && *locale); i++)
        locale = getenv(names[i]);
    style.utf8 = locale && (strcasestr(locale, "UTF-8") || strcasestr(locale, "UTF8"));
    if (isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        style.width = size.ws_col;
        style.height = size.ws_row > 1 ? size.ws_row - 1 : 1;
    }
    return style;
}

struct sw_live *sw_live_open(int fd)
{
    const char *term = getenv("TERM");
    if (!isatty(fd) || !term || !*term || sw_streq(term, "dumb") || sw_style_of(fd).width == 0)
        return NULL;
    static bool registered;
    if (!registered)
        registered = atexit(show_cursor) == 0;
    struct sw_live *live = sw_zalloc(1, sizeof *live);
    *live = (struct sw_live){ .fd = fd, .drawn = sw_strdup("") };
    hidden_fd = fd;
    write_all(fd, "\033[?25l", 6);
    return live;
}

struct sw_style sw_live_style(const struct sw_live *live)
{
    return sw_style_of(live->fd);
}

/* The rows of the screen that @text takes: in a window that became narrower its lines are wrapped.
 */
static int rows_of(const char *text, int width)
{
    int rows = 0, column = 0;
    for (const char *c = text; *c; c++) {
        if (*c == '\033') {
            c += strcspn(c, "m");
        } else if (*c == '\n') {
            rows += 1 + (width > 0 && column > 0 ? (column - 1) / width : 0);
            column = 0;
        } else if (((unsigned char)*c & 0xc0) != 0x80) {
            column++;
        }
    }
    return rows;
}

/* Each line clears its own rest: clearing the screen first would flicker. */
void sw_live_draw(struct sw_live *live, const char *text)
{
    struct printbuf *out = printbuf_new();
    int rows = rows_of(live->drawn, sw_style_of(live->fd).width);
    if (rows > 0)
        (void)sprintbuf(out, "\033[%dA", rows);
    (void)printbuf_strappend(out, "\r");
    for (const char *at = text; *at;) {
        size_t len = strcspn(at, "\n");
        sw_output_put(out, at, len, true);
        (void)printbuf_strappend(out, "\033[K\n");
        at += len + (at[len] == '\n');
    }
    (void)printbuf_strappend(out, "\033[J");
    write_all(live->fd, out->buf, (size_t)out->bpos);
    printbuf_free(out);
    sw_text_set(&live->drawn, text);
}

void sw_live_close(struct sw_live *live)
{
    if (!live)
        return;
    sw_live_draw(live, "");
    show_cursor();
    free(live->drawn);
    free(live);
}
