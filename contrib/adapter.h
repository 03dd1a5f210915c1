// The six functions of endgame tables in Stockfish-like engines, implemented with xqprobe. MIT licence.
//
//     init              directories  ->  tables, MaxCardinality, and a report of what was found
//     probe_wdl         in the search, right after a capture or a pawn's advance
//     probe_dtz         a distance that orders values
//     root_probe        at the root: ranks of moves, by distances and the history of the game
//     root_probe_wdl    by outcomes and the history, if there are only win-draw-loss files
//     rank_root_moves   root_probe, or else root_probe_wdl; sorts the moves
//
// Names and meanings are those in the engines. An engine passes its pieces (`Board`) and the moves that
// were played (`Game`), as in engines/fairy-stockfish/xiangqi_tables.cpp.
//
// All functions may be called by any number of threads at the same time: each thread has a reader of its
// own. `init` opens files and returns; a background thread then loads outcomes into memory, and until it
// has finished, they are read from disk.
#ifndef XQPROBE_ADAPTER_H
#define XQPROBE_ADAPTER_H

#include "xqprobe.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace xqprobe {

enum WDLScore { WDLLoss = -2, WDLDraw = 0, WDLWin = 2, WDLScoreNone = -1000 };

enum ProbeState {
    FAIL = 0, // no table, another error, or the answer is on disk and only memory may be read
    OK = 1
};

// A position: pieces and squares as in xqprobe.h, and the material key, which the engine updates by
// adding and subtracting `xq_piece_key`.
struct Board {
    std::uint8_t pieces[XQ_MAX_PIECES];
    std::uint8_t squares[XQ_MAX_PIECES];
    std::size_t count = 0;
    int side = XQ_RED;
    std::uint64_t key = 0;

    // Put a piece on an empty square; ignored beyond XQ_MAX_PIECES.
    void put(int piece, int square);

    // The position after a move.
    Board after(xq_step move) const;
};

// A game: its start, or the position after any later move, and the moves since.
struct Game {
    Board start;
    std::vector<xq_step> played;
};

// A legal move at the root. Moves of a higher rank are better, those of one rank are equally good:
// the search examines only those of the highest rank. `score` is the one to report to the user.
struct RootMove {
    xq_step move;
    int rank = 0;
    int score = 0;
};
using RootMoves = std::vector<RootMove>;

struct Options {
    xq_rules rules = XQ_RULES_WXF;
    std::size_t hold_bytes = std::size_t(256) << 20;  // for outcomes, shared by all threads
    std::size_t cache_bytes = std::size_t(16) << 20;  // for blocks, of every thread
    bool reads_disk = true;                           // whether probe_wdl may read the disk
    int win = 20000;                                  // the score of a win in 0 plies
};

// Kind of values that ranked the moves of the root.
enum class RankedBy { Nothing, Distances, Outcomes };

struct Config {
    int cardinality = 0;     // the search probes positions of at most so many men; 0: none
    bool root_in_tb = false; // the moves have ranks
    RankedBy ranked_by = RankedBy::Nothing;
};

// A file or directory that is not used, and the reason (xq_status).
struct Skipped {
    std::string path;
    int status;
};

// Result of `init`.
struct Report {
    xq_summary summary = {};
    std::vector<Skipped> skipped;

    // A line for the user, which begins like "46 endgame tables: 6 of 3 men, 40 of 4 men", and one for
    // every reason to skip files, with the path of the first of them.
    std::string text() const;

    // Return whether all skipped files were skipped for their rule set or limit on orders.
    bool is_clean() const;
};

// The most men of any table, kings included; 0 without tables.
extern std::atomic<int> MaxCardinality;

// Open the tables of some directories, separated by ":" (";" on Windows), in place of those before; an
// empty string or "<empty>" closes them all. Without memory, or for an unknown rule set, the tables
// before stay in use, and the report has the error.
Report init(const std::string &paths, const Options &options = Options());

// Wait until all outcomes that fit into memory are loaded. A search need not wait.
void wait_until_held();

// The outcome for the side to move, without regard to history: use it where no repetition can
// reach back (docs/engines.md, "When a value may be returned").
WDLScore probe_wdl(const Board &board, ProbeState *state);

// Plies to the end (or to the capture that decides), positive for a win and negative for a loss;
// 100000 more for every order. 0 is a draw (or FAIL); a side that has no legal move gets -1.
int probe_dtz(const Board &board, ProbeState *state);

// Rank the moves at the end of a game by `xq_filter_root`. Returns false, with unchanged moves, after an
// error, such as a missing table that is needed to know the best moves. Moves that are not legal for
// xqprobe get the lowest rank.
bool root_probe(const Game &game, RootMoves &moves);

// Rank the moves at the end of a game by `xq_filter_outcomes`. A win is kept; the search brings it
// nearer, and should probe on. Returns false, with unchanged moves, after an error, such as a missing
// table of any move. Moves that are not legal for xqprobe get the lowest rank.
bool root_probe_wdl(const Game &game, RootMoves &moves);

// Rank legal moves by distances, or else by outcomes, and sort them, best first. The cardinality is 0
// if the search need not probe: for every root in the tables, except a win ranked by outcomes.
Config rank_root_moves(const Game &game, RootMoves &moves);

} // namespace xqprobe

#endif
