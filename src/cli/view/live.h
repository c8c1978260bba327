#pragma once
/* live: lines of the terminal that are drawn again in place. The cursor is hidden meanwhile, and
 * shown again when the process ends, also by a signal that can be caught. */
#include "cli/view/report.h"

struct sw_live;

/** Draw below the cursor of terminal @fd.
 * @return the caller's: sw_live_close(); NULL: @fd is no terminal, or a dumb one */
struct sw_live *sw_live_open(int fd);
/** @return the current style of text; the width changes with the window */
struct sw_style sw_live_style(const struct sw_live *live);
/** Replace what was drawn by @text (lines that end in \n), in one write. */
void sw_live_draw(struct sw_live *live, const char *text);
/** Erase what was drawn and show the cursor. NULL is accepted. */
void sw_live_close(struct sw_live *live);

/** The style of any output file: width of the terminal or none, colours, UTF-8 by the locale's
 * name. */
struct sw_style sw_style_of(int fd);
