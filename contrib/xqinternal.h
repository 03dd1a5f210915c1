/* Shared parts of xqprobe.c and xqgame.c: the board's geometry, and construction of values. Programs
 * include only xqprobe.h. MIT licence.
 */
#ifndef XQINTERNAL_H
#define XQINTERNAL_H

#include "xqprobe.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SIDES = 2, KINDS = 7, SQUARES = 90 };
enum { KING, ADVISOR, ELEPHANT, ROOK, KNIGHT, CANNON, PAWN };

static inline int flipped(int square) { return 81 - 9 * (square / 9) + square % 9; }

static inline int side_of(uint8_t code) { return code >> 3; }

static inline int kind_of(uint8_t code) { return (code & 7) - 1; }

static inline xq_value make_value(int wdl, uint32_t order, uint32_t plies, xq_metric metric)
{
    xq_value v = {wdl, order, plies, order ? 255 - (int64_t)plies : (int64_t)plies, metric};
    return v;
}

/* Check the arguments that describe a position, without reading a table: XQ_OK, also without a table of
 * its material, XQ_ERR_POSITION or XQ_ERR_ARGUMENT. Legality is not checked. */
int xqinternal_placement(const xq_reader *reader, const uint8_t *pieces, const uint8_t *squares,
                         size_t count, int side);

/* The rule set of a reader's tables. */
xq_rules xqinternal_rules(const xq_reader *reader);

/* Offences under a rule set. */
typedef struct xq_offences {
    int checks; /* perpetual check loses; otherwise no move counts as a check */
    /* Definition of a chase as bits; 0 if a perpetual chase is allowed. */
    uint64_t chases;
} xq_offences;

xq_offences xqinternal_offences(xq_rules rules);

/* Bits of xq_offences.chases; points are those of docs/referee.md, section 2. */
enum {
    /* begin of rule sets: contrib/rulesets.py */
    /* the first bits of kinds that chase and are chased, and of pairs of kinds that
     * chase in spite of protection (points 1, 2 and 4a) */
    CHASERS = 0,
    CHASED = 7,
    PROTECTED = 20,
    /* properties that a set has or has not (points 2, 5 and 6) */
    PAWNS_AT_HOME = 0x4000,
    NEW_BY_VICTIM = 0x8000,
    EVEN_EXCHANGES = 0x20000,
    /* end of rule sets */
};

#ifdef __cplusplus
}
#endif

#endif
