#pragma once
/* confine: the bounds of a process that fetches for others: it speaks to servers that others chose,
 * and unpacks what they send. */
#include <stdbool.h>
#include <stddef.h>

struct sw_confine_opts {
    size_t bytes;          /* of its own memory (RLIMIT_DATA); 0: unlimited */
    unsigned cpu_s;        /* processor time; 0: unlimited */
    size_t file_bytes;     /* of a file that it writes; 0: unlimited */
    bool may_run_programs; /* gpgv checks signatures */
    const char
        *dirs[3]; /* where it may write, ended by NULL; those that are not there are left out */
    void (*out_of_memory)(void); /* called instead of going on; does not return */
};

/** From here on this process and its children can do no more than to ask servers, read files and
 * write below @dirs: no descriptors but 0 to 2, no other process's memory, no listening, no program
 * unless asked for. What a kernel lacks (seccomp, Landlock) is not enforced. */
void sw_confine(const struct sw_confine_opts *opts);
