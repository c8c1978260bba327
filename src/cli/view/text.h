#pragma once
/* text: lines of limited width with colours, for the tables and the live view. */
#include "cli/view/report.h"

#include <json-c/printbuf.h>

/** How text is emphasised, where sw_style.colour is set. */
enum sw_colour { SW_PLAIN, SW_BOLD, SW_DIM, SW_RED, SW_GREEN, SW_YELLOW, SW_BLUE };

/** A line under construction: what does not fit into the width is cut, with an ellipsis. Colours
 * take no room. */
struct sw_line {
    struct printbuf *out;
    const struct sw_style *style;
    int at;   /* columns used */
    bool cut; /* the line is full */
};

/** Columns that UTF-8 text takes: code points, as far as tables here need it. */
int sw_text_width(const char *text);

/** Append @text; control characters become spaces. */
void sw_line_put(struct sw_line *line, enum sw_colour colour, const char *text);
/** Append formatted text, as sw_line_put() does. */
void sw_line_printf(struct sw_line *line, enum sw_colour colour, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/** Blanks up to column @column, one at least. */
void sw_line_pad(struct sw_line *line, int column);
/** A bar of @width columns, @done of @total full. */
void sw_line_bar(struct sw_line *line, int width, int64_t done, int64_t total);
/** End the line; the next begins. */
void sw_line_end(struct sw_line *line);

/** @text with its lines broken at blanks where they are longer than @width columns (0: as long as
 * they get); what goes on begins two columns after the line's own indent. Colours take no room; a
 * word that is longer is not broken. Heap. Pinned by test/unit/cli/cli_view_test.c. */
char *sw_text_break(const char *text, int width);

/** The first line of @message with less of what says where ("state '1000': Deployment web/api: pod
 * api-7 on node n: ") until it takes @room columns or less (0: as many as it takes): the state, the
 * kind and namespace, the object, the pod. Heap. Pinned by test/unit/cli/cli_view_test.c. */
char *sw_text_shorter(const char *message, int room);
