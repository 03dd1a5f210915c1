/* xqprobe: xiangqi endgame tables of tbgen (.xqt files), read from C99. MIT licence.
 *
 *     set of tables  ---->  reader (one per thread)  ---->  value of a position, in a search
 *     immutable once        decoder and block cache         ranked moves, at the root
 *     tables are added
 *
 * Needs xqprobe.c and zstd, and xqgame.c for the root (cc -std=c99 yours.c xqprobe.c xqgame.c -lzstd),
 * or the library that the Makefile makes of them. There is no global state. A set may be used by
 * any number of threads once all tables have been added and held; a reader belongs to one thread
 * at a time. Files are not trusted: damage is reported as XQ_ERR_CORRUPT, and no input
 * makes the reader touch memory that is not its own. The file format is docs/format.md.
 *
 * Squares are 9 * rank + file: a0, Red's left corner seen from Red, is 0, i9 is 89. Pieces are
 * xq_piece codes. A position is two arrays of equal length, pieces and squares, in any order,
 * and the side to move.
 */
#ifndef XQPROBE_H
#define XQPROBE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library hides everything else. */
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* A side, for `side` arguments. */
enum { XQ_RED = 0, XQ_BLACK = 1 };

/* A piece: Red's codes are 1 to 7; Black's are the same plus 8. */
enum xq_piece {
    XQ_KING = 1, XQ_ADVISOR, XQ_ELEPHANT, XQ_ROOK, XQ_KNIGHT, XQ_CANNON, XQ_PAWN,
    XQ_BLACK_PIECE = 8
};

enum { XQ_MAX_PIECES = 32, XQ_MAX_MOVES = 128, XQ_MAX_PLAYED = 10000 };

/* What functions return: XQ_OK, or the reason why there is no answer. */
typedef enum {
    XQ_OK = 0,
    XQ_ERR_MISSING = -1,   /* no table of this material has been added */
    XQ_ERR_POSITION = -2,  /* no placement: kings, counts, squares or overlaps are wrong */
    XQ_ERR_ILLEGAL = -3,   /* the kings face each other, or the side not to move is in check */
    XQ_ERR_CORRUPT = -4,   /* the file is damaged, or no table at all */
    XQ_ERR_VERSION = -5,   /* the file is of a later format */
    XQ_ERR_IO = -6,        /* the file or directory cannot be read */
    XQ_ERR_MEMORY = -7,    /* out of memory */
    XQ_ERR_ARGUMENT = -8,  /* a null pointer, or a number out of its range */
    XQ_ERR_OTHER_SET = -9, /* the table is of another rule set than this set of tables */
    XQ_ERR_NAME = -10,     /* the file holds another table than its name says */
    XQ_ERR_COLD = -11      /* the answer is on disk, and only memory was to be looked at */
} xq_status;

/* One sentence for a status, never NULL. */
const char *xq_status_text(int status);

/* Rule sets, and what a repetition is worth under each. Tables of different rule sets answer
 * different questions and are never mixed. */
typedef enum {
    /* begin of rule sets: contrib/rulesets.py */
    /* repetition is a draw */
    XQ_RULES_NONE = 0,
    /* perpetual check loses */
    XQ_RULES_CHECK = 1,
    /* perpetual check or chase loses */
    XQ_RULES_WXF = 2,
    /* the same, but no advisor or elephant chases a protected piece */
    XQ_RULES_WXF_NO_MINOR = 3,
    /* perpetual check or chase loses, as Pikafish judges it */
    XQ_RULES_COMPUTER = 4,
    /* perpetual check or chase loses, also of pawns at home */
    XQ_RULES_TAIWAN = 5,
    /* perpetual check or chase of an unprotected piece loses */
    XQ_RULES_UNPROTECTED = 6
    /* end of rule sets */
} xq_rules;

/* The name of a rule set in the names of files, such as "wxf-nominor"; NULL if `rules` is none of
 * xq_rules. */
const char *xq_rules_name(int rules);

/* Find the rule set of such a name: XQ_OK, or XQ_ERR_ARGUMENT if there is none. */
int xq_rules_of_name(const char *name, xq_rules *rules);

/* What distances of order 0 count to: mate, or the capture that converts (or mate). */
typedef enum { XQ_DTM = 0, XQ_DTC = 1, XQ_NO_METRIC = 2 } xq_metric;

/* What a position is worth to the side to move.
 *
 *     wdl    1 win, 0 draw, -1 loss
 *     order  0: decided by mate (or conversion) in `plies`; a side that is mated or stalemated
 *            has lost in 0 plies. k >= 1: decided by the repetition rules; lower orders are
 *            better for the winner. `plies` is then the distance to a state in which the loser
 *            must offend for ever, at 0 to 254 in practice.
 *     plies  0 for a draw
 *     value  the number as Fang, Hsu & Hsu print it: 0 draw, odd n win in n, even n loss in n
 *            (0 also for a side already mated: look at wdl); 255 - plies for order k >= 1
 *     metric the table's; XQ_NO_METRIC for a draw for want of pieces that could win
 *
 * A winner who prefers order 0, then the lowest order, then the fewest plies always makes
 * progress. A table knows no move counter and no history.
 */
typedef struct {
    int wdl;
    uint32_t order;
    uint32_t plies;
    int64_t value;
    xq_metric metric;
} xq_value;

typedef struct xq_set xq_set;
typedef struct xq_reader xq_reader;
typedef struct xq_material xq_material;

/* -- tables -------------------------------------------------------------------------------- */

/* An empty set for tables of one rule set; NULL if out of memory or if `rules` is none of
 * xq_rules. `orders` is the limit on orders that the tables were built with, 0 for none. Of two
 * tables of one material in different metrics, the one in `preferred` is used. */
xq_set *xq_set_new(xq_rules rules, uint32_t orders, xq_metric preferred);

/* Free a set; its readers must be gone. NULL is fine. */
void xq_set_free(xq_set *set);

/* Add a file: a table of distances or a win-draw-loss file. It stays open (on POSIX systems) or
 * mapped (on Windows; elsewhere it is read into memory). It must have the name that its contents have (docs/format.md,
 * "Names"), such as KRNKR.wxf.dtm.xqt or KRNKR.wxf.wdl.xqt. Returns XQ_OK, also for a second table
 * of the same material. Outcomes come from a win-draw-loss file where there is one. */
int xq_add_file(xq_set *set, const char *path);

/* Add a table file that is in memory; `data` must stay there until the set is freed. */
int xq_add_memory(xq_set *set, const void *data, size_t size);

#ifdef XQ_REMOTE
/* Where files are not the system's, as in a web page: the program has this function, which copies
 * bytes of a file of its own numbering. It may answer XQ_ERR_COLD for bytes that are yet to come: note
 * which, and ask again when they are there. */
int xq_remote_read(int file, uint64_t offset, uint8_t *out, size_t size);

/* Add a table that `xq_remote_read` reads. */
int xq_add_remote(xq_set *set, int file, uint64_t size);
#endif

/* Add every file of a directory whose name ends in ".xqt" and whose header names this rule set.
 * Returns how many tables were added, or an error: of the first file that could not be read, all
 * others are added nevertheless. `xq_skipped` has the files that were left out. */
int xq_add_directory(xq_set *set, const char *path);

/* A file of a directory that was not added: its path, which is the set's, and the reason in `*status`
 * (may be NULL). Numbers begin at 0; NULL beyond the last one. */
const char *xq_skipped(const xq_set *set, size_t number, int *status);

/* The number of materials in the set. */
size_t xq_set_size(const xq_set *set);

/* The most men, kings included, of any material in the set; 0 for an empty one. */
int xq_max_men(const xq_set *set);

/* What a set holds. */
typedef struct {
    size_t distances; /* tables of distances */
    size_t outcomes;  /* win-draw-loss files */
    size_t of_men[XQ_MAX_PIECES + 1]; /* materials with either, by their number of men */
} xq_summary;

/* Count the tables of a set. */
xq_summary xq_summary_of(const xq_set *set);

/* Unpack the outcomes of whole tables into memory, two bits a slot, smallest tables first, as long
 * as `bytes` last. Readers of all threads share them, and their outcomes are then never cold.
 * Returns how many materials are held, or an error: of the first table that could not be read.
 * Like adding, this is done before threads start. */
int xq_hold(xq_set *set, size_t bytes);

/* One step of `xq_hold`, for a program that may have to stop: unpack the next table, if it fits into
 * `bytes` beside those that are held. Returns 1, 0 if there is none, or an error of this table,
 * which is not tried again. */
int xq_hold_next(xq_set *set, size_t bytes);

/* -- materials ----------------------------------------------------------------------------- */

/* What a piece adds to a position's material key: 1 << 4 * piece, or 0 for what is no piece. The key is
 * the sum over all pieces, kings included, and so has the count of each; a capture subtracts one
 * number, and nothing is hashed. */
uint64_t xq_piece_key(int piece);

/* What the set has of a material, NULL if no table; never NULL where neither side can win, which is
 * a draw without one. It holds until another table is added. Takes no position and touches one
 * line of memory, so that a search can ask at every node. */
const xq_material *xq_find(const xq_set *set, uint64_t key);

/* -- probing ------------------------------------------------------------------------------- */

/* A reader that keeps at most `cache_bytes` of decoded blocks (and always the last one); NULL if
 * out of memory. 16 MiB or more is sensible. */
xq_reader *xq_reader_new(const xq_set *set, size_t cache_bytes);

/* Free a reader. NULL is fine. */
void xq_reader_free(xq_reader *reader);

/* The value of a legal position, for which a table of distances is needed: XQ_ERR_MISSING where there
 * is a win-draw-loss file alone. Legality is not looked at, which makes this fit for use inside
 * a search: the value of an illegal position is arbitrary. */
int xq_probe(xq_reader *reader, const uint8_t *pieces, const uint8_t *squares, size_t count,
             int side, xq_value *value);

/* The outcome alone: *wdl becomes 1, 0 or -1. */
int xq_probe_wdl(xq_reader *reader, const uint8_t *pieces, const uint8_t *squares, size_t count,
                 int side, int *wdl);

/* The outcome alone, of a position whose material is `material`, and only if it is in memory:
 * XQ_ERR_COLD where the disk would have to be read, XQ_ERR_MISSING where `material` is NULL. It
 * allocates nothing. A material that is not that of the pieces is XQ_ERR_POSITION. */
int xq_probe_cached(xq_reader *reader, const xq_material *material, const uint8_t *pieces,
                    const uint8_t *squares, size_t count, int side, int *wdl);

/* Ask the processor for the memory that `xq_probe_cached` will read, where outcomes are held. */
void xq_prefetch(const xq_reader *reader, const xq_material *material, const uint8_t *pieces,
                 const uint8_t *squares, size_t count, int side);

/* A value as one number, which orders values as the side to move prefers them: larger is better, 0
 * is a draw, and the opponent's number for the same value is the negative (docs/values.md,
 * "Preference"). Numbers are comparable, and mean nothing else. 0 for NULL. */
int64_t xq_rank(const xq_value *value);

/* -- the root: xqgame.c -------------------------------------------------------------------- */

/* Whether a piece may stand on a square at all. */
int xq_may_stand(int piece, int square);

/* A move: from a square to another. */
typedef struct {
    uint8_t from, to;
} xq_step;

/* A legal move at the root.
 *
 *     status  XQ_OK, or XQ_ERR_MISSING where the table of the position after it is not there;
 *             `after` and `worth` are then draws without a metric
 *     after   the value of the position it leads to, for the opponent
 *     worth   the value for the side that makes it: one ply more; 1 or 2 plies where it captures
 *             and the root's table counts to conversion
 *     best    whether no known move is better: keeps the value of the root
 */
typedef struct {
    uint8_t from, to;
    int capture;
    int check;
    int best;
    int status;
    xq_value after;
    xq_value worth;
} xq_move;

/* The value of a position, and its legal moves, best first: wins before draws before unknown
 * moves before losses; wins by order and plies ascending, losses descending; then moves that end
 * the game, captures, the better position after it, and the text of the move ("a0a1"). `*count`
 * is 0 for a side that is mated or stalemated. `value` may be NULL. */
int xq_probe_root(xq_reader *reader, const uint8_t *pieces, const uint8_t *squares, size_t count,
                  int side, xq_value *value, xq_move moves[XQ_MAX_MOVES], size_t *move_count);

/* The moves at the root that are fit to be played, knowing the game: the position is where the
 * game began, or any later one, and `played` are the moves since, at most XQ_MAX_PLAYED.
 *
 *     won        the best moves: fewer plies or a lower order each time, so that nothing repeats
 *     won at 0   plies of an order >= 1 (the opponent must offend for ever): of the best moves those
 *                that come soonest to one that neither checks nor attacks anything anew
 *     drawn      drawing moves that are idle in this sense, or that can be followed by an idle one
 *                whatever the reply, if no position of the game comes back; where there are none,
 *                those that come soonest to an idle move
 *     lost       the longest resistance
 *
 * The rest is left out. A search may choose among what is left by any taste of its own. Where no
 * idle move can be forced within 16 moves and 4000 positions, the least offences that have been
 * repeated least are left: such positions are rare, and the one case in which the referee's
 * verdict on what the search chooses should be asked. XQ_ERR_ARGUMENT for a played move that is not
 * legal; otherwise as `xq_probe_root`, whose order the moves keep. */
int xq_filter_root(xq_reader *reader, const uint8_t *pieces, const uint8_t *squares, size_t count,
                   int side, const xq_step *played, size_t played_count, xq_value *value,
                   xq_move moves[XQ_MAX_MOVES], size_t *move_count);

/* The moves to look at where there are win-draw-loss files alone: those that keep the outcome, which
 * becomes `*wdl` (may be NULL). Arguments are those of `xq_filter_root`.
 *
 *     won        moves after which nothing comes back: the position is new to the game, so is every
 *                position after a reply, and from there a winning move of this kind follows, twice
 *     drawn      moves to new positions, and moves that neither check nor attack anything anew
 *     lost       all
 *
 * Where a win has no such move, moves to new positions are left that are no offences; where there
 * are none of these either, the least offences that have been repeated least, as in a draw.
 * A win is kept. What brings it nearer is the search, and that nothing is repeated. */
int xq_filter_outcomes(xq_reader *reader, const uint8_t *pieces, const uint8_t *squares, size_t count,
                       int side, const xq_step *played, size_t played_count, int *wdl,
                       xq_step moves[XQ_MAX_MOVES], size_t *move_count);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
