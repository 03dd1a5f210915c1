/* xqgame: ranking and filtering of moves at the root of a search, in C99. MIT licence. See xqprobe.h.
 *
 *     board       moves, checks                          pieces on squares
 *     offences    checks, and attacks that are new       docs/referee.md, section 2, points 1 to 6
 *     ranking     every move and its value               as tbgen.open_tablebase ranks them
 *     filter      the moves that keep the result         values, and the history of the game
 *     outcomes    the same from win-draw-loss files      outcomes of the moves, and the history
 *
 * There is no referee here: wherever possible, the filter chooses moves after which no repetition
 * needs a verdict.
 */
#include "xqinternal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* -- the board: moves and checks ----------------------------------------------------------- */

static const int DIRECTION[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}}; /* rank, file */
static const int DIAGONAL[4][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};

static int on_board(int rank, int file) { return rank >= 0 && rank < 10 && file >= 0 && file < 9; }

static int has_crossed(int side, int rank) { return side == XQ_RED ? rank >= 5 : rank <= 4; }

static size_t add_step(const uint8_t *board, int side, int from, int to, xq_step *steps, size_t count)
{
    if (count < XQ_MAX_MOVES && (board[to] == 0 || side_of(board[to]) != side)) {
        steps[count].from = (uint8_t)from;
        steps[count].to = (uint8_t)to;
        count++;
    }
    return count;
}

/* Moves along ranks and files, any distance. A capture jumps over `mounts` pieces: 0 for a rook, 1 for a
 * cannon. */
static size_t slide(const uint8_t *board, int from, int mounts, xq_step *steps, size_t count)
{
    for (int d = 0; d < 4; d++) {
        int rank = from / 9, file = from % 9, seen = 0;
        for (;;) {
            rank += DIRECTION[d][0];
            file += DIRECTION[d][1];
            if (!on_board(rank, file))
                break;
            int to = 9 * rank + file;
            if (board[to] == 0) {
                if (seen == 0)
                    count = add_step(board, side_of(board[from]), from, to, steps, count);
            } else if (seen++ == mounts) {
                count = add_step(board, side_of(board[from]), from, to, steps, count);
                break;
            }
        }
    }
    return count;
}

/* Moves of a knight; a piece beside it, in the direction of the longer leg, blocks two of them. */
static size_t leap(const uint8_t *board, int from, xq_step *steps, size_t count)
{
    int rank = from / 9, file = from % 9;
    for (int leg = 0; leg < 4; leg++) {
        int r = DIRECTION[leg][0], f = DIRECTION[leg][1];
        if (!on_board(rank + r, file + f) || board[from + 9 * r + f] != 0)
            continue;
        for (int turn = -1; turn <= 1; turn += 2) {
            int to_rank = rank + 2 * r + turn * (r == 0), to_file = file + 2 * f + turn * (f == 0);
            if (on_board(to_rank, to_file))
                count = add_step(board, side_of(board[from]), from, 9 * to_rank + to_file, steps,
                                 count);
        }
    }
    return count;
}

/* Steps of kings, advisors, elephants and pawns, inside their areas. */
static size_t walk(const uint8_t *board, int from, xq_step *steps, size_t count)
{
    int side = side_of(board[from]), kind = kind_of(board[from]);
    int rank = from / 9, file = from % 9;
    int forward = side == XQ_RED ? 1 : -1, crossed = has_crossed(side, rank);
    int diagonal = kind == ADVISOR || kind == ELEPHANT, length = kind == ELEPHANT ? 2 : 1;
    for (int d = 0; d < 4; d++) {
        int r = diagonal ? DIAGONAL[d][0] : DIRECTION[d][0];
        int f = diagonal ? DIAGONAL[d][1] : DIRECTION[d][1];
        int to = from + length * (9 * r + f);
        if (!on_board(rank + length * r, file + length * f) ||
            !xq_may_stand(board[from], to))
            continue;
        if (kind == ELEPHANT && board[from + 9 * r + f] != 0)
            continue;
        if (kind == PAWN && r != forward && (r != 0 || !crossed))
            continue;
        count = add_step(board, side, from, to, steps, count);
    }
    return count;
}

/* Pseudo-legal moves: the mover's king may be left in check. */
static size_t generate(const uint8_t *board, int side, xq_step *steps)
{
    size_t count = 0;
    for (int from = 0; from < SQUARES; from++) {
        if (board[from] == 0 || side_of(board[from]) != side)
            continue;
        switch (kind_of(board[from])) {
        case ROOK:
            count = slide(board, from, 0, steps, count);
            break;
        case CANNON:
            count = slide(board, from, 1, steps, count);
            break;
        case KNIGHT:
            count = leap(board, from, steps, count);
            break;
        default:
            count = walk(board, from, steps, count);
        }
    }
    return count;
}

static int find_king(const uint8_t *board, int side)
{
    int square = 0;
    while (square < SQUARES - 1 && board[square] != 8 * side + XQ_KING)
        square++;
    return square;
}

/* Number of pieces between two squares of a line; -1 if they are not on one. */
static int pieces_between(const uint8_t *board, int from, int to)
{
    int low = from < to ? from : to, high = from < to ? to : from, count = 0;
    int step = low % 9 == high % 9 ? 9 : low / 9 == high / 9 ? 1 : 0;
    if (step == 0 || low == high)
        return -1;
    for (int square = low + step; square < high; square += step)
        count += board[square] != 0;
    return count;
}

/* Return whether the piece on `from` attacks the square `to`, occupied or not; facing kings do not. */
static int attacks(const uint8_t *board, int from, int to)
{
    int side = side_of(board[from]), rank = to / 9 - from / 9, file = to % 9 - from % 9;
    int ranks = abs(rank), files = abs(file);
    switch (kind_of(board[from])) {
    case KING:
        return ranks + files == 1 && xq_may_stand(board[from], to);
    case ADVISOR:
        return ranks == 1 && files == 1 && xq_may_stand(board[from], to);
    case ELEPHANT:
        return ranks == 2 && files == 2 && board[(from + to) / 2] == 0 &&
               xq_may_stand(board[from], to);
    case ROOK:
        return pieces_between(board, from, to) == 0;
    case CANNON:
        return pieces_between(board, from, to) == 1;
    case KNIGHT:
        return (ranks == 2 && files == 1 && board[from + 9 * (rank / 2)] == 0) ||
               (ranks == 1 && files == 2 && board[from + file / 2] == 0);
    default:
        return (files == 0 && rank == (side == XQ_RED ? 1 : -1)) ||
               (ranks == 0 && files == 1 && has_crossed(side, from / 9));
    }
}

/* Return whether a piece attacks the enemy's king; a king attacks by facing it. */
static int hits_king(const uint8_t *board, int from, int king)
{
    if (kind_of(board[from]) == KING)
        return from % 9 == king % 9 && pieces_between(board, from, king) == 0;
    return attacks(board, from, king);
}

/* Return whether a side's king is attacked, facing kings included. */
static int in_check(const uint8_t *board, int side)
{
    int king = find_king(board, side);
    for (int from = 0; from < SQUARES; from++)
        if (board[from] != 0 && side_of(board[from]) != side && hits_king(board, from, king))
            return 1;
    return 0;
}

/* Make a move, and return the captured piece. */
static uint8_t make_step(uint8_t *board, xq_step s)
{
    uint8_t taken = board[s.to];
    board[s.to] = board[s.from];
    board[s.from] = 0;
    return taken;
}

static void unmake_step(uint8_t *board, xq_step s, uint8_t taken)
{
    board[s.from] = board[s.to];
    board[s.to] = taken;
}

/* Return whether a side's king is safe after a move of that side. */
static int is_safe_after(uint8_t *board, int side, xq_step s)
{
    uint8_t taken = make_step(board, s);
    int safe = !in_check(board, side);
    unmake_step(board, s, taken);
    return safe;
}

/* The legal moves of a side; the board is restored. */
static size_t generate_legal(uint8_t *board, int side, xq_step *steps)
{
    size_t count = generate(board, side, steps), legal = 0;
    for (size_t i = 0; i < count; i++)
        if (is_safe_after(board, side, steps[i]))
            steps[legal++] = steps[i];
    return legal;
}

/* -- offences ------------------------------------------------------------------------------ */

/* Q is the attacker, V the victim, as in docs/referee.md, section 2. */

static xq_step take(int attacker, int victim)
{
    xq_step s = {(uint8_t)attacker, (uint8_t)victim};
    return s;
}

/* Return whether the capture Q x V leaves only attacks on the king that stood before it (point 3). */
static int is_legal_capture(uint8_t *board, int attacker, int victim)
{
    int side = side_of(board[attacker]), legal = 1, king = find_king(board, side);
    if (is_safe_after(board, side, take(attacker, victim)))
        return 1;
    if (!in_check(board, side))
        return 0;
    for (int from = 0; from < SQUARES && legal; from++) {
        if (board[from] == 0 || side_of(board[from]) == side || from == victim)
            continue;
        int stands = hits_king(board, from, king);
        uint8_t taken = make_step(board, take(attacker, victim));
        legal = stands || !hits_king(board, from, king);
        unmake_step(board, take(attacker, victim), taken);
    }
    return legal;
}

/* Return whether a piece of V's side can legally recapture after Q x V (point 4b). With `is_before`, on
 * the board before a move (point 6), a rook or cannon must also protect V while Q is on its square. */
static int has_root(uint8_t *board, int attacker, int victim, int is_before)
{
    int side = side_of(board[victim]), found = 0;
    uint8_t taken = make_step(board, take(attacker, victim));
    for (int root = 0; root < SQUARES && !found; root++) {
        if (board[root] == 0 || side_of(board[root]) != side || !attacks(board, root, victim) ||
            !is_safe_after(board, side, take(root, victim)))
            continue;
        found = 1;
        if (is_before && (kind_of(board[root]) == ROOK || kind_of(board[root]) == CANNON)) {
            unmake_step(board, take(attacker, victim), taken);
            found = attacks(board, root, victim);
            taken = make_step(board, take(attacker, victim));
        }
    }
    unmake_step(board, take(attacker, victim), taken);
    return found;
}

static int has_bit(uint64_t chases, int bit) { return (int)(chases >> bit & 1); }

/* Return whether two squares have pieces Q and V that satisfy points 1 to 5; `is_before` as above. */
static int threatens(uint8_t *board, int attacker, int victim, int is_before, uint64_t chases)
{
    uint8_t q = board[attacker], v = board[victim];
    if (q == 0 || v == 0 || side_of(q) == side_of(v) || !has_bit(chases, CHASERS + kind_of(q)) ||
        !has_bit(chases, CHASED + kind_of(v)) ||
        (kind_of(v) == PAWN && !(chases & PAWNS_AT_HOME) &&
         !has_crossed(side_of(v), victim / 9)) ||
        !attacks(board, attacker, victim))
        return 0;
    if (!(chases & EVEN_EXCHANGES) && kind_of(q) == kind_of(v) &&
        attacks(board, victim, attacker) &&
        is_safe_after(board, side_of(v), take(victim, attacker)))
        return 0;
    return is_legal_capture(board, attacker, victim) &&
           (has_bit(chases, PROTECTED + 6 * (kind_of(q) - 1) + kind_of(v) - 1) ||
            !has_root(board, attacker, victim, is_before));
}

/* Return whether the move `s` has made the attack Q x V (point 6): it stands on the board `after`, but
 * did not on the board `before`. With NEW_BY_VICTIM, no piece may have attacked V before. */
static int is_new_attack(uint8_t *before, uint8_t *after, xq_step s, int attacker, int victim,
                         uint64_t chases)
{
    if (!threatens(after, attacker, victim, 0, chases))
        return 0;
    if (!(chases & NEW_BY_VICTIM))
        return !threatens(before, attacker == s.to ? s.from : attacker, victim, 1, chases);
    for (int q = 0; q < SQUARES; q++)
        if (threatens(before, q, victim, 0, chases))
            return 0;
    return 1;
}

/* The offence of a move: none, new attacks (points 1 to 6), or a check. Whether an attack is a chase
 * depends on the reply (point 7). */
typedef enum { IDLE, ATTACK, CHECK } xq_offence;

static xq_offence offence_of(uint8_t *board, int side, xq_step s, xq_rules rules)
{
    uint8_t taken = make_step(board, s), before[SQUARES];
    xq_offences offences = xqinternal_offences(rules);
    xq_offence found = IDLE;
    if (offences.checks && in_check(board, 1 - side))
        found = CHECK;
    if (found == IDLE && offences.chases != 0) {
        memcpy(before, board, sizeof before);
        unmake_step(before, s, taken);
        for (int q = 0; q < SQUARES && found == IDLE; q++)
            for (int v = 0; v < SQUARES && found == IDLE; v++)
                if (board[q] != 0 && side_of(board[q]) == side &&
                    is_new_attack(before, board, s, q, v, offences.chases))
                    found = ATTACK;
    }
    unmake_step(board, s, taken);
    return found;
}

/* Return whether a move is a capture or a pawn's advance: no repetition reaches back beyond it. */
static int is_irreversible(const uint8_t *board, xq_step s)
{
    return board[s.to] != 0 || (kind_of(board[s.from]) == PAWN && s.from % 9 == s.to % 9);
}

/* -- ranking moves ------------------------------------------------------------------------- */

static int compare(int64_t a, int64_t b) { return (a > b) - (a < b); }

/* Compare values of one side: negative if it prefers `a` to `b`, positive if `b` to `a`; unknown values
 * are between draws and losses. */
static int compare_values(const xq_value *a, int a_known, const xq_value *b, int b_known)
{
    int rank_a = a_known ? (a->wdl < 0 ? 3 : 1 - a->wdl) : 2;
    int rank_b = b_known ? (b->wdl < 0 ? 3 : 1 - b->wdl) : 2;
    if (rank_a != rank_b)
        return compare(rank_a, rank_b);
    int sign = rank_a == 3 ? -1 : 1;
    int by_order = compare(a->order, b->order);
    return sign * (by_order != 0 ? by_order : compare(a->plies, b->plies));
}

static xq_step step_of(const xq_move *m)
{
    xq_step s = {m->from, m->to};
    return s;
}

static int ends_game(const xq_move *m)
{
    return m->status == XQ_OK && m->after.wdl < 0 && m->after.order == 0 && m->after.plies == 0;
}

/* Sort key in the order of the moves' texts ("a0a1"): file before rank. */
static int text_key(const xq_move *m)
{
    return ((m->from % 9 * 10 + m->from / 9) * 9 + m->to % 9) * 10 + m->to / 9;
}

static int compare_moves(const void *first, const void *second)
{
    const xq_move *a = (const xq_move *)first, *b = (const xq_move *)second;
    int known_a = a->status == XQ_OK, known_b = b->status == XQ_OK;
    int by_worth = compare_values(&a->worth, known_a, &b->worth, known_b);
    if (by_worth != 0)
        return by_worth;
    if (ends_game(a) != ends_game(b))
        return ends_game(b) - ends_game(a);
    if (a->capture != b->capture)
        return b->capture - a->capture;
    xq_value after_a = a->after, after_b = b->after;
    after_a.wdl = -after_a.wdl;
    after_b.wdl = -after_b.wdl;
    int by_after = compare_values(&after_a, known_a, &after_b, known_b);
    return by_after != 0 ? by_after : compare(text_key(a), text_key(b));
}

static xq_value worth_of(const xq_value *after, int converts, xq_metric metric)
{
    if (after->wdl == 0)
        return make_value(0, 0, 0, metric);
    if (converts)
        return make_value(-after->wdl, 0, after->wdl < 0 ? 1 : 2, metric);
    return make_value(-after->wdl, after->order, after->plies + 1, metric);
}

static int is_direct_win(const xq_value *v) { return v->wdl > 0 && v->order > 0 && v->plies == 0; }

/* Mark the best of sorted moves: the known ones of the highest worth, if all are known or this worth is
 * the value of the root; else the unknown one, if there is only one (docs/values.md, "Best moves"). */
static void mark_best(const xq_value *root, xq_move *moves, size_t count)
{
    xq_value value = is_direct_win(root) ? make_value(1, root->order, 2, root->metric) : *root;
    size_t unknown = 0, first = 0;
    for (size_t i = 0; i < count; i++)
        unknown += moves[i].status != XQ_OK;
    while (first < count && moves[first].status != XQ_OK)
        first++;
    const xq_value *worth = &moves[first].worth;
    int reached = first < count && (unknown == 0 || compare_values(worth, 1, &value, 1) <= 0);
    for (size_t i = 0; i < count; i++)
        moves[i].best = moves[i].status != XQ_OK
                            ? !reached && unknown == 1
                            : reached && compare_values(&moves[i].worth, 1, worth, 1) == 0;
}

/* The pieces of a board as two arrays; returns their number. */
static size_t list_pieces(const uint8_t *board, uint8_t *pieces, uint8_t *squares)
{
    size_t count = 0;
    for (int square = 0; square < SQUARES && count < XQ_MAX_PIECES; square++)
        if (board[square] != 0) {
            pieces[count] = board[square];
            squares[count++] = (uint8_t)square;
        }
    return count;
}

/* The value of the position on a board. A side without a legal move has lost, even if the table is
 * missing. */
static int probe_board(xq_reader *reader, uint8_t *board, int side, xq_value *value)
{
    uint8_t pieces[XQ_MAX_PIECES], squares[XQ_MAX_PIECES];
    xq_step steps[XQ_MAX_MOVES];
    size_t count = list_pieces(board, pieces, squares);
    int status = xq_probe(reader, pieces, squares, count, side, value);
    if (status == XQ_ERR_MISSING && generate_legal(board, side, steps) == 0) {
        *value = make_value(-1, 0, 0, XQ_NO_METRIC);
        return XQ_OK;
    }
    return status;
}

/* Probe the position after a move, and fill in `m`; returns XQ_OK also if its table is missing. */
static int probe_step(xq_reader *reader, uint8_t *board, int side, xq_step s, xq_metric root_metric,
                      xq_move *m)
{
    uint8_t taken = make_step(board, s);
    memset(m, 0, sizeof *m);
    m->from = s.from;
    m->to = s.to;
    m->capture = taken != 0;
    m->check = in_check(board, 1 - side);
    m->status = probe_board(reader, board, 1 - side, &m->after);
    unmake_step(board, s, taken);
    if (m->status == XQ_OK)
        m->worth = worth_of(&m->after, m->capture && root_metric == XQ_DTC, root_metric);
    else
        m->after = m->worth = make_value(0, 0, 0, XQ_NO_METRIC);
    return m->status == XQ_ERR_MISSING ? XQ_OK : m->status;
}

/* Set up a board; an error for an invalid or illegal position. */
static int set_board(const xq_reader *reader, const uint8_t *pieces, const uint8_t *squares, size_t count,
                     int side, uint8_t *board)
{
    int status = xqinternal_placement(reader, pieces, squares, count, side);
    if (status != XQ_OK)
        return status;
    memset(board, 0, SQUARES);
    for (size_t i = 0; i < count; i++)
        board[squares[i]] = pieces[i];
    return in_check(board, 1 - side) ? XQ_ERR_ILLEGAL : XQ_OK;
}

int xq_legal_moves(const xq_reader *reader, const uint8_t *pieces, const uint8_t *squares,
                   size_t count, int side, xq_step moves[XQ_MAX_MOVES], size_t *move_count)
{
    uint8_t board[SQUARES];
    if (moves == NULL || move_count == NULL)
        return XQ_ERR_ARGUMENT;
    *move_count = 0;
    int status = set_board(reader, pieces, squares, count, side, board);
    if (status == XQ_OK)
        *move_count = generate_legal(board, side, moves);
    return status;
}

/* The value of the position on a board, and its moves, best first. */
static int rank_moves(xq_reader *reader, uint8_t *board, int side, xq_value *root, xq_move *moves,
                      size_t *count)
{
    xq_step steps[XQ_MAX_MOVES];
    int status = probe_board(reader, board, side, root);
    if (status != XQ_OK)
        return status;
    size_t legal = generate_legal(board, side, steps);
    for (size_t i = 0; i < legal; i++) {
        int found = probe_step(reader, board, side, steps[i], root->metric, &moves[i]);
        if (found != XQ_OK && found != XQ_ERR_COLD)
            return found;
        if (found != XQ_OK)
            status = found; /* Probe the others, too: all missing bytes load at once. */
    }
    if (status != XQ_OK)
        return status;
    qsort(moves, legal, sizeof *moves, compare_moves);
    mark_best(root, moves, legal);
    *count = legal;
    return XQ_OK;
}

int xq_probe_root(xq_reader *reader, const uint8_t *pieces, const uint8_t *squares, size_t count,
                  int side, xq_value *value, xq_move moves[XQ_MAX_MOVES], size_t *move_count)
{
    uint8_t board[SQUARES];
    xq_value root;
    if (moves == NULL || move_count == NULL)
        return XQ_ERR_ARGUMENT;
    *move_count = 0;
    int status = set_board(reader, pieces, squares, count, side, board);
    if (status == XQ_OK)
        status = rank_moves(reader, board, side, &root, moves, move_count);
    if (status == XQ_OK && value != NULL)
        *value = root;
    return status;
}

/* -- the filter ---------------------------------------------------------------------------- */

enum { MAX_DEPTH = 16, MAX_NODES = 4000 };

/* State of a search for an idle move (`is_idle`), in positions with the value of the root. */
typedef struct {
    xq_reader *reader;
    xq_rules rules;
    xq_value root;
    int nodes;  /* number of positions that may still be searched */
    int status; /* the first error ends the search */
} xq_quest;

static int can_rest(xq_quest *q, uint8_t *board, int side, int depth);

/* Return whether the position after a reply has the value of the root; a better one needs no idle move.
 * After an error, sets `status` and returns 0. */
static int keeps_value(xq_quest *q, uint8_t *board, int side)
{
    xq_value v;
    int status = probe_board(q->reader, board, side, &v);
    if (status != XQ_OK) {
        q->status = status;
        return 0;
    }
    return q->root.wdl == 0 ? v.wdl == 0 : is_direct_win(&v) && v.order == q->root.order;
}

/* Return whether a move is irreversible, or makes neither a check nor a new attack. */
static int is_idle(uint8_t *board, int side, xq_step s, xq_rules rules)
{
    return is_irreversible(board, s) || offence_of(board, side, s, rules) == IDLE;
}

/* Return whether the side that makes a move can force an idle move within `depth` more moves, whatever
 * the replies. After a reply that is irreversible or gives up the value, no idle move is needed. */
static int rests_after(xq_quest *q, uint8_t *board, int side, xq_step s, int depth)
{
    xq_step replies[XQ_MAX_MOVES];
    uint8_t taken = make_step(board, s);
    size_t count = generate_legal(board, 1 - side, replies);
    int rests = 1;
    for (size_t i = 0; i < count && rests; i++) {
        int final = is_irreversible(board, replies[i]);
        uint8_t answer = make_step(board, replies[i]);
        if (!final && keeps_value(q, board, side))
            rests = can_rest(q, board, side, depth);
        unmake_step(board, replies[i], answer);
    }
    unmake_step(board, s, taken);
    return rests && q->status == XQ_OK;
}

/* Return whether the side to move can force an idle move within `depth` moves of its own. */
static int can_rest(xq_quest *q, uint8_t *board, int side, int depth)
{
    xq_move moves[XQ_MAX_MOVES];
    xq_value value;
    size_t count = 0;
    if (q->nodes-- <= 0 || q->status != XQ_OK)
        return 0;
    q->status = rank_moves(q->reader, board, side, &value, moves, &count);
    for (int sought = 0; sought < (depth > 1 ? 2 : 1); sought++)
        for (size_t i = 0; i < count && q->status == XQ_OK; i++)
            if (moves[i].best && (sought == 0 ? is_idle(board, side, step_of(&moves[i]), q->rules)
                                              : rests_after(q, board, side, step_of(&moves[i]),
                                                            depth - 1)))
                return 1;
    return 0;
}

/* The boards of a game, one after another. `first` is the number of the one after the last irreversible
 * move, `last` that of the present one. */
typedef struct {
    uint8_t *boards;
    size_t first, last;
    int side; /* to move on the last board */
} xq_record;

/* Number of occurrences in the game of a board that arises `plies` plies after the game's last one. */
static int occurrences(const xq_record *game, const uint8_t *board, size_t plies)
{
    int count = 0;
    /* The side to move is the same on every second board. */
    for (size_t n = game->first; n <= game->last; n++)
        if ((game->last - n + plies) % 2 == 0)
            count += memcmp(game->boards + SQUARES * n, board, SQUARES) == 0;
    return count;
}

static int occurrences_after(const xq_record *game, uint8_t *board, xq_step s)
{
    uint8_t taken = make_step(board, s);
    int count = occurrences(game, board, 1);
    unmake_step(board, s, taken);
    return count;
}

/* Return whether neither a move nor a reply to it repeats a position. */
static int is_fresh(const xq_record *game, uint8_t *board, xq_step s)
{
    xq_step replies[XQ_MAX_MOVES];
    uint8_t taken = make_step(board, s);
    int fresh = occurrences(game, board, 1) == 0;
    size_t count = generate_legal(board, 1 - game->side, replies);
    for (size_t i = 0; i < count && fresh; i++) {
        uint8_t answer = make_step(board, replies[i]);
        fresh = occurrences(game, board, 2) == 0;
        unmake_step(board, replies[i], answer);
    }
    unmake_step(board, s, taken);
    return fresh;
}

/* Set `keep` to the best moves that lead soonest to an idle move, and `*kept` to their number, which is
 * 0 if none is found. */
static void keep_soonest(xq_quest *q, uint8_t *board, const xq_record *game, const xq_move *moves,
                         size_t count, uint8_t *keep, size_t *kept)
{
    for (int depth = 0; depth < MAX_DEPTH && *kept == 0 && q->nodes > 0; depth++)
        for (size_t i = 0; i < count && q->status == XQ_OK; i++) {
            xq_step s = step_of(&moves[i]);
            if (!moves[i].best)
                continue;
            keep[i] = (uint8_t)(depth == 0 ? is_idle(board, game->side, s, q->rules)
                                           : rests_after(q, board, game->side, s, depth));
            *kept += keep[i];
        }
}

/* Keep also the other drawing moves that are fresh (`is_fresh`), and after which every reply allows an
 * idle move at once. */
static void keep_fresh(xq_quest *q, uint8_t *board, const xq_record *game, const xq_move *moves,
                       size_t count, uint8_t *keep)
{
    for (size_t i = 0; i < count && q->status == XQ_OK; i++)
        if (moves[i].best && !keep[i])
            keep[i] = (uint8_t)(is_fresh(game, board, step_of(&moves[i])) &&
                                rests_after(q, board, game->side, step_of(&moves[i]), 1));
}

/* Keep the best moves that repeat a position least often; of these the ones with the least offence. */
static void keep_least(xq_quest *q, uint8_t *board, const xq_record *game, const xq_move *moves,
                       size_t count, uint8_t *keep)
{
    int least = -1;
    for (int marking = 0; marking < 2; marking++)
        for (size_t i = 0; i < count; i++) {
            if (!moves[i].best)
                continue;
            xq_step s = step_of(&moves[i]);
            int cost = occurrences_after(game, board, s) * (CHECK + 1) +
                       (int)offence_of(board, game->side, s, q->rules);
            if (marking)
                keep[i] = cost == least;
            else if (least < 0 || cost < least)
                least = cost;
        }
}

/* Set `keep` to the best of the winning moves that are fresh (`is_fresh`); without any, it is unchanged. */
static void keep_new_wins(uint8_t *board, const xq_record *game, const xq_move *moves, size_t count,
                          uint8_t *keep)
{
    uint8_t fresh[XQ_MAX_MOVES] = {0};
    const xq_value *soonest = NULL;
    for (size_t i = 0; i < count && moves[i].worth.wdl > 0; i++) {
        if (soonest != NULL && compare_values(&moves[i].worth, 1, soonest, 1) != 0)
            break;
        fresh[i] = (uint8_t)is_fresh(game, board, step_of(&moves[i]));
        if (fresh[i])
            soonest = &moves[i].worth;
    }
    if (soonest != NULL)
        memcpy(keep, fresh, count);
}

/* Play the moves of a game; XQ_ERR_ARGUMENT for one that is not legal. */
static int replay(xq_record *game, int side, const xq_step *played, size_t count)
{
    for (size_t n = 0; n < count; n++, side = 1 - side) {
        xq_step legal[XQ_MAX_MOVES];
        uint8_t *board = game->boards + SQUARES * (n + 1);
        memcpy(board, board - SQUARES, SQUARES);
        size_t moves = generate_legal(board, side, legal), i = 0;
        while (i < moves && (legal[i].from != played[n].from || legal[i].to != played[n].to))
            i++;
        if (i == moves)
            return XQ_ERR_ARGUMENT;
        if (is_irreversible(board, played[n]))
            game->first = n + 1;
        make_step(board, played[n]);
    }
    game->last = count;
    game->side = side;
    return XQ_OK;
}

/* Keep the moves that `xq_filter_root` lists at the end of a game. */
static int filter(xq_reader *reader, const xq_record *game, xq_value *value, xq_move *moves,
                  size_t *count)
{
    /* A copy, since moves are tried on it, while the record is compared with the results. */
    uint8_t board[SQUARES], keep[XQ_MAX_MOVES];
    memcpy(board, game->boards + SQUARES * game->last, SQUARES);
    xq_quest q = {reader, xqinternal_rules(reader), {0, 0, 0, 0, XQ_NO_METRIC}, MAX_NODES, XQ_OK};
    size_t kept = 0, all = 0, best = 0;
    int status = rank_moves(reader, board, game->side, &q.root, moves, &all);
    if (status != XQ_OK)
        return status;
    *value = q.root;
    for (size_t i = 0; i < all; i++)
        best += keep[i] = (uint8_t)moves[i].best;
    if (best == 0 && all > 0)
        return XQ_ERR_MISSING;
    if (q.root.wdl == 0 || is_direct_win(&q.root)) {
        keep_soonest(&q, board, game, moves, all, keep, &kept);
        if (kept == 0 && q.status == XQ_OK)
            keep_least(&q, board, game, moves, all, keep);
        else if (q.root.wdl == 0 && q.status == XQ_OK)
            keep_fresh(&q, board, game, moves, all, keep);
    } else if (all > 0 && moves[0].best) {
        keep_new_wins(board, game, moves, all, keep);
    }
    for (size_t i = 0; i < all; i++)
        if (keep[i])
            moves[(*count)++] = moves[i];
    return q.status;
}

/* Replay a game from its start; the caller frees `boards`, also after an error. */
static int start_game(xq_reader *reader, const uint8_t *pieces, const uint8_t *squares, size_t count,
                      int side, const xq_step *played, size_t played_count, xq_record *game)
{
    memset(game, 0, sizeof *game);
    if ((played == NULL && played_count > 0) || played_count > XQ_MAX_PLAYED)
        return XQ_ERR_ARGUMENT;
    game->boards = (uint8_t *)malloc(SQUARES * (played_count + 1));
    if (game->boards == NULL)
        return XQ_ERR_MEMORY;
    int status = set_board(reader, pieces, squares, count, side, game->boards);
    return status == XQ_OK ? replay(game, side, played, played_count) : status;
}

int xq_filter_root(xq_reader *reader, const uint8_t *pieces, const uint8_t *squares, size_t count,
                   int side, const xq_step *played, size_t played_count, xq_value *value,
                   xq_move moves[XQ_MAX_MOVES], size_t *move_count)
{
    xq_value root;
    if (moves == NULL || move_count == NULL)
        return XQ_ERR_ARGUMENT;
    xq_record game;
    *move_count = 0;
    int status =
        start_game(reader, pieces, squares, count, side, played, played_count, &game);
    if (status == XQ_OK)
        status = filter(reader, &game, &root, moves, move_count);
    if (status == XQ_OK && value != NULL)
        *value = root;
    if (status != XQ_OK)
        *move_count = 0;
    free(game.boards);
    return status;
}

/* -- outcomes alone ------------------------------------------------------------------------ */

/* The outcome of the position on a board. A side without a legal move has lost, without a table too. */
static int probe_outcome(xq_reader *reader, uint8_t *board, int side, int *wdl)
{
    uint8_t pieces[XQ_MAX_PIECES], squares[XQ_MAX_PIECES];
    xq_step steps[XQ_MAX_MOVES];
    size_t count = list_pieces(board, pieces, squares);
    int status = xq_probe_wdl(reader, pieces, squares, count, side, wdl);
    if (status == XQ_ERR_MISSING && generate_legal(board, side, steps) == 0) {
        *wdl = -1;
        return XQ_OK;
    }
    return status;
}

enum { NEW_MOVES = 2 }; /* Number of winning moves to new positions that must follow. */

/* Search for moves that keep an outcome without repetition, from the last position of a game. */
typedef struct {
    xq_reader *reader;
    const xq_record *game;
    uint8_t *board;
    int wdl;   /* the outcome to keep: 0 or 1 */
    int nodes; /* number of positions after replies that may still be searched */
} xq_outlook;

static int goes_on_after(xq_outlook *o, xq_step s, size_t plies, int depth);

/* Return whether a move that keeps the outcome needs no look ahead: in a draw an idle one, in a win an
 * irreversible one. */
static int is_safe(const xq_outlook *o, xq_step s)
{
    if (o->wdl > 0)
        return is_irreversible(o->board, s);
    return is_idle(o->board, o->game->side, s, xqinternal_rules(o->reader));
}

/* Return whether a move, `plies` plies after the end of the game, keeps the outcome without repetition; or
 * an error. It does if it is safe (`is_safe`), if it leads to a better outcome, or to a new position from
 * which the side goes on (`goes_on_after`): in a win for `depth` moves, in a draw to an idle move within
 * `depth` moves. Returns 0 if the position after the move has no table. */
static int goes_on_by(xq_outlook *o, xq_step s, size_t plies, int depth)
{
    int after = 0;
    uint8_t taken = make_step(o->board, s);
    int is_new = occurrences(o->game, o->board, plies + 1) == 0;
    int status = probe_outcome(o->reader, o->board, 1 - o->game->side, &after);
    unmake_step(o->board, s, taken);
    if (status != XQ_OK)
        return status == XQ_ERR_MISSING ? 0 : status;
    if (-after < o->wdl)
        return 0;
    if (-after > o->wdl || is_safe(o, s))
        return 1;
    if (!is_new)
        return 0;
    return depth == 0 ? o->wdl : goes_on_after(o, s, plies, depth);
}

/* Return whether every reply to a move, unless irreversible, leads to a new position in which the side
 * `goes_on_by` some move; or an error. Returns 0 if `nodes` run out. */
static int goes_on_after(xq_outlook *o, xq_step s, size_t plies, int depth)
{
    xq_step replies[XQ_MAX_MOVES], moves[XQ_MAX_MOVES];
    uint8_t taken = make_step(o->board, s);
    size_t count = generate_legal(o->board, 1 - o->game->side, replies);
    int going = 1;
    for (size_t i = 0; i < count && going > 0; i++) {
        if (is_irreversible(o->board, replies[i]))
            continue;
        uint8_t answer = make_step(o->board, replies[i]);
        size_t after = generate_legal(o->board, o->game->side, moves);
        int is_new = occurrences(o->game, o->board, plies + 2) == 0 && o->nodes-- > 0;
        going = 0;
        for (size_t n = 0; n < after && is_new && going == 0; n++)
            going = goes_on_by(o, moves[n], plies + 2, depth - 1);
        unmake_step(o->board, replies[i], answer);
    }
    unmake_step(o->board, s, taken);
    return going;
}

/* Cost of a move after which the side cannot go on: larger for more repetitions, then for a graver
 * offence. An idle move to a new position costs 0. */
static int cost_of(const xq_outlook *o, xq_step s)
{
    int repeated = occurrences_after(o->game, o->board, s);
    int found = (int)offence_of(o->board, o->game->side, s, xqinternal_rules(o->reader));
    if (repeated == 0 && found == IDLE)
        return 0;
    return (repeated > 0 ? repeated : 1) * (CHECK + 1) + found;
}

/* Keep the moves, all of one outcome, that go on: winning ones for `NEW_MOVES`, drawing ones that are idle
 * or come to an idle move soonest. Return their number, 0 if none is found, or an error. */
static int keep_going(xq_outlook *o, xq_step *moves, size_t count)
{
    int kept = 0, depth = 1, last = MAX_DEPTH;
    if (o->wdl > 0)
        depth = last = NEW_MOVES;
    for (; depth <= last && kept == 0 && o->nodes > 0; depth++)
        for (size_t i = 0; i < count; i++) {
            int going = is_safe(o, moves[i]);
            if (!going && occurrences_after(o->game, o->board, moves[i]) == 0)
                going = goes_on_after(o, moves[i], 0, depth);
            if (going < 0)
                return going;
            if (going)
                moves[kept++] = moves[i];
        }
    return kept;
}

/* Keep the moves of least cost (`cost_of`), and return their number. */
static int keep_cheapest(const xq_outlook *o, xq_step *moves, size_t count)
{
    int kept = 0, least = 0;
    for (size_t i = 0; i < count; i++) {
        int cost = cost_of(o, moves[i]);
        if (kept > 0 && cost > least)
            continue;
        if (cost < least)
            kept = 0;
        least = cost;
        moves[kept++] = moves[i];
    }
    return kept;
}

/* List the moves that `xq_filter_outcomes` lists at the end of a game. */
static int keep_outcome(xq_reader *reader, const xq_record *game, int *wdl, xq_step *moves, size_t *count)
{
    uint8_t board[SQUARES];
    int after[XQ_MAX_MOVES], best = -1;
    memcpy(board, game->boards + SQUARES * game->last, SQUARES);
    size_t legal = generate_legal(board, game->side, moves), kept = 0;
    for (size_t i = 0; i < legal; i++) {
        uint8_t taken = make_step(board, moves[i]);
        int status = probe_outcome(reader, board, 1 - game->side, &after[i]);
        unmake_step(board, moves[i], taken);
        if (status != XQ_OK)
            return status;
        best = -after[i] > best ? -after[i] : best;
    }
    for (size_t i = 0; i < legal; i++)
        if (-after[i] == best)
            moves[kept++] = moves[i];
    *wdl = best;
    xq_outlook o = {reader, game, board, best, best > 0 ? INT_MAX : MAX_NODES};
    int left = best < 0 ? (int)kept : keep_going(&o, moves, kept);
    if (left == 0)
        left = keep_cheapest(&o, moves, kept);
    *count = left > 0 ? (size_t)left : 0;
    return left < 0 ? left : XQ_OK;
}

int xq_filter_outcomes(xq_reader *reader, const uint8_t *pieces, const uint8_t *squares, size_t count,
                       int side, const xq_step *played, size_t played_count, int *wdl,
                       xq_step moves[XQ_MAX_MOVES], size_t *move_count)
{
    int outcome = 0;
    xq_record game;
    if (moves == NULL || move_count == NULL)
        return XQ_ERR_ARGUMENT;
    *move_count = 0;
    int status =
        start_game(reader, pieces, squares, count, side, played, played_count, &game);
    if (status == XQ_OK)
        status = keep_outcome(reader, &game, &outcome, moves, move_count);
    if (status == XQ_OK && wdl != NULL)
        *wdl = outcome;
    free(game.boards);
    return status;
}
