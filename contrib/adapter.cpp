// See adapter.h. MIT licence.
#include "adapter.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace xqprobe {

namespace {

// Tables that exist as long as any thread has a reader of them.
struct Tables {
    explicit Tables(const Options &given)
        : options(given), set(xq_set_new(given.rules, 0, XQ_DTM)) {}
    ~Tables() { xq_set_free(set); }
    Tables(const Tables &) = delete;
    Tables &operator=(const Tables &) = delete;

    Options options;
    xq_set *set;
};

// The tables in use, and a thread that loads the outcomes of a second set of the same tables.
class Current {
public:
    ~Current() { stop(); }

    // Use `opened`, and replace it by `to_hold`, the same tables, once their outcomes are in memory.
    // Either may be null.
    void use(std::shared_ptr<const Tables> opened, std::shared_ptr<Tables> to_hold)
    {
        std::lock_guard<std::mutex> lock(holder_mutex);
        stop();
        publish(std::move(opened));
        if (to_hold != nullptr)
            holder = std::thread([this, to_hold] {
                int status = 1;
                while (!is_stopped && status != 0 && status != XQ_ERR_MEMORY)
                    status = xq_hold_next(to_hold->set, to_hold->options.hold_bytes);
                if (!is_stopped)
                    publish(to_hold);
            });
    }

    // Wait until outcomes are in memory, or their loading has failed.
    void wait()
    {
        std::lock_guard<std::mutex> lock(holder_mutex);
        join();
    }

    std::shared_ptr<const Tables> get(std::uint64_t *number)
    {
        std::lock_guard<std::mutex> lock(mutex);
        *number = published;
        return tables;
    }

    std::atomic<std::uint64_t> published{0}; // number of times that `tables` has been set

private:
    void join()
    {
        if (holder.joinable())
            holder.join();
    }

    void stop()
    {
        is_stopped = true;
        join();
        is_stopped = false;
    }

    void publish(std::shared_ptr<const Tables> next)
    {
        std::lock_guard<std::mutex> lock(mutex);
        tables = std::move(next);
        published++;
    }

    std::mutex mutex;        // of `tables`
    std::mutex holder_mutex; // of `holder`
    std::shared_ptr<const Tables> tables;
    std::thread holder;
    std::atomic<bool> is_stopped{false};
};

Current current;

// The reader of a thread, renewed when other tables have been published.
struct ThreadReader {
    ~ThreadReader() { xq_reader_free(reader); }

    xq_reader *get()
    {
        if (number != current.published) {
            xq_reader_free(reader);
            tables = current.get(&number);
            reader = tables ? xq_reader_new(tables->set, tables->options.cache_bytes) : nullptr;
        }
        return reader;
    }

    std::shared_ptr<const Tables> tables;
    std::uint64_t number = 0;
    xq_reader *reader = nullptr;
};

thread_local ThreadReader own;

bool is_same(xq_step a, xq_step b) { return a.from == b.from && a.to == b.to; }

// The rank of a move that is not legal, below all others.
const int LOWEST = -int(XQ_MAX_MOVES) - 1;

// The position at the end of a game.
Board end_of(const Game &game)
{
    Board now = game.start;
    for (const xq_step &move : game.played)
        now = now.after(move);
    return now;
}

std::vector<std::string> split(const std::string &paths)
{
#ifdef _WIN32
    const char separator = ';';
#else
    const char separator = ':';
#endif
    std::vector<std::string> parts;
    for (std::size_t start = 0; start <= paths.size();) {
        const std::size_t end = std::min(paths.find(separator, start), paths.size());
        if (end > start)
            parts.push_back(paths.substr(start, end - start));
        start = end + 1;
    }
    return parts;
}

// Open the tables of some directories, and complete the report; NULL if there is no memory or no such
// rule set.
std::shared_ptr<Tables> open(const std::vector<std::string> &directories, const Options &options,
                             Report &report)
{
    auto tables = std::make_shared<Tables>(options);
    if (tables->set == nullptr)
        return nullptr;
    for (const std::string &directory : directories)
        xq_add_directory(tables->set, directory.c_str());
    int status = XQ_OK;
    for (std::size_t i = 0; const char *path = xq_skipped(tables->set, i, &status); i++)
        report.skipped.push_back({path, status});
    report.summary = xq_summary_of(tables->set);
    return tables;
}

// The distance of a win or loss as a number of at least 1: orders count more than plies.
int distance(const xq_value &value)
{
    const std::int64_t plies = std::min<std::int64_t>(value.plies, 99999);
    const std::int64_t orders = std::min<std::int64_t>(value.order, 20000);
    return int(std::max<std::int64_t>(100000 * orders + plies, 1));
}

// The score of a value, in bands: by mate or conversion, then by the rules, the lower order first.
int score_of(const xq_value &value, int win)
{
    const std::int64_t plies = std::min<std::int64_t>(value.plies, 499);
    const std::int64_t orders = std::min<std::int64_t>(value.order, 9);
    return value.wdl * int(win - 500 * orders - plies);
}

} // namespace

std::atomic<int> MaxCardinality{0};

void Board::put(int piece, int square)
{
    if (count == XQ_MAX_PIECES)
        return;
    pieces[count] = std::uint8_t(piece);
    squares[count++] = std::uint8_t(square);
    key += xq_piece_key(piece);
}

Board Board::after(xq_step move) const
{
    Board next = *this;
    for (std::size_t i = 0; i < next.count; i++)
        if (next.squares[i] == move.to) {
            next.key -= xq_piece_key(next.pieces[i]);
            next.count--;
            next.pieces[i] = next.pieces[next.count];
            next.squares[i] = next.squares[next.count];
            break;
        }
    for (std::size_t i = 0; i < next.count; i++)
        if (next.squares[i] == move.from)
            next.squares[i] = move.to;
    next.side = 1 - next.side;
    return next;
}

std::string Report::text() const
{
    std::size_t tables = 0;
    std::string by_men, problems;
    for (int men = 0; men <= XQ_MAX_PIECES; men++)
        if (summary.of_men[men] != 0) {
            tables += summary.of_men[men];
            by_men += (by_men.empty() ? ": " : ", ") + std::to_string(summary.of_men[men]) + " of " +
                      std::to_string(men) + " men";
        }
    std::map<int, std::vector<std::string>> reasons;
    for (const Skipped &file : skipped)
        reasons[file.status].push_back(file.path);
    for (const auto &reason : reasons)
        problems += "\nskipped " + std::to_string(reason.second.size()) + ": " +
                    xq_status_text(reason.first) + " (" + reason.second.front() + ")";
    return std::to_string(tables) + " endgame tables" + by_men + "; distances of " +
           std::to_string(summary.distances) + ", outcome files of " +
           std::to_string(summary.outcomes) + problems;
}

bool Report::is_clean() const
{
    return std::all_of(skipped.begin(), skipped.end(), [](const Skipped &file) {
        return file.status == XQ_ERR_OTHER_SET;
    });
}

Report init(const std::string &paths, const Options &options)
{
    Report report, again;
    if (paths.empty() || paths == "<empty>") {
        current.use(nullptr, nullptr);
        MaxCardinality = 0;
        return report;
    }
    const std::vector<std::string> directories = split(paths);
    std::shared_ptr<Tables> opened = open(directories, options, report);
    if (opened == nullptr) {
        const bool is_rule_set = xq_rules_name(options.rules) != nullptr;
        report.skipped.push_back({paths, is_rule_set ? XQ_ERR_MEMORY : XQ_ERR_ARGUMENT});
        return report;
    }
    std::shared_ptr<Tables> to_hold;
    if (options.hold_bytes > 0)
        to_hold = open(directories, options, again);
    if (to_hold != nullptr && xq_set_size(to_hold->set) < xq_set_size(opened->set)) {
        report.skipped = again.skipped;
        to_hold = nullptr; // A table would be lost: read outcomes from disk instead.
    }
    MaxCardinality = xq_max_men(opened->set);
    current.use(opened, to_hold);
    return report;
}

void wait_until_held() { current.wait(); }

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
    xq_value root;
    std::size_t count = 0, fits = 0;
    xq_reader *reader = own.get();
    const Board &start = game.start;
    const Board now = end_of(game);
    if (reader == nullptr ||
        xq_filter_root(reader, start.pieces, start.squares, start.count, start.side,
                       game.played.data(), game.played.size(), &root, fit, &fits) != XQ_OK ||
        xq_probe_root(reader, now.pieces, now.squares, now.count, now.side, nullptr, all,
                      &count) != XQ_OK)
        return false;
    const int win = own.tables->options.win;
    for (RootMove &move : moves) {
        move.rank = LOWEST;
        for (std::size_t i = 0; i < count; i++)
            if (is_same(move.move, {all[i].from, all[i].to})) {
                move.rank = -int(i) - 1;
                move.score = score_of(all[i].worth, win);
            }
        for (std::size_t i = 0; i < fits; i++)
            if (is_same(move.move, {fit[i].from, fit[i].to})) {
                move.rank = 0;
                // A best move whose table is missing gets the score of the root.
                if (fit[i].status != XQ_OK)
                    move.score = score_of(root, win);
            }
    }
    return true;
}

bool root_probe_wdl(const Game &game, RootMoves &moves)
{
    xq_step legal[XQ_MAX_MOVES], fit[XQ_MAX_MOVES];
    std::size_t count = 0, fits = 0;
    int root = 0;
    xq_reader *reader = own.get();
    const Board &start = game.start;
    const Board now = end_of(game);
    RootMoves ranked = moves;
    if (reader == nullptr ||
        xq_filter_outcomes(reader, start.pieces, start.squares, start.count, start.side,
                           game.played.data(), game.played.size(), &root, fit, &fits) != XQ_OK ||
        xq_legal_moves(reader, now.pieces, now.squares, now.count, now.side, legal, &count) != XQ_OK)
        return false;
    for (RootMove &move : ranked) {
        const auto is_move = [&move](const xq_step &step) { return is_same(step, move.move); };
        move.rank = LOWEST;
        if (std::none_of(legal, legal + count, is_move))
            continue;
        ProbeState state;
        const WDLScore score = probe_wdl(now.after(move.move), &state);
        if (state == FAIL)
            return false;
        const bool is_fit = std::any_of(fit, fit + fits, is_move);
        // Of equal outcomes, the moves that the filter keeps come first.
        move.rank = 2 * -score + (is_fit ? 1 : 0);
        move.score = -score * own.tables->options.win / WDLWin;
    }
    moves = ranked;
    return true;
}

Config rank_root_moves(const Game &game, RootMoves &moves)
{
    Config config;
    config.cardinality = MaxCardinality;
    if (root_probe(game, moves))
        config.ranked_by = RankedBy::Distances;
    else if (root_probe_wdl(game, moves))
        config.ranked_by = RankedBy::Outcomes;
    config.root_in_tb = config.ranked_by != RankedBy::Nothing;
    if (config.root_in_tb) {
        std::stable_sort(moves.begin(), moves.end(), [](const RootMove &a, const RootMove &b) {
            return a.rank > b.rank;
        });
        const bool brings_nearer = config.ranked_by == RankedBy::Outcomes && !moves.empty() &&
                                   moves.front().score > 0;
        config.cardinality = brings_nearer ? config.cardinality : 0;
    }
    return config;
}

} // namespace xqprobe
