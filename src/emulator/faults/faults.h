#pragma once
/* faults: injects faults into the emulator by a plan from a file: error answers, broken
 * connections, wrong watch events, an unreachable server, a changed wall clock. The same plan, seed
 * and order of requests give the same faults. The keys of a plan: docs/faults.md. */
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct json_object;
struct sw_emu_fault;
struct sw_emu_request;
struct sw_faults;
struct sw_store;

/** Read a plan; @plan is borrowed, @name is for messages. *@out is the caller's.
 * @return 0 | SW_INVALID: "NAME: faults[2].answer: ..." */
int sw_faults_new(struct json_object *plan, const char *name, struct sw_faults **out,
                  struct sw_err *err) SW_CHECKED;
/** Read a plan from a YAML or JSON file. @return also SW_NOTFOUND, SW_FORBIDDEN */
int sw_faults_load(const char *path, struct sw_faults **out, struct sw_err *err) SW_CHECKED;
/** Free the plan and its timers. NULL is accepted. */
void sw_faults_free(struct sw_faults *faults);
SW_DEFINE_AUTO(sw_faults, sw_faults_free)

/** The `on_request` hook of an emulator; @arg is the struct sw_faults. There are no faults before
 * sw_faults_start(). */
void sw_faults_on_request(const struct sw_emu_request *req, struct sw_emu_fault *fault, void *arg);
/** Start the plan's clock. @store has the kinds; @drop closes all connections of the server. All
 * are borrowed; free the faults before them. */
void sw_faults_start(struct sw_faults *faults, struct sw_store *store, void (*drop)(void *arg),
                     void *arg);
/** The number of requests that had a fault so far. */
uint64_t sw_faults_count(const struct sw_faults *faults);

/** The time from the start to the end of the last fault. Faults without an `until` never end; they
 * count as if they ended when they begin. */
int64_t sw_faults_end_ms(const struct sw_faults *faults);

/** A new plan of a few random faults, which all end within @horizon_ms. The same seed gives the
 * same plan. */
struct json_object *sw_faults_random(uint64_t seed, int64_t horizon_ms);
