#pragma once
/* faults: a plan of what goes wrong, read from a file, and what carries it out on the emulator:
 * answers that are errors, connections that break, watches that lie, a server that is away, a wall
 * clock that is set. With the same plan and seed, and requests in the same order, the same things
 * go wrong. What each key means: docs/faults.md. */
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct json_object;
struct sw_emu_fault;
struct sw_emu_request;
struct sw_faults;
struct sw_store;

/** @plan is borrowed; @name is for messages.
 * @return 0 | SW_INVALID: "NAME: faults[2].answer: ..." */
int sw_faults_new(struct json_object *plan, const char *name, struct sw_faults **out,
                  struct sw_err *err) SW_CHECKED;
/** From a YAML or JSON file. @return also SW_NOTFOUND, SW_FORBIDDEN */
int sw_faults_load(const char *path, struct sw_faults **out, struct sw_err *err) SW_CHECKED;
/** NULL is accepted. */
void sw_faults_free(struct sw_faults *faults);
SW_DEFINE_AUTO(sw_faults, sw_faults_free)

/** The `on_request` hook of an emulator, @arg being the struct sw_faults. Nothing goes wrong before
 * sw_faults_start(). */
void sw_faults_on_request(const struct sw_emu_request *req, struct sw_emu_fault *fault, void *arg);
/** The plan's time begins. @store says which kinds there are; @drop closes all connections of the
 * server. All are borrowed; free the faults before them. */
void sw_faults_start(struct sw_faults *faults, struct sw_store *store, void (*drop)(void *arg),
                     void *arg);
/** How many requests it changed so far. */
uint64_t sw_faults_count(const struct sw_faults *faults);

/** When the last of them is over, from the start; one without an `until` counts as over at once, as
 * it never ends. */
int64_t sw_faults_end_ms(const struct sw_faults *faults);

/** A plan of a few faults of all sorts, the same for the same seed; all of them end within
 * @horizon_ms. A new document, the caller's. */
struct json_object *sw_faults_random(uint64_t seed, int64_t horizon_ms);
