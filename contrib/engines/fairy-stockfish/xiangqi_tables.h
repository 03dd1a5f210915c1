// Endgame tables of xiangqi in Fairy-Stockfish. MIT licence.
//
//     add_options        ucioption.cpp   the options that name the tables
//     begin_game         uci.cpp         the position of the command `position`
//     record_move        uci.cpp         a move of that command, which has just been made
//     rank_root_moves    search.cpp      before the search, in Tablebases::rank_root_moves
//     probe              search.cpp      at every node but the root, before the static evaluation
//
// insert.py inserts these calls into an unpacked source. Tables are probed only in the variant xiangqi.
#ifndef XIANGQI_TABLES_H
#define XIANGQI_TABLES_H

#include "position.h"
#include "search.h"
#include "types.h"
#include "uci.h"

// Newer versions have all their names in this namespace, older ones in none.
namespace Stockfish {
}

namespace XiangqiTables {

using namespace Stockfish;

void add_options(UCI::OptionsMap &options);

void begin_game(const Position &start);

void record_move(const Position &after, Move move);

// Return whether the moves got ranks and scores from tables; they are then sorted, best first.
bool rank_root_moves(const Position &root, Search::RootMoves &moves);

// Return whether a table has the position, right after a capture; `value` is then its score, for a win
// below every mate. Positions of as many men as the limit are probed from depth EGTBProbeDepth on.
bool probe(const Position &position, Depth depth, int ply, Value &value);

} // namespace XiangqiTables

#endif
