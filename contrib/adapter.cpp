// See adapter.h. MIT licence.
#include "adapter.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace xqprobe {

namespace {

// Tables that live as long as any thread has a reader of them.
struct Tables {
    explicit Tables(const Options &given)
        : options(given), set(xq_set_new(given.rules, 0, XQ_DTM)) {}
    ~Tables() { xq_set_free(set); }
    Tables(const Tables &) = delete;
    Tables &operator=(const Tables &) = delete;

    Options options;
    xq_set *set;
};

std::shared_ptr<const Tables> current;

// The reader of a thread, renewed after `init`.
struct ThreadReader {
    ~ThreadReader() { xq_reader_free(reader); }

    xq_reader *get()
    {
        if (tables != current) {
            xq_reader_free(reader);
            tables = current;
            reader = tables ? xq_reader_new(tables->set, tables->options.cache_bytes) : nullptr;
        }
        return reader;
    }

    std::shared_ptr<const Tables> tables;
    xq_reader *reader = nullptr;
};

thread_local ThreadReader own;

bool is_same(xq_step a, xq_step b) { return a.from == b.from && a.to == b.to; }

// The position after a move.
Board after(Board board, xq_step move)
{
    for (std::size_t i = 0; i < board.count; i++)
        if (board.squares[i] == move.to) {
            board.key -= xq_piece_key(board.pieces[i]);
            board.count--;
            board.pieces[i] = board.pieces[board.count];
            board.squares[i] = board.squares[board.count];
            break;
        }
    for (std::size_t i = 0; i < board.count; i++)
        if (board.squares[i] == move.from)
            board.squares[i] = move.to;
    board.side = 1 - board.side;
    return board;
}

// A distance as a number: an order counts more than any plies.
int distance(const xq_value &value)
{
    const std::int64_t plies = std::min<std::int64_t>(value.plies, 99999);
    const std::int64_t orders = std::min<std::int64_t>(value.order, 20000);
    return int(std::max<std::int64_t>(100000 * orders + plies, 1));
}

// Bands: by mate or conversion, then by the rules, the lower order first.
int score_of(const xq_value &value, int win)
{
    const std::int64_t plies = std::min<std::int64_t>(value.plies, 499);
    const std::int64_t orders = std::min<std::int64_t>(value.order, 9);
    return value.wdl * int(win - 500 * orders - plies);
}

} // namespace

int MaxCardinality = 0;

void Board::put(int piece, int square)
{
    if (count == XQ_MAX_PIECES)
        return;
    pieces[count] = std::uint8_t(piece);
    squares[count++] = std::uint8_t(square);
    key += xq_piece_key(piece);
}

std::string init(const std::string &paths, const Options &options)
{
#ifdef _WIN32
    const char separator = ';';
#else
    const char separator = ':';
#endif
    std::string problems;
    current.reset();
    MaxCardinality = 0;
    if (paths.empty() || paths == "<empty>")
        return problems;
    const auto tables = std::make_shared<Tables>(options);
    if (tables->set == nullptr)
        return "there is no such rule set, or no memory\n";
    for (std::size_t start = 0; start <= paths.size();) {
        const std::size_t end = std::min(paths.find(separator, start), paths.size());
        const std::string path = paths.substr(start, end - start);
        const int added = path.empty() ? 0 : xq_add_directory(tables->set, path.c_str());
        if (added < 0)
            problems += path + ": " + xq_status_text(added) + "\n";
        start = end + 1;
    }
    const int held = xq_hold(tables->set, options.hold_bytes);
    if (held < 0)
        problems += std::string("a table: ") + xq_status_text(held) + "\n";
    MaxCardinality = xq_max_men(tables->set);
    current = tables;
    return problems;
}

WDLScore probe_wdl(const Board &board, ProbeState *state)
{
    int wdl = 0, status = XQ_ERR_MISSING;
    xq_reader *reader = own.get();
    if (reader != nullptr) {
        const xq_material *material = xq_find(own.tables->set, board.key);
        status = xq_probe_cached(reader, material, board.pieces, board.squares, board.count,
                                 board.side, &wdl);
        if (status == XQ_ERR_COLD && own.tables->options.reads_disk)
            status = xq_probe_wdl(reader, board.pieces, board.squares, board.count, board.side, &wdl);
    }
    *state = status == XQ_OK ? OK : FAIL;
    return status == XQ_OK ? WDLScore(2 * wdl) : WDLScoreNone;
}

int probe_dtz(const Board &board, ProbeState *state)
{
    xq_value value = {0, 0, 0, 0, XQ_NO_METRIC};
    xq_reader *reader = own.get();
    *state = reader != nullptr && xq_probe(reader, board.pieces, board.squares, board.count,
                                           board.side, &value) == XQ_OK
                 ? OK
                 : FAIL;
    return *state == FAIL ? 0 : value.wdl * distance(value);
}

bool root_probe(const Game &game, RootMoves &moves)
{
    xq_move all[XQ_MAX_MOVES], fit[XQ_MAX_MOVES];
    std::size_t count = 0, fits = 0;
    xq_reader *reader = own.get();
    const Board &start = game.start;
    Board now = start;
    for (const xq_step &move : game.played)
        now = after(now, move);
    if (reader == nullptr ||
        xq_filter_root(reader, start.pieces, start.squares, start.count, start.side,
                       game.played.data(), game.played.size(), nullptr, fit, &fits) != XQ_OK ||
        xq_probe_root(reader, now.pieces, now.squares, now.count, now.side, nullptr, all,
                      &count) != XQ_OK)
        return false;
    const int win = own.tables->options.win;
    for (RootMove &move : moves) {
        move.rank = -int(XQ_MAX_MOVES) - 1;
        for (std::size_t i = 0; i < count; i++)
            if (is_same(move.move, {all[i].from, all[i].to})) {
                move.rank = -int(i) - 1;
                move.score = score_of(all[i].worth, win);
            }
        for (std::size_t i = 0; i < fits; i++)
            if (is_same(move.move, {fit[i].from, fit[i].to}))
                move.rank = 0;
    }
    return true;
}

bool root_probe_wdl(const Game &game, RootMoves &moves)
{
    Board now = game.start;
    for (const xq_step &move : game.played)
        now = after(now, move);
    RootMoves ranked = moves;
    for (RootMove &move : ranked) {
        ProbeState state;
        const WDLScore score = probe_wdl(after(now, move.move), &state);
        if (state == FAIL)
            return false;
        move.rank = -score;
        move.score = -score * own.tables->options.win / WDLWin;
    }
    moves = ranked;
    return true;
}

Config rank_root_moves(const Game &game, RootMoves &moves)
{
    Config config;
    const auto better = [](const RootMove &a, const RootMove &b) { return a.rank > b.rank; };
    config.cardinality = MaxCardinality;
    config.root_in_tb = root_probe(game, moves) || root_probe_wdl(game, moves);
    if (config.root_in_tb)
        std::stable_sort(moves.begin(), moves.end(), better);
    return config;
}

} // namespace xqprobe
