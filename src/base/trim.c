/* Returning unused memory to the system. */
#include "base/base.h"

#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Segments that are mapped read-only have the content of the file: relocations are in writable
 * segments. */
static int drop_segments(struct dl_phdr_info *info, size_t size SW_UNUSED, void *arg SW_UNUSED)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || (p->p_flags & PF_W))
            continue;
        const uintptr_t begin = (info->dlpi_addr + p->p_vaddr) & ~(page - 1);
        const uintptr_t end = (info->dlpi_addr + p->p_vaddr + p->p_memsz + page - 1) & ~(page - 1);
        (void)madvise((void *)begin, end - begin, MADV_DONTNEED); /* a hint */
    }
    return 0;
}

void sw_memory_settle(void)
{
    (void)malloc_trim(0); /* there may be nothing to give back */
    (void)dl_iterate_phdr(drop_segments, NULL);
}
