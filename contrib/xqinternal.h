/* What xqprobe.c and xqgame.c share: the board's geometry, and how values are made. Programs
 * include xqprobe.h alone. MIT licence.
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

/* The rule set of a reader's tables: which moves are offences. */
xq_rules xq_internal_rules(const xq_reader *reader);

/* What is an offence under a rule set; points are those of docs/referee.md, section 2. */
enum {
    CHECKS_LOSE = 1,    /* for ever giving check loses: without it, nothing is a check */
    CHASES_LOSE = 2,    /* for ever chasing one piece loses: without it, nothing is a chase */
    UNEQUAL = 4,        /* a knight or cannon chases a protected rook (point 4a) */
    UNEQUAL_MINOR = 8,  /* an advisor or elephant a protected rook, knight or cannon (point 4a) */
    NEW_BY_VICTIM = 16, /* an attack is new if no piece attacked the victim before (point 6) */
    PAWNS_AT_HOME = 32  /* a pawn on its own half can be chased, too (point 2) */
};
unsigned xq_internal_offences(xq_rules rules);

#ifdef __cplusplus
}
#endif

#endif
