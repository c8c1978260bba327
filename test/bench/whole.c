/* whole: run a command several times and print what the kernel says of it, as JSON: wall and CPU
 * seconds and peak memory, each as minimum, median and maximum. The first run is not counted.
 *
 *     build/bench/whole RUNS COMMAND ARG... */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_RUNS = 100 };

static int run_once(char **argv, double *wall_s, double *cpu_s, double *peak_kib)
{
    struct timespec t0, t1;
    struct rusage ru;
    int status;
    (void)clock_gettime(CLOCK_MONOTONIC, &t0);
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        (void)dup2(null, STDOUT_FILENO);
        (void)execv(argv[0], argv);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &ru) != pid)
        return -1;
    (void)clock_gettime(CLOCK_MONOTONIC, &t1);
    *wall_s = (double)(t1.tv_sec - t0.tv_sec) + (double)(t1.tv_nsec - t0.tv_nsec) / 1e9;
    *cpu_s = (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) +
             (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e6;
    *peak_kib = (double)ru.ru_maxrss;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const char *name, double *v, size_t n)
{
    qsort(v, n, sizeof *v, compare);
    (void)printf("\"%s\":{\"min\":%.4g,\"median\":%.4g,\"max\":%.4g}", name, v[0], v[n / 2],
                 v[n - 1]);
}

int main(int argc, char **argv)
{
    static double wall[MAX_RUNS], cpu[MAX_RUNS], peak[MAX_RUNS], first[3];
    long n = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
    if (n < 1 || n > MAX_RUNS) {
        (void)fprintf(stderr, "usage: whole RUNS COMMAND ARG...\n");
        return 2;
    }
    int exit = run_once(argv + 2, &first[0], &first[1], &first[2]);
    for (long i = 0; i < n; i++)
        exit |= run_once(argv + 2, &wall[i], &cpu[i], &peak[i]);
    (void)printf("{\"runs\":%ld,\"exit\":%d,", n, exit);
    print("wall_s", wall, (size_t)n);
    (void)printf(",");
    print("cpu_s", cpu, (size_t)n);
    (void)printf(",");
    print("peak_kib", peak, (size_t)n);
    (void)printf("}\n");
    return 0;
}
