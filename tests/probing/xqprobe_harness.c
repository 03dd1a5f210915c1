/* What the tests ask of contrib/xqprobe.c and xqgame.c.
 *
 *     probe   RULES CACHE FILE...   records from stdin: side, 90 piece codes
 *                                   to stdout: 4 int32 each: status, wdl, order, plies; the latter
 *                                   two are 0 where there is a win-draw-loss file alone
 *     held    RULES CACHE FILE...   as probe, with all outcomes in memory, and no other way to them
 *     root    RULES CACHE FILE...   the same records; to stdout one line of text each
 *     filter  RULES CACHE FILE...   records: side, 90 piece codes, the number of moves since, and
 *                                   their squares; to stdout the moves that are left, one line each
 *     outcomes RULES CACHE FILE...  as filter, from outcomes alone: a status, the outcome, moves
 *     threads RULES CACHE FILE...   as probe, from eight threads at once, which must agree; one of
 *                                   two sets has all outcomes in memory
 *     bench   RULES CACHE FILE...   as probe, five times; CPU nanoseconds per probe to stdout
 *     mutants RULES CACHE PATH      from stdin: number of records (int32), the records; then
 *                                   files, each after its length (int32). Every file is written
 *                                   to PATH, added, and all records probed; then the same from
 *                                   memory, which must agree unless PATH is another table's name
 *                                   to stdout: per file 5 int32: the status of adding it, how
 *                                   many answers are errors, how many are others than the first
 *                                   file's; CPU microseconds, and KiB more of memory at the most
 *                                   than before (0 where the system does not say)
 */
#define _POSIX_C_SOURCE 200809L

#include "../../contrib/xqprobe.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SQUARES = 90, RECORD = 91, ANSWER = 4, THREADS = 8 };

typedef struct {
    uint8_t pieces[SQUARES], squares[SQUARES];
    size_t count;
    uint64_t key;
    int side;
} position;

static position parse(const uint8_t *record)
{
    position p = {{0}, {0}, 0, 0, record[0]};
    for (int square = 0; square < SQUARES; square++)
        if (record[1 + square] != 0) {
            p.pieces[p.count] = record[1 + square];
            p.squares[p.count++] = (uint8_t)square;
            p.key += xq_piece_key(record[1 + square]);
        }
    return p;
}

/* Every way to the same answer. */
static void probe_record(const xq_set *set, xq_reader *reader, const uint8_t *record,
                         int32_t *answer)
{
    position p = parse(record);
    xq_value v = {0, 0, 0, 0, XQ_NO_METRIC};
    int wdl = 0, cached = 0;
    int status = xq_probe(reader, p.pieces, p.squares, p.count, p.side, &v);
    int outcome = xq_probe_wdl(reader, p.pieces, p.squares, p.count, p.side, &wdl);
    if ((status != outcome && status != XQ_ERR_MISSING) || (status == XQ_OK && wdl != v.wdl))
        abort();
    int64_t rank = xq_rank(&v);
    if ((rank > 0) - (rank < 0) != v.wdl)
        abort();
    xq_prefetch(reader, xq_find(set, p.key), p.pieces, p.squares, p.count, p.side);
    int third = xq_probe_cached(reader, xq_find(set, p.key), p.pieces, p.squares, p.count, p.side,
                                &cached);
    if (outcome == XQ_OK && (third != XQ_OK || cached != wdl))
        abort();
    answer[0] = outcome;
    answer[1] = wdl;
    answer[2] = (int32_t)v.order;
    answer[3] = (int32_t)v.plies;
}

static void probe_held(const xq_set *set, xq_reader *reader, const uint8_t *record, int32_t *answer)
{
    position p = parse(record);
    int wdl = 0;
    memset(answer, 0, ANSWER * sizeof *answer);
    answer[0] = xq_probe_cached(reader, xq_find(set, p.key), p.pieces, p.squares, p.count, p.side,
                                &wdl);
    answer[1] = wdl;
}

static void print_root(xq_reader *reader, const uint8_t *record)
{
    position p = parse(record);
    size_t moves = 0;
    xq_value v;
    xq_move list[XQ_MAX_MOVES];
    int status = xq_probe_root(reader, p.pieces, p.squares, p.count, p.side, &v, list, &moves);
    if (status != XQ_OK) {
        printf("status %d\n", status);
        return;
    }
    printf("%d %u %lld", v.wdl, (unsigned)v.order, (long long)v.value);
    for (size_t i = 0; i < moves; i++) {
        const xq_move *m = &list[i];
        printf(" %d-%d:%d:%d%d%d:%d,%u,%lld:%d,%u,%u", m->from, m->to, m->status, m->capture,
               m->check, m->best, m->after.wdl, (unsigned)m->after.order,
               (long long)m->after.value, m->worth.wdl, (unsigned)m->worth.order,
               (unsigned)m->worth.plies);
    }
    printf("\n");
}

/* One record of `filter` or `outcomes`; returns where the next one begins. */
static const uint8_t *print_filtered(xq_reader *reader, const uint8_t *record, int outcomes_alone)
{
    position p = parse(record);
    size_t moves = 0, played = record[RECORD];
    xq_step steps[256], fit[XQ_MAX_MOVES];
    xq_move list[XQ_MAX_MOVES];
    int wdl = 0;
    for (size_t i = 0; i < played; i++) {
        steps[i].from = record[RECORD + 1 + 2 * i];
        steps[i].to = record[RECORD + 2 + 2 * i];
    }
    int status = outcomes_alone
                     ? xq_filter_outcomes(reader, p.pieces, p.squares, p.count, p.side, steps, played,
                                          &wdl, fit, &moves)
                     : xq_filter_root(reader, p.pieces, p.squares, p.count, p.side, steps, played,
                                      NULL, list, &moves);
    printf("%d", status);
    if (outcomes_alone)
        printf(" %d", wdl);
    for (size_t i = 0; i < moves && outcomes_alone; i++) {
        list[i].from = fit[i].from;
        list[i].to = fit[i].to;
    }
    for (size_t i = 0; i < moves; i++)
        printf(" %d-%d", list[i].from, list[i].to);
    printf("\n");
    return record + RECORD + 1 + 2 * played;
}

typedef struct {
    const xq_set *set;
    int held;
    xq_reader *reader;
    const uint8_t *records;
    int32_t *answers;
    size_t count;
} job;

static void *run_job(void *argument)
{
    job *j = argument;
    for (size_t i = 0; i < j->count; i++)
        (j->held ? probe_held : probe_record)(j->set, j->reader, j->records + RECORD * i,
                                              j->answers + ANSWER * i);
    return NULL;
}

static uint8_t *read_all(size_t *size)
{
    size_t capacity = 1 << 16, got;
    uint8_t *data = malloc(capacity);
    *size = 0;
    while ((got = fread(data + *size, 1, capacity - *size, stdin)) > 0) {
        *size += got;
        if (*size == capacity)
            data = realloc(data, capacity *= 2);
    }
    return data;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* KiB of memory that this process has held at the most since the last call. */
static int32_t peak_kib(void)
{
    char line[256];
    int32_t kib = 0;
    FILE *status = fopen("/proc/self/status", "r"), *reset;
    if (status == NULL)
        return 0;
    while (fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = atoi(line + 6);
    fclose(status);
    if ((reset = fopen("/proc/self/clear_refs", "w")) != NULL) {
        fputs("5", reset);
        fclose(reset);
    }
    return kib;
}

static void run_mutants(xq_rules rules, size_t cache, const char *path)
{
    int32_t count, length;
    if (fread(&count, sizeof count, 1, stdin) != 1)
        exit(2);
    uint8_t *records = malloc((size_t)count * RECORD);
    if (fread(records, RECORD, (size_t)count, stdin) != (size_t)count)
        exit(2);
    size_t answers_count = (size_t)count * ANSWER;
    int32_t *answers = malloc(2 * answers_count * sizeof *answers), *first = NULL;
    while (fread(&length, sizeof length, 1, stdin) == 1) {
        /* Exactly as long as the file, so that a read beyond its end is noticed. */
        uint8_t *data = malloc((size_t)length);
        if (fread(data, 1, (size_t)length, stdin) != (size_t)length)
            exit(2);
        FILE *file = fopen(path, "wb");
        if (fwrite(data, 1, (size_t)length, file) != (size_t)length || fclose(file) != 0)
            exit(2);
        int32_t result[5] = {0, 0, 0, 0, 0}, status[2];
        peak_kib();
        int32_t before = peak_kib();
        double begun = seconds();
        for (int from_memory = 0; from_memory < 2; from_memory++) {
            xq_set *set = xq_set_new(rules, 0, XQ_DTM);
            xq_reader *reader = xq_reader_new(set, cache);
            int32_t *own = answers + (size_t)from_memory * answers_count;
            status[from_memory] = from_memory ? xq_add_memory(set, data, (size_t)length)
                                              : xq_add_file(set, path);
            for (int32_t i = 0; i < count; i++)
                probe_record(set, reader, records + RECORD * i, own + ANSWER * i);
            xq_reader_free(reader);
            xq_set_free(set);
        }
        result[3] = (int32_t)((seconds() - begun) * 1e6);
        result[4] = peak_kib() - before;
        if (status[0] != XQ_ERR_NAME &&
            (memcmp(answers, answers + answers_count, answers_count * sizeof *answers) != 0 ||
             status[0] != status[1]))
            abort();
        if (first == NULL) {
            first = malloc(answers_count * sizeof *first);
            memcpy(first, answers, answers_count * sizeof *first);
        }
        result[0] = status[0];
        for (size_t i = 0; i < answers_count; i += ANSWER) {
            if (answers[i] != XQ_OK)
                result[1]++;
            else if (memcmp(answers + i, first + i, ANSWER * sizeof *answers) != 0)
                result[2]++;
        }
        fwrite(result, sizeof *result, 5, stdout);
        fflush(stdout); /* So that a crash tells which file it met. */
        free(data);
    }
    free(answers);
    free(first);
    free(records);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    xq_rules rules;
    if (xq_rules_of_name(argv[2], &rules) != XQ_OK)
        return 2;
    size_t cache = (size_t)strtoul(argv[3], NULL, 10), size, count;
    if (strcmp(argv[1], "mutants") == 0) {
        run_mutants(rules, cache, argv[4]);
        return 0;
    }
    int threads = strcmp(argv[1], "threads") == 0 ? THREADS : 1;
    int held = strcmp(argv[1], "held") == 0;
    xq_set *sets[2] = {xq_set_new(rules, 0, XQ_DTM), xq_set_new(rules, 0, XQ_DTM)};
    for (int s = 0; s < 2; s++)
        for (int i = 4; i < argc; i++) {
            int status = xq_add_file(sets[s], argv[i]);
            if (status != XQ_OK) {
                fprintf(stderr, "%s: %s\n", argv[i], xq_status_text(status));
                return 1;
            }
        }
    if ((held || threads > 1) && xq_hold(sets[1], SIZE_MAX) != (int)xq_set_size(sets[1]))
        return 1;
    uint8_t *records = read_all(&size);
    count = size / RECORD;
    job jobs[THREADS];
    for (int i = 0; i < threads; i++) {
        jobs[i].set = sets[(held + i) % 2];
        jobs[i].held = held;
        jobs[i].reader = xq_reader_new(jobs[i].set, cache);
        jobs[i].records = records;
        jobs[i].answers = malloc((count + 1) * ANSWER * sizeof(int32_t));
        jobs[i].count = count;
    }
    if (strcmp(argv[1], "root") == 0) {
        for (size_t i = 0; i < count; i++)
            print_root(jobs[0].reader, records + RECORD * i);
    } else if (strcmp(argv[1], "filter") == 0 || strcmp(argv[1], "outcomes") == 0) {
        for (const uint8_t *at = records; at < records + size;)
            at = print_filtered(jobs[0].reader, at, argv[1][0] == 'o');
    } else if (strcmp(argv[1], "bench") == 0) {
        run_job(&jobs[0]);
        double start = seconds();
        for (int i = 0; i < 5; i++)
            run_job(&jobs[0]);
        /* A record is probed three times: its value, and its outcome in two ways. */
        printf("%.1f\n", (seconds() - start) * 1e9 / 15 / (double)count);
    } else {
        pthread_t handles[THREADS];
        for (int i = 1; i < threads; i++)
            if (pthread_create(&handles[i], NULL, run_job, &jobs[i]) != 0)
                return 2;
        run_job(&jobs[0]);
        for (int i = 1; i < threads; i++) {
            pthread_join(handles[i], NULL);
            if (memcmp(jobs[0].answers, jobs[i].answers, count * ANSWER * sizeof(int32_t)) != 0)
                return 3;
        }
        fwrite(jobs[0].answers, ANSWER * sizeof(int32_t), count, stdout);
    }
    for (int i = 0; i < threads; i++) {
        xq_reader_free(jobs[i].reader);
        free(jobs[i].answers);
    }
    xq_set_free(sets[0]);
    xq_set_free(sets[1]);
    free(records);
    return 0;
}
