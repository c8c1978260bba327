#pragma once
/* explain_topic: what an annotation, a field, a hook or a phase of states means, with an example,
 * out of the tables by which slipway works. No cluster is asked. */
#include "base/base.h"

/** Whether @word is a topic: "annotation", "field", "hook" or "state". */
bool explain_is_topic(const char *word);

/** The text for @name of @topic, "annotation" "slipway.dev/timeout" say. @*text is the caller's.
 * @return 0 | SW_NOTFOUND, with the name that may be meant
 * Pinned by test/emulator/cli/explain_topic_test.sh. */
int explain_topic(const char *topic, const char *name, char **text, struct sw_err *err) SW_CHECKED;

/** The names of @topic, for completion, each on a line; fields only those of spec. Owned. */
char *explain_topic_names(const char *topic);
/** The same for people: what each is stands beside it, and at the end what says more. Owned. */
char *explain_topic_list(const char *topic);
/** The topics, ends with NULL. Borrowed. */
const char *const *explain_topics(void);
