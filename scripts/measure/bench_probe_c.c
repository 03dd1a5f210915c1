/* Program of bench_probe_c.py: times of the C reader, in CPU time of one thread.
 *
 *     open RULES DIRECTORY    files of a directory, milliseconds to open all, best of ten
 *     warm RULES BYTES FILE...  nanoseconds: best of ten for xq_find and xq_probe_cached on
 *                             outcomes in memory; the same with xq_prefetch called eight
 *                             positions before, that call included; best of three for one read in
 *                             BYTES bytes, at an address that depends on the read before
 *     cold RULES 0 FILE...    microseconds for xq_probe_wdl with a cache of one block, best of ten
 *
 * warm and cold read positions from stdin, as records of a side and ninety piece codes.
 */
#define _POSIX_C_SOURCE 200809L

#include "../../contrib/xqprobe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SQUARES = 90, RECORD = 91, RUNS = 10, MEN = 16, AHEAD = 8 };

typedef enum { WARM, PREFETCHED, COLD } way;

/* A position as a search has it: lists, and the key that it keeps. */
typedef struct {
    uint8_t pieces[MEN], squares[MEN];
    uint32_t count;
    int side;
    uint64_t key;
} position;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static position *read_positions(size_t *count)
{
    uint8_t record[RECORD];
    size_t capacity = 1024;
    position *list = malloc(capacity * sizeof *list);
    for (*count = 0; fread(record, sizeof record, 1, stdin) == 1; ++*count) {
        if (*count == capacity)
            list = realloc(list, (capacity *= 2) * sizeof *list);
        position *p = &list[*count];
        memset(p, 0, sizeof *p);
        p->side = record[0];
        for (int square = 0; square < SQUARES && p->count < MEN; square++)
            if (record[1 + square] != 0) {
                p->pieces[p->count] = record[1 + square];
                p->squares[p->count++] = (uint8_t)square;
                p->key += xq_piece_key(record[1 + square]);
            }
    }
    return list;
}

static int bench_open(xq_rules rules, const char *directory)
{
    double best = 1e9;
    size_t size = 0;
    for (int run = 0; run < RUNS; run++) {
        double start = seconds();
        xq_set *set = xq_set_new(rules, 0, XQ_DTM);
        if (xq_add_directory(set, directory) < 0)
            return 1;
        double took = seconds() - start;
        best = took < best ? took : best;
        size = xq_set_size(set);
        xq_set_free(set);
    }
    printf("%lu %.2f\n", (unsigned long)size, best * 1e3);
    return 0;
}

/* Nanoseconds of a read whose address depends on the one before. */
static double memory_read(size_t bytes)
{
    size_t count = bytes / sizeof(uint32_t) + 2, reads = 5000000;
    uint32_t *next = malloc(count * sizeof *next);
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < count; i++)
        next[i] = (uint32_t)i;
    for (size_t i = count - 1; i > 0; i--) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        size_t j = (size_t)(state % i); /* one cycle through all of them */
        uint32_t other = next[i];
        next[i] = next[j];
        next[j] = other;
    }
    double best = 1e9;
    uint32_t at = 0;
    for (int run = 0; run < 3; run++) {
        double start = seconds();
        for (size_t i = 0; i < reads; i++)
            at = next[at];
        double took = seconds() - start;
        best = took < best ? took : best;
    }
    free(next);
    return at == UINT32_MAX ? 0 : best * 1e9 / (double)reads;
}

static double probe_all(const xq_set *set, xq_reader *reader, const position *list, size_t count,
                        way how)
{
    long sum = 0;
    double start = seconds();
    for (size_t i = 0; i < count; i++) {
        const position *p = &list[i];
        int wdl = 0, status;
        if (how == PREFETCHED && i + AHEAD < count) {
            const position *next = p + AHEAD;
            xq_prefetch(reader, xq_find(set, next->key), next->pieces, next->squares, next->count,
                        next->side);
        }
        if (how == COLD)
            status = xq_probe_wdl(reader, p->pieces, p->squares, p->count, p->side, &wdl);
        else
            status = xq_probe_cached(reader, xq_find(set, p->key), p->pieces, p->squares, p->count,
                                     p->side, &wdl);
        if (status != XQ_OK)
            exit(1);
        sum += wdl;
    }
    double took = seconds() - start;
    return sum == (long)count + 1 ? 0 : took / (double)count;
}

static double best_of(const xq_set *set, xq_reader *reader, const position *list, size_t count,
                      way how)
{
    double best = 1e9;
    for (int run = 0; run < RUNS; run++) {
        double took = probe_all(set, reader, list, count, how);
        best = took < best ? took : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    size_t bytes = (size_t)strtoul(argv[3], NULL, 10);
    xq_rules rules;
    if (xq_rules_of_name(argv[2], &rules) != XQ_OK)
        return 2;
    if (strcmp(argv[1], "open") == 0)
        return bench_open(rules, argv[3]);
    int cold = strcmp(argv[1], "cold") == 0;
    xq_set *set = xq_set_new(rules, 0, XQ_DTM);
    for (int i = 4; i < argc; i++)
        if (xq_add_file(set, argv[i]) != XQ_OK)
            return 1;
    xq_reader *reader = xq_reader_new(set, 0);
    size_t count;
    position *list = read_positions(&count);
    if (!cold && xq_hold(set, SIZE_MAX) < 0)
        return 1;
    if (cold)
        printf("%.1f\n", best_of(set, reader, list, count, COLD) * 1e6);
    else
        printf("%.1f %.1f %.1f\n", best_of(set, reader, list, count, WARM) * 1e9,
               best_of(set, reader, list, count, PREFETCHED) * 1e9, memory_read(bytes));
    free(list);
    xq_reader_free(reader);
    xq_set_free(set);
    return 0;
}
