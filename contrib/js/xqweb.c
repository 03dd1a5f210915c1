/* The C reader for web pages: functions called by xqprobe.js. MIT licence.
 *
 *     xqprobe.js ---- position, played moves ---->  input
 *                <--- value, moves --------------   output
 *                <--- missing bytes -------------   xq_remote_read, implemented in JavaScript
 *
 * Includes xqgame.c, whose static functions it uses.
 */
#include "../xqgame.c"

#define EXPORTED(name) __attribute__((export_name(#name)))

enum { CACHE_BYTES = 16 << 20 };
/* Numbers of an answer: VALUE_NUMBERS for the position's value, then MOVE_NUMBERS for each move. */
enum { VALUE_NUMBERS = 4, MOVE_NUMBERS = 10 };

static xq_set *set;
static xq_reader *reader;
static uint8_t input[SQUARES + 1]; /* piece codes and the side to move */
static xq_step played[XQ_MAX_PLAYED];
static int32_t output[VALUE_NUMBERS + XQ_MAX_MOVES * MOVE_NUMBERS];
static xq_move found[XQ_MAX_MOVES];

EXPORTED(input) uint8_t *input_address(void) { return input; }
EXPORTED(played) xq_step *played_address(void) { return played; }
EXPORTED(output) int32_t *output_address(void) { return output; }

/* Create an empty set for a rule set, and its reader; called once. */
EXPORTED(start) int start(int rules)
{
    set = xq_set_new((xq_rules)rules, 0, XQ_DTM);
    reader = xq_reader_new(set, CACHE_BYTES);
    return set == NULL ? XQ_ERR_ARGUMENT : reader == NULL ? XQ_ERR_MEMORY : XQ_OK;
}

EXPORTED(add) int add(int file, double size) { return xq_add_remote(set, file, (uint64_t)size); }

EXPORTED(rules) const char *rules_name(int number) { return xq_rules_name(number); }

EXPORTED(text) const char *text(int status) { return xq_status_text(status); }

static int32_t *write_value(const xq_value *value, int32_t *to)
{
    to[0] = value->wdl;
    to[1] = (int32_t)value->order;
    to[2] = (int32_t)value->plies;
    to[3] = (int32_t)value->metric;
    return to + VALUE_NUMBERS;
}

static void write_moves(const xq_value *value, size_t count)
{
    int32_t *to = write_value(value, output);
    for (const xq_move *m = found; m < found + count; m++) {
        const int32_t numbers[] = {m->from, m->to, m->capture, m->check, m->best, m->status};
        memcpy(to, numbers, sizeof numbers);
        to = write_value(&m->worth, to + 6);
    }
}

/* Find the value of the position and, in `found`, its moves, from win-draw-loss tables; returns a status:
 * XQ_OK even if tables after moves are missing. */
static int rank_outcomes(xq_value *value, size_t *count)
{
    uint8_t board[SQUARES];
    xq_step steps[XQ_MAX_MOVES];
    int side = input[SQUARES], status = XQ_OK;
    memcpy(board, input, SQUARES);
    if (in_check(board, 1 - side))
        return XQ_ERR_ILLEGAL;
    *value = make_value(0, 0, 0, XQ_NO_METRIC);
    status = probe_outcome(reader, board, side, &value->wdl);
    *count = generate_legal(board, side, steps);
    for (size_t i = 0; i < *count; i++) {
        xq_move *m = &found[i];
        memset(m, 0, sizeof *m);
        m->from = steps[i].from;
        m->to = steps[i].to;
        uint8_t taken = make_step(board, steps[i]);
        m->capture = taken != 0;
        m->check = in_check(board, 1 - side);
        m->after = m->worth = make_value(0, 0, 0, XQ_NO_METRIC);
        m->status = probe_outcome(reader, board, 1 - side, &m->after.wdl);
        m->worth.wdl = -m->after.wdl;
        unmake_step(board, steps[i], taken);
        if (m->status != XQ_OK && m->status != XQ_ERR_MISSING)
            status = m->status;
    }
    qsort(found, *count, sizeof *found, compare_moves);
    mark_best(value, found, *count);
    return status;
}

/* Write the value and all moves, best first, to `output`; returns the number of moves, or an error. */
EXPORTED(moves) int moves(void)
{
    uint8_t pieces[XQ_MAX_PIECES], squares[XQ_MAX_PIECES];
    size_t men = list_pieces(input, pieces, squares), count = 0;
    xq_value value;
    int status = xq_probe_root(reader, pieces, squares, men, input[SQUARES], &value, found, &count);
    if (status == XQ_ERR_MISSING)
        status = rank_outcomes(&value, &count);
    if (status != XQ_OK)
        return status;
    write_moves(&value, count);
    return (int)count;
}

/* Write the value alone to `output`; returns a status. */
EXPORTED(value) int value_alone(void)
{
    uint8_t pieces[XQ_MAX_PIECES], squares[XQ_MAX_PIECES], board[SQUARES];
    size_t men = list_pieces(input, pieces, squares);
    xq_value value = make_value(0, 0, 0, XQ_NO_METRIC);
    int side = input[SQUARES];
    int status = xq_probe(reader, pieces, squares, men, side, &value);
    if (status == XQ_ERR_MISSING)
        status = xq_probe_wdl(reader, pieces, squares, men, side, &value.wdl);
    memcpy(board, input, SQUARES);
    if (status == XQ_OK && in_check(board, 1 - side))
        status = XQ_ERR_ILLEGAL;
    write_value(&value, output);
    return status;
}

/* Write the squares of the move to play, after `count` moves from the position, to `output`; returns 1,
 * 0 if there is no move, or an error. */
EXPORTED(best) int best(int count)
{
    uint8_t pieces[XQ_MAX_PIECES], squares[XQ_MAX_PIECES];
    xq_step steps[XQ_MAX_MOVES] = {{0, 0}};
    size_t men = list_pieces(input, pieces, squares), left = 0;
    int side = input[SQUARES];
    int status = xq_filter_root(reader, pieces, squares, men, side, played, (size_t)count, NULL, found,
                                &left);
    if (status == XQ_OK && left > 0)
        steps[0] = step_of(&found[0]);
    if (status == XQ_ERR_MISSING)
        status = xq_filter_outcomes(reader, pieces, squares, men, side, played, (size_t)count, NULL,
                                    steps, &left);
    output[0] = steps[0].from;
    output[1] = steps[0].to;
    return status == XQ_OK ? left > 0 : status;
}
