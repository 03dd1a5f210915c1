// See xiangqi_tables.h. MIT licence.
#include "xiangqi_tables.h"

#include "adapter.h"
#include "misc.h"
#include "variant.h"

#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>

namespace XiangqiTables {

namespace {

// Read by the search, and written before it starts.
xqprobe::Config config;
int probe_depth = 1;

// The game of the last command `position`, from its last capture on.
xqprobe::Game game;

bool is_xiangqi(const Position &position)
{
    return position.variant() == variants.find("xiangqi")->second;
}

// A score below every mate, and above every evaluation.
int score_of_win() { return int(VALUE_MATE_IN_MAX_PLY) - 1; }

int square_of(Square square) { return 9 * int(rank_of(square)) + int(file_of(square)); }

xq_step step_of(Move move)
{
    return {std::uint8_t(square_of(from_sq(move))), std::uint8_t(square_of(to_sq(move)))};
}

int piece_of(Piece piece)
{
    const int black = color_of(piece) == BLACK ? XQ_BLACK_PIECE : 0;
    switch (type_of(piece)) {
    case KING:
        return XQ_KING + black;
    case FERS:
        return XQ_ADVISOR + black;
    case ELEPHANT:
        return XQ_ELEPHANT + black;
    case ROOK:
        return XQ_ROOK + black;
    case HORSE:
        return XQ_KNIGHT + black;
    case CANNON:
        return XQ_CANNON + black;
    default:
        return XQ_PAWN + black;
    }
}

xqprobe::Board board_of(const Position &position)
{
    xqprobe::Board board;
    for (int rank = 0; rank < 10; rank++)
        for (int file = 0; file < 9; file++) {
            const Piece piece = position.piece_on(make_square(File(file), Rank(rank)));
            if (piece != NO_PIECE)
                board.put(piece_of(piece), 9 * rank + file);
        }
    board.side = position.side_to_move() == WHITE ? XQ_RED : XQ_BLACK;
    return board;
}

bool is_same(const xqprobe::Board &one, const xqprobe::Board &other)
{
    const auto is_there = [&other](std::uint8_t piece, std::uint8_t square) {
        for (std::size_t i = 0; i < other.count; i++)
            if (other.pieces[i] == piece && other.squares[i] == square)
                return true;
        return false;
    };
    bool same = one.count == other.count && one.side == other.side;
    for (std::size_t i = 0; i < one.count && same; i++)
        same = is_there(one.pieces[i], one.squares[i]);
    return same;
}

// The game that led to the root; only the root if `game` does not end there.
xqprobe::Game game_to(const Position &root)
{
    const xqprobe::Board now = board_of(root);
    xqprobe::Board end = game.start;
    for (const xq_step &move : game.played)
        end = end.after(move);
    return is_same(end, now) ? game : xqprobe::Game{now, {}};
}

void open_tables(const UCI::Option &)
{
    std::string paths;
    for (const char *name : {"XiangqiTablePath", "EGTBPaths"}) {
        const std::string path = Options[name];
        if (!path.empty() && path != "<empty>")
#ifdef _WIN32
            paths += (paths.empty() ? "" : ";") + path;
#else
            paths += (paths.empty() ? "" : ":") + path;
#endif
    }
    xqprobe::Options chosen;
    const std::string rules = Options["EGTBRules"];
    xq_rules_of_name(rules.c_str(), &chosen.rules);
    chosen.hold_bytes = std::size_t(double(Options["EGTBHold"])) << 20;
    chosen.win = score_of_win();
    std::istringstream report(xqprobe::init(paths, chosen).text());
    for (std::string line; std::getline(report, line);)
        sync_cout << "info string " << line << sync_endl;
}

} // namespace

void add_options(UCI::OptionsMap &options)
{
    std::vector<std::string> rules;
    for (int i = 0; xq_rules_name(i) != nullptr; i++)
        rules.push_back(xq_rules_name(i));
    options["XiangqiTablePath"] << UCI::Option("<empty>", open_tables);
    options["EGTBPaths"] << UCI::Option("<empty>", open_tables);
    options["EGTBRules"] << UCI::Option("wxf", rules, open_tables);
    options["EGTBHold"] << UCI::Option(256, 0, 65536, open_tables);
    options["EGTBProbeDepth"] << UCI::Option(1, 0, 100);
    options["EGTBLimit"] << UCI::Option(XQ_MAX_PIECES, 0, XQ_MAX_PIECES);
}

void begin_game(const Position &start)
{
    game.played.clear();
    game.start = is_xiangqi(start) ? board_of(start) : xqprobe::Board();
}

void record_move(const Position &after, Move move)
{
    if (is_xiangqi(after) && after.rule50_count() > 0)
        game.played.push_back(step_of(move));
    else
        begin_game(after);
}

bool rank_root_moves(const Position &root, Search::RootMoves &moves)
{
    config = xqprobe::Config();
    probe_depth = int(double(Options["EGTBProbeDepth"]));
    const int limit = std::min(int(xqprobe::MaxCardinality), int(double(Options["EGTBLimit"])));
    if (!is_xiangqi(root) || limit == 0)
        return false;
    config.cardinality = limit;
    if (root.count<ALL_PIECES>() > limit)
        return false;
    xqprobe::RootMoves ranked;
    for (const Search::RootMove &move : moves) {
        ranked.emplace_back();
        ranked.back().move = step_of(move.pv[0]);
    }
    config = xqprobe::rank_root_moves(game_to(root), ranked);
    config.cardinality = std::min(config.cardinality, limit);
    if (!config.root_in_tb)
        return false;
    for (Search::RootMove &move : moves) {
        const xq_step step = step_of(move.pv[0]);
        const auto found =
            std::find_if(ranked.begin(), ranked.end(), [&step](const xqprobe::RootMove &other) {
                return other.move.from == step.from && other.move.to == step.to;
            });
        move.tbRank = found->rank;
        move.tbScore = Value(found->score);
    }
    std::stable_sort(moves.begin(), moves.end(),
                     [](const Search::RootMove &one, const Search::RootMove &other) {
                         return one.tbRank > other.tbRank;
                     });
    return true;
}

bool probe(const Position &position, Depth depth, int ply, Value &value)
{
    const int men = position.count<ALL_PIECES>();
    // After a capture no repetition can reach back, so the value holds for any history.
    if (men > config.cardinality || (men == config.cardinality && depth < probe_depth) ||
        position.rule50_count() != 0)
        return false;
    xqprobe::ProbeState state;
    const xqprobe::WDLScore outcome = xqprobe::probe_wdl(board_of(position), &state);
    if (state == xqprobe::FAIL)
        return false;
    const int win = score_of_win() - ply;
    value = Value(outcome > 0 ? win : outcome < 0 ? -win : int(VALUE_DRAW));
    return true;
}

} // namespace XiangqiTables
