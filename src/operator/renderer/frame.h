#pragma once
/* frame: the messages between a controller and its renderers. A message is a frame: a byte that
 * says what it is, its length in four bytes (big endian), its text.
 *
 *     controller -> child                       child -> controller
 *     'L' line of JSON, bundle: load            'M' JSON: a manifest of a render
 *     'P' JSON: plan                            'Q' JSON: a lookup, which the child waits for
 *     'R' JSON: render                          'A' JSON: the answer; after it the child waits
 *     'C' JSON: record
 *     'S' JSON: render a spec; needs no load
 *     'O' JSON: what was looked up
 *
 * The child is no friend: what it sends is bounded, and read by functions that are fuzzed. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "data/data.h"
#include "data/text/buffer.h"
#include "operator/renderer/renderer.h"

enum {
    FRAME_HEAD = 5,
    FRAME_MAX = 96 << 20,       /* of a request: a bundle */
    FRAME_ANSWER_MAX = 8 << 20, /* of a message of the child */
    RENDER_MAX = 24 << 20,      /* of all manifests of a render */
};
#define FRAME_TYPES_OF_CHILD "MQA"

/** Put the head of a frame of @len bytes to @head. */
void frame_head(char head[static FRAME_HEAD], char type, size_t len);
/** Read a head that a child sent. @return 0 | SW_INVALID: there is no such message, or it is too
 * long */
int frame_read_head(const char head[static FRAME_HEAD], char *type, size_t *len,
                    struct sw_err *err) SW_CHECKED;

/** Parse a message of a child: a JSON object whose tree takes at most some @most_bytes.
 * @return 0 | SW_INVALID */
int frame_parse(const char *text, size_t len, size_t most_bytes, struct json_object **out,
                struct sw_err *err) SW_CHECKED;

/** The failure in an answer, with its message cut to a bearable length. @return 0 | a code */
int answer_code(struct json_object *answer, struct sw_err *err) SW_CHECKED;
/** Read the answer to 'L'. @out is filled; recipe_view_done() in any case. @return 0 | SW_INVALID
 */
int recipe_view_read(struct json_object *answer, struct sw_recipe_view *out,
                     struct sw_err *err) SW_CHECKED;
void recipe_view_done(struct sw_recipe_view *view);
/** Read the answer to 'P'. @*out is the caller's: plan_view_free(). @return 0 | SW_INVALID */
int plan_view_read(struct json_object *answer, struct sw_plan_view **out,
                   struct sw_err *err) SW_CHECKED;
void plan_view_free(struct sw_plan_view *view);
/** The view of a plan in this process. */
struct sw_plan_view *plan_view_of(const struct sw_plan *plan);
/** Read a manifest and add it to @rendered. @return 0 | SW_INVALID */
int manifest_take(struct json_object *message, const struct sw_plan_view *plan,
                  struct sw_rendered *rendered, struct sw_err *err) SW_CHECKED;

/** @env as JSON, the caller's; all but lookup. */
struct json_object *env_to_json(const struct sw_render_env *env);

/** Check the labels of a plan for the resource @label, and that there is something to apply. */
int plan_check(const struct sw_recipe *recipe, const struct sw_plan *plan, const char *label,
               struct sw_err *err) SW_CHECKED;
/** @spec with its templates rendered, @values as .Values. @*out is the caller's. */
int spec_resolve(struct json_object *spec, struct json_object *values, struct json_object **out,
                 struct sw_err *err) SW_CHECKED;
/** The release as it is recorded; see sw_renderer_record(). */
int record_make(const struct sw_recipe *recipe, const struct sw_plan *plan,
                const struct sw_render_env *env, const char *path, struct json_object *release,
                struct json_object *runs, char **packed, char content[static SW_SHA256_HEX],
                struct sw_err *err) SW_CHECKED;
/** The SpecialResource in the file @name of @recipe; NULL: there is none. The caller's. */
int recipe_base(const struct sw_recipe *recipe, const char *name, struct json_object **out,
                struct sw_err *err) SW_CHECKED;
/** The digest of the chart of the release at @chart, a full path in @plan, with its values; "" if
 * its files cannot be listed. @known: those that were made of this plan, by chart; the new one is
 * put there, since a release may have dozens of states. @return borrowed of @known */
const char *release_digest(const struct sw_plan *plan, const char *chart,
                           struct json_object *known);
/** The digest of all files of @recipe. */
void recipe_digest(const struct sw_recipe *recipe, char out[static SW_SHA256_HEX]);
