/* What tbprobe.c and tbgame.c share: the board's geometry, and how values are made. Programs
 * include tbprobe.h alone. MIT licence.
 */
#ifndef TBINTERNAL_H
#define TBINTERNAL_H

#include "tbprobe.h"

enum { SIDES = 2, KINDS = 7, SQUARES = 90 };
enum { KING, ADVISOR, ELEPHANT, ROOK, KNIGHT, CANNON, PAWN };

static inline int flipped(int square) { return 81 - 9 * (square / 9) + square % 9; }

static inline int side_of(uint8_t code) { return code >> 3; }

static inline int kind_of(uint8_t code) { return (code & 7) - 1; }

static inline tb_value make_value(int wdl, uint32_t order, uint32_t plies, tb_metric metric)
{
    tb_value v = {wdl, order, plies, order ? 255 - (int64_t)plies : (int64_t)plies, metric};
    return v;
}

/* The rule set of a reader's tables: which moves are offences. */
tb_rules tb_internal_rules(const tb_reader *reader);

#endif
