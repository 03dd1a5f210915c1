/* xqprobe: xiangqi endgame tables of tbgen (.xqt files), read from C99. MIT licence.
 *
 *     set of tables  ---->  reader (one per thread)  ---->  value of a position, in a search
 *     immutable once        decoder and block cache         ranked moves, at the root
 *     tables are added
 *
 * Needs xqprobe.c, xqinternal.h and zstd, and xqgame.c for the root (cc -std=c99 yours.c xqprobe.c
 * xqgame.c -lzstd), or the library that the Makefile makes of them. There is no global state. A set may
 * be used by any number of threads once all tables have been added and held; a reader belongs to one
 * thread at a time. Files are not trusted: damage is reported as XQ_ERR_CORRUPT, and no input causes an
 * access out of bounds. docs/format.md describes the file format.
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

/* Version of this header, and of tbgen. */
#define XQ_VERSION_MAJOR 2
#define XQ_VERSION_MINOR 3
#define XQ_VERSION_PATCH 2

/* The shared library exports only what follows. */
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

/* Status of a call: XQ_OK, or the reason why there is no answer. */
typedef enum {
    XQ_OK = 0,
    XQ_ERR_MISSING = -1,   /* no table of this material has been added */
    XQ_ERR_POSITION = -2,  /* invalid placement: kings, counts, squares or overlaps */
    XQ_ERR_ILLEGAL = -3,   /* the kings face each other, or the side not to move is in check */
    XQ_ERR_CORRUPT = -4,   /* the file is damaged, or is no table */
    XQ_ERR_VERSION = -5,   /* the file has a later format */
    XQ_ERR_IO = -6,        /* the file or directory cannot be read */
    XQ_ERR_MEMORY = -7,    /* out of memory */
    XQ_ERR_ARGUMENT = -8,  /* a null pointer, or a number out of its range */
    XQ_ERR_OTHER_SET = -9, /* the table has another rule set or limit on orders than this set of tables */
    XQ_ERR_NAME = -10,     /* the name of the file is that of another table */
    XQ_ERR_COLD = -11      /* the answer is on disk, and only memory may be read */
} xq_status;

/* One sentence for a status, never NULL. */
const char *xq_status_text(int status);

/* Rule sets, with the result of a repetition under each. Tables of different rule sets are never
 * mixed. */
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

/* Name of a rule set in file names, such as "wxf-nominor"; NULL if `rules` is not in xq_rules. */
const char *xq_rules_name(int rules);

/* Find the rule set with such a name: XQ_OK, or XQ_ERR_ARGUMENT if there is none. "asian" and
 * "vietnam" are other names of "wxf". */
int xq_rules_of_name(const char *name, xq_rules *rules);

/* Metric of distances of order 0: to mate, or to conversion (a deciding capture or mate). */
typedef enum { XQ_DTM = 0, XQ_DTC = 1, XQ_NO_METRIC = 2 } xq_metric;

/* Value of a position for the side to move.
 *
 *     wdl    1 win, 0 draw, -1 loss
 *     order  0: decided by mate (or conversion) in `plies`; a side that is mated or stalemated
 *            has lost in 0 plies. k >= 1: decided by the repetition rules; lower orders are
 *            better for the winner. `plies` is then the distance to a position in which the loser
 *            must offend perpetually, 0 to 254 in practice.
 *     plies  0 for a draw
 *     value  the number in Fang, Hsu & Hsu: 0 draw, odd n win in n, even n loss in n
 *            (0 also for a side already mated, see wdl); 255 - plies for order k >= 1
 *     metric that of the table; XQ_NO_METRIC without one: for a draw without pieces that could win,
 *            and at the root for a side without a legal move whose table is missing
 *
 * Moves to the lowest order, and in it to the fewest plies, always bring a win nearer. Values do
 * not depend on move counters or history.
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

/* Create an empty set for tables of one rule set; NULL if out of memory or if `rules` is not in
 * xq_rules. `orders` is the limit on orders that the tables were built with, 0 for none. Of two
 * tables of one material in different metrics, the one in `preferred` is used. */
xq_set *xq_set_new(xq_rules rules, uint32_t orders, xq_metric preferred);

/* Free a set, after its readers. NULL is allowed. */
void xq_set_free(xq_set *set);

/* Add a file: a table of distances or a win-draw-loss file. Its name must be that of its contents
 * (docs/format.md, "Names"), such as KRNKR.wxf.dtm.xqt or KRNKR.wxf.wdl.xqt. Returns XQ_OK, also for
 * a second table of the same material. Outcomes come from a win-draw-loss file if there is one.
 *
 * The file is mapped, on POSIX systems and on Windows, and needs no descriptor afterwards. On POSIX
 * systems it may be replaced or removed, but not shortened in place; Windows refuses all of these until
 * the set is freed. On other systems, or if compiled with -DXQ_IN_MEMORY, it is read into memory. Paths
 * on Windows are UTF-8, or else in the system's code page, and of any length. */
int xq_add_file(xq_set *set, const char *path);

/* Add a table file that is in memory; `data` must stay there until the set is freed. */
int xq_add_memory(xq_set *set, const void *data, size_t size);

#ifdef XQ_REMOTE
/* Function of a program that reads files itself, as in a web page: copies bytes of a file, which the
 * program has numbered. It may return XQ_ERR_COLD for bytes that are not loaded yet; the program then
 * loads them and repeats the call. */
int xq_remote_read(int file, uint64_t offset, uint8_t *out, size_t size);

/* Add a table that is read by `xq_remote_read`. */
int xq_add_remote(xq_set *set, int file, uint64_t size);
#endif

/* Add every file of a directory whose name ends in ".xqt", without a "." at its beginning. A file of
 * another rule set or limit on orders is left out without an error. Returns the number of files added,
 * or the error of the first file that could not be added; all others are added nevertheless. XQ_ERR_IO
 * if the directory cannot be read, as on any system but POSIX and Windows, and if compiled with
 * -DXQ_IN_MEMORY. `xq_skipped` lists what was left out. */
int xq_add_directory(xq_set *set, const char *path);

/* Return the path of item `number`, from 0, in the list of what the set does not use, and the reason in
 * `*status` (may be NULL); NULL beyond the last item. The path is owned by the set. An item is a file of
 * a directory, a directory that could not be read, or (its name alone) a table whose outcomes `xq_hold`
 * could not unpack. */
const char *xq_skipped(const xq_set *set, size_t number, int *status);

/* Number of materials in the set. */
size_t xq_set_size(const xq_set *set);

/* Largest number of men, kings included, of a material in the set; 0 for an empty set. */
int xq_max_men(const xq_set *set);

/* Numbers of tables in a set. */
typedef struct {
    size_t distances; /* tables of distances */
    size_t outcomes;  /* win-draw-loss files */
    size_t of_men[XQ_MAX_PIECES + 1]; /* materials with either, by their number of men */
} xq_summary;

/* Count the tables of a set. */
xq_summary xq_summary_of(const xq_set *set);

/* Unpack the outcomes of whole tables into memory, two bits a slot, smallest tables first, up to
 * `bytes`. Readers of all threads share them: probes of these outcomes are never cold. Returns the
 * number of materials held, or the error of the first table that could not be read. All other tables are
 * held nevertheless, and `xq_skipped` lists those that could not be read. XQ_ERR_MEMORY ends it at once;
 * tables held before stay. Like the functions that add files, it is called before threads start. */
int xq_hold(xq_set *set, size_t bytes);

/* One step of `xq_hold`, for a program that may stop between tables: unpack the next table if it fits
 * into `bytes` beside those held. Returns 1, or 0 if it does not fit or there is none, or the error of
 * this table, which is not tried again. */
int xq_hold_next(xq_set *set, size_t bytes);

/* -- materials ----------------------------------------------------------------------------- */

/* Summand of a piece in the material key of a position: 1 << 4 * piece, or 0 for no piece. The key is
 * the sum over all pieces, kings included, so it contains their counts (it is no hash); a capture
 * subtracts one summand. */
uint64_t xq_piece_key(int piece);

/* Find a material in the set; NULL without a table, but never NULL if neither side can win, which is a
 * draw without a table. The result is valid until another table is added. Reads one cache line, so that
 * a search can call it at every node. */
const xq_material *xq_find(const xq_set *set, uint64_t key);

/* -- probing ------------------------------------------------------------------------------- */

/* Create a reader with a cache of at most `cache_bytes` of decoded blocks (the latest one always
 * stays); NULL if out of memory, or if `set` is NULL. Use 16 MiB or more. */
xq_reader *xq_reader_new(const xq_set *set, size_t cache_bytes);

/* Free a reader. NULL is allowed. */
void xq_reader_free(xq_reader *reader);

/* Probe the value of a legal position. Needs a table of distances: XQ_ERR_MISSING if there is only a
 * win-draw-loss file. Legality is not checked, for speed inside a search: the value of an illegal
 * position is arbitrary. */
int xq_probe(xq_reader *reader, const uint8_t *pieces, const uint8_t *squares, size_t count,
             int side, xq_value *value);

/* Probe the outcome of a legal position, from either kind of file: *wdl becomes 1, 0 or -1. */
int xq_probe_wdl(xq_reader *reader, const uint8_t *pieces, const uint8_t *squares, size_t count,
                 int side, int *wdl);

/* Probe the outcome of a position with the given material, only in memory: XQ_ERR_COLD if the disk
 * would have to be read, XQ_ERR_MISSING if `material` is NULL, XQ_ERR_POSITION if it is not that of the
 * pieces (all materials without attackers, which are drawn, count as one). Allocates no memory. */
int xq_probe_cached(xq_reader *reader, const xq_material *material, const uint8_t *pieces,
                    const uint8_t *squares, size_t count, int side, int *wdl);

/* Prefetch the memory that `xq_probe_cached` will read, if outcomes are held. Does nothing if compiled by
 * others than GCC, Clang, and MSVC for x86. */
void xq_prefetch(const xq_reader *reader, const xq_material *material, const uint8_t *pieces,
                 const uint8_t *squares, size_t count, int side);

/* Rank of a value by preference of the side to move: larger is better, 0 is a draw, and the negative
 * is the opponent's rank of the same value (docs/values.md, "Outcomes and distances"). Ranks can
 * only be compared. 0 for NULL. Orders from 2^31, which no table has, share one rank. */
int64_t xq_rank(const xq_value *value);

/* -- the root: xqgame.c -------------------------------------------------------------------- */

/* Return whether a piece may ever stand on a square; 0 if either does not exist. */
int xq_may_stand(int piece, int square);

/* A move from one square to another. */
typedef struct {
    uint8_t from, to;
} xq_step;

/* List the legal moves of a position, in any order; no table is needed. `*move_count` is 0 after an
 * error, and for a side that is mated or stalemated. */
int xq_legal_moves(const xq_reader *reader, const uint8_t *pieces, const uint8_t *squares,
                   size_t count, int side, xq_step moves[XQ_MAX_MOVES], size_t *move_count);

/* A legal move at the root.
 *
 *     status  XQ_OK, or XQ_ERR_MISSING if the table of the position after it is missing;
 *             `after` and `worth` are then draws without a metric
 *     after   the value of the position after it, for the opponent
 *     worth   the value for the moving side: one ply more; 1 or 2 plies if it captures and the
 *             root's table counts to conversion
 *     best    1 if it is known to keep the value of the root (docs/values.md, "Best moves"), else 0; 0
 *             for all moves if the best one is among several without a table
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

/* Probe the value of a position and of its legal moves, best first: wins before draws before
 * unknown moves before losses; wins by order and plies ascending, losses descending; then moves that end
 * the game, captures, the better position after it, and the text of the move ("a0a1"). `*move_count`
 * is 0 for a side that is mated or stalemated, and after an error. `value` may be NULL. */
int xq_probe_root(xq_reader *reader, const uint8_t *pieces, const uint8_t *squares, size_t count,
                  int side, xq_value *value, xq_move moves[XQ_MAX_MOVES], size_t *move_count);

/* List the moves at the root that keep the result in a game with repetitions. The position is the
 * start of the game, or any later one, with `side` to move; `played` are the moves since, at most
 * XQ_MAX_PLAYED. `*value` and `moves` are those of the position after `played`.
 *
 * An idle move is a capture or a pawn's advance, or makes neither a check nor a new attack. The list
 * depends on the value of the position:
 *
 *     win         the best of the winning moves after which neither the position nor one after a reply
 *                 has occurred in the game; if there are none, the best moves
 *     direct win  in 0 plies, of an order >= 1 (the opponent must offend perpetually): those of the
 *                 best moves that lead soonest to an idle move
 *     draw        the drawing moves that lead soonest to an idle move: the idle ones, if there are any.
 *                 Also those after which every reply allows an idle move at once, if neither the
 *                 position after the move nor one after a reply has occurred
 *     loss        the longest resistance
 *
 * A search may choose freely among the listed moves. If no idle move can be forced within 16 moves and
 * 4000 positions, the moves with the fewest repetitions are listed, and of these those with the least
 * offence. Such positions are rare; only there the program should check its choice with a referee,
 * which this reader does not have (`tbgen judge` is one).
 * XQ_ERR_ARGUMENT for an illegal move in `played`. XQ_ERR_MISSING also if no move is known to be best;
 * the status of the moves of `xq_probe_root` shows whose tables are missing. Other statuses, and the
 * order of the moves, are those of `xq_probe_root`. */
int xq_filter_root(xq_reader *reader, const uint8_t *pieces, const uint8_t *squares, size_t count,
                   int side, const xq_step *played, size_t played_count, xq_value *value,
                   xq_move moves[XQ_MAX_MOVES], size_t *move_count);

/* List the moves to search with win-draw-loss files only: those that keep the outcome, which becomes
 * `*wdl` (may be NULL). Arguments are those of `xq_filter_root`.
 *
 *     win        moves that avoid repetition: the position is new to the game, so is every position
 *                after a reply, and from there a winning move of this kind follows, twice
 *     draw       moves that lead soonest to an idle move (as in `xq_filter_root`): the idle ones, and
 *                those to a new position, after which every reply leads to another new position with
 *                an idle move that draws; else those that need more moves for it
 *     loss       all
 *
 * If a win has no such move, idle moves to new positions are listed. Without these, and if a draw has no
 * such move (within 16 moves and 4000 positions), the moves with the fewest repetitions are listed, and
 * of these those with the least offence; such a move may lose by the repetition rules. Every listed move
 * keeps the outcome by the tables. Outcomes give no distance: only the search, and the lack of
 * repetitions, bring the win nearer. XQ_ERR_MISSING if the position after a legal move has no table. */
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
