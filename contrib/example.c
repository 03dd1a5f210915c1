/* The value of a position and its moves, best first.
 *
 *     cc -std=c99 -O2 example.c xqprobe.c xqgame.c -lzstd -o example
 *     ./example DIRECTORY RULES "4k4/9/9/9/9/9/9/9/9/3K1R3 w"
 *
 * RULES is the rule set of the tables, as in their names.
 */
#include "xqprobe.h"

#include <stdio.h>
#include <string.h>

/* Return whether a text after the side to move is empty, "- -", or "- -" and two counters. The
 * value of a position does not depend on the counters. */
static int may_end_fen(const char *text)
{
    int end = 0;
    sscanf(text, " - - %*[0-9] %*[0-9] %n", &end);
    if (end == 0)
        sscanf(text, " - - %n", &end);
    text += end;
    return text[strspn(text, " ")] == '\0';
}

/* Read a FEN, ten ranks of nine points and the side to move, into two arrays; returns the number of
 * pieces, or -1. */
static int parse_fen(const char *fen, uint8_t *pieces, uint8_t *squares, int *side)
{
    static const char letters[] = "KABRNCPkabrncp";
    int rank = 9, file = 0, count = 0;
    for (; *fen != '\0' && *fen != ' '; fen++) {
        const char *letter = strchr(letters, *fen);
        if (*fen == '/' && file == 9) {
            rank--;
            file = 0;
        } else if (*fen >= '1' && *fen <= '9') {
            file += *fen - '0';
        } else if (letter == NULL || rank < 0 || file > 8 || count == XQ_MAX_PIECES) {
            return -1;
        } else {
            int index = (int)(letter - letters);
            pieces[count] = (uint8_t)(index < 7 ? index + 1 : index - 7 + 1 + XQ_BLACK_PIECE);
            squares[count++] = (uint8_t)(9 * rank + file++);
        }
    }
    if (rank != 0 || file != 9 || fen[0] != ' ' || fen[1] == '\0' || strchr("wrb", fen[1]) == NULL
        || (fen[2] != '\0' && fen[2] != ' ') || !may_end_fen(fen + 2))
        return -1;
    *side = fen[1] == 'b' ? XQ_BLACK : XQ_RED;
    return count;
}

static void print_value(const xq_value *v)
{
    const char *outcome = v->wdl > 0 ? "win" : v->wdl < 0 ? "loss" : "draw";
    printf("%s value %lld order %lu plies %lu", outcome, (long long)v->value,
           (unsigned long)v->order, (unsigned long)v->plies);
}

/* Print what the directory has, unless it has tables of distances and no file was skipped. */
static void report_tables(const xq_set *set, const char *directory)
{
    xq_summary found = xq_summary_of(set);
    int status = XQ_OK;
    const char *skipped = xq_skipped(set, 0, &status);
    if (found.distances > 0 && skipped == NULL)
        return;
    fprintf(stderr, "%s: %lu tables of distances, %lu win-draw-loss files\n", directory,
            (unsigned long)found.distances, (unsigned long)found.outcomes);
    if (skipped != NULL)
        fprintf(stderr, "first file skipped: %s: %s\n", skipped, xq_status_text(status));
}

int main(int argc, char **argv)
{
    uint8_t pieces[XQ_MAX_PIECES], squares[XQ_MAX_PIECES];
    xq_move moves[XQ_MAX_MOVES];
    xq_value value;
    size_t move_count = 0;
    xq_rules rules;
    int side = XQ_RED;
    if (argc != 4 || xq_rules_of_name(argv[2], &rules) != XQ_OK) {
        fprintf(stderr, "usage: %s DIRECTORY RULES FEN, with RULES one of:", argv[0]);
        for (int i = 0; xq_rules_name(i) != NULL; i++)
            fprintf(stderr, " %s", xq_rules_name(i));
        fprintf(stderr, "\n");
        return 2;
    }
    xq_set *set = xq_set_new(rules, 0, XQ_DTM);
    xq_add_directory(set, argv[1]);
    report_tables(set, argv[1]);
    xq_reader *reader = xq_reader_new(set, (size_t)16 << 20);
    int count = parse_fen(argv[3], pieces, squares, &side);
    int status = XQ_ERR_POSITION;
    if (count >= 0)
        status = xq_probe_root(reader, pieces, squares, (size_t)count, side, &value, moves,
                               &move_count);
    if (count < 0) {
        fprintf(stderr, "this is no FEN of ten ranks of nine points, with w or b to move\n");
    } else if (status != XQ_OK) {
        fprintf(stderr, "%s\n", xq_status_text(status));
    } else {
        print_value(&value);
        printf("\n");
        for (size_t i = 0; i < move_count; i++) {
            const xq_move *m = &moves[i];
            printf("%c%d%c%d%c ", 'a' + m->from % 9, m->from / 9, 'a' + m->to % 9, m->to / 9,
                   m->best ? '*' : ' ');
            if (m->status == XQ_OK)
                print_value(&m->worth);
            else
                printf("%s", xq_status_text(m->status));
            printf("\n");
        }
    }
    xq_reader_free(reader);
    xq_set_free(set);
    return status == XQ_OK ? 0 : 1;
}
