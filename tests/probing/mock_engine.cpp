// An engine of a hundred lines, which stands for those that contrib/adapter.h is for: alpha-beta, no
// evaluation but material, tables in the search and at the root.
//
//     mock_engine RULES DEPTH DIRECTORIES     RULES as in the names of tables
//     stdin:   a line per game so far: the FEN's board, its side, the moves since
//     stdout:  bestmove MOVE score SCORE tbhits HITS root 0|1, or "bestmove (none)"
#include "../../contrib/adapter.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>

namespace {

enum { NONE, KING, ADVISOR, ELEPHANT, ROOK, KNIGHT, CANNON, PAWN };
const int WORTH[8] = {0, 0, 2, 2, 9, 4, 4, 1};
const int INFINITE = 30000, MATE = 29000;

struct Position {
    int board[90] = {};
    int side = 0;
    std::uint64_t key = 0;
};

int side_of(int piece) { return piece >> 3; }
int kind_of(int piece) { return piece & 7; }

void put(Position &p, int square, int piece)
{
    p.key += xq_piece_key(piece) - xq_piece_key(p.board[square]);
    p.board[square] = piece;
}

Position after(Position p, xq_step move)
{
    const int piece = p.board[move.from];
    put(p, move.from, 0);
    put(p, move.to, piece);
    p.side = 1 - p.side;
    return p;
}

bool is_at_home(int side, int rank, int file)
{
    const int own = side == XQ_RED ? rank : 9 - rank;
    return own <= 2 && file >= 3 && file <= 5;
}

// Squares that the piece on a square may go to, the safety of its king apart.
void add_moves(const Position &p, int from, std::vector<xq_step> &moves)
{
    static const int line[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    static const int corner[4][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
    const int side = side_of(p.board[from]), kind = kind_of(p.board[from]);
    const int rank = from / 9, file = from % 9, forward = side == XQ_RED ? 1 : -1;
    const auto try_square = [&](int r, int f) {
        if (r < 0 || r > 9 || f < 0 || f > 8)
            return false;
        const int there = p.board[9 * r + f];
        if (there == 0 || side_of(there) != side)
            moves.push_back({std::uint8_t(from), std::uint8_t(9 * r + f)});
        return there == 0;
    };
    for (int d = 0; d < 4; d++) {
        const int *way = kind == ADVISOR || kind == ELEPHANT ? corner[d] : line[d];
        const int r = rank + way[0], f = file + way[1];
        if (r < 0 || r > 9 || f < 0 || f > 8)
            continue;
        if ((kind == KING || kind == ADVISOR) && is_at_home(side, r, f)) {
            try_square(r, f);
        } else if (kind == ELEPHANT && p.board[9 * r + f] == 0 && (r < 5) == (rank < 5)) {
            // The eye is free, and not beyond the river; the square two away then is not, either.
            try_square(r + way[0], f + way[1]);
        } else if (kind == KNIGHT && p.board[9 * r + f] == 0) {
            for (int turn = -1; turn <= 1; turn += 2)
                try_square(r + way[0] + turn * (way[0] == 0), f + way[1] + turn * (way[1] == 0));
        } else if (kind == PAWN) {
            if (way[0] == forward || (way[0] == 0 && (side == XQ_RED ? rank > 4 : rank < 5)))
                try_square(r, f);
        } else if (kind == ROOK || kind == CANNON) {
            int step = 1;
            const auto on_board = [&] {
                const int a = rank + step * way[0], b = file + step * way[1];
                return a >= 0 && a <= 9 && b >= 0 && b <= 8;
            };
            const auto there = [&] { return from + step * (9 * way[0] + way[1]); };
            for (; on_board() && p.board[there()] == 0; step++)
                try_square(there() / 9, there() % 9);
            if (kind == CANNON)
                for (step++; on_board() && p.board[there()] == 0;)
                    step++;
            if (on_board())
                try_square(there() / 9, there() % 9);
        }
    }
}

std::vector<xq_step> pseudo_legal(const Position &p)
{
    std::vector<xq_step> moves;
    for (int from = 0; from < 90; from++)
        if (p.board[from] != 0 && side_of(p.board[from]) == p.side)
            add_moves(p, from, moves);
    return moves;
}

// Whether the side to move could take the king, along an open file too.
bool takes_king(const Position &p)
{
    for (const xq_step &move : pseudo_legal(p))
        if (kind_of(p.board[move.to]) == KING)
            return true;
    int seen = 0;
    for (int file = 3; file <= 5; file++, seen = 0)
        for (int square = file; square < 90; square += 9) {
            if (kind_of(p.board[square]) == KING && seen == KING)
                return true;
            if (p.board[square] != 0)
                seen = kind_of(p.board[square]);
        }
    return false;
}

std::vector<xq_step> legal(const Position &p)
{
    std::vector<xq_step> moves;
    for (const xq_step &move : pseudo_legal(p))
        if (!takes_king(after(p, move)))
            moves.push_back(move);
    return moves;
}

// A capture or a pawn's advance: no repetition reaches back beyond it.
bool is_final(const Position &p, xq_step move)
{
    return p.board[move.to] != 0 ||
           (kind_of(p.board[move.from]) == PAWN && move.from % 9 == move.to % 9);
}

xqprobe::Board board_of(const Position &p)
{
    xqprobe::Board board;
    for (int square = 0; square < 90; square++)
        if (p.board[square] != 0)
            board.put(p.board[square], square);
    board.side = p.side;
    return board;
}

int men(const Position &p)
{
    int count = 0;
    for (const int piece : p.board)
        count += piece != 0;
    return count;
}

struct Search {
    xqprobe::Config config;
    long hits = 0;

    int evaluate(const Position &p) const
    {
        int score = 0;
        for (const int piece : p.board)
            score += side_of(piece) == p.side ? WORTH[kind_of(piece)] : -WORTH[kind_of(piece)];
        return score;
    }

    // `final_move`: the last move cannot be undone, so that the position has no past.
    int alpha_beta(const Position &p, int alpha, int beta, int depth, int ply, bool final_move)
    {
        if (final_move && men(p) <= config.cardinality) {
            xqprobe::ProbeState state;
            const int wdl = xqprobe::probe_wdl(board_of(p), &state);
            hits += state == xqprobe::OK;
            if (state == xqprobe::OK)
                return wdl == 0 ? 0 : wdl > 0 ? 20000 - ply : ply - 20000;
        }
        const std::vector<xq_step> moves = legal(p);
        if (moves.empty())
            return ply - MATE;
        if (depth == 0)
            return evaluate(p);
        for (const xq_step &move : moves) {
            alpha = std::max(alpha, -alpha_beta(after(p, move), -beta, -alpha, depth - 1, ply + 1,
                                                is_final(p, move)));
            if (alpha >= beta)
                break;
        }
        return alpha;
    }
};

xq_step step_of(const std::string &text)
{
    return {std::uint8_t(9 * (text[1] - '0') + text[0] - 'a'),
            std::uint8_t(9 * (text[3] - '0') + text[2] - 'a')};
}

Position parse(const std::string &board, const std::string &side)
{
    static const char letters[] = " KABRNCP";
    Position p;
    int square = 81;
    for (const char c : board) {
        if (c == '/')
            square -= 18;
        else if (std::isdigit(c))
            square += c - '0';
        else
            put(p, square++, int(std::strchr(letters, std::toupper(c)) - letters) +
                                 (std::islower(c) ? XQ_BLACK_PIECE : 0));
    }
    p.side = side == "b" ? XQ_BLACK : XQ_RED;
    return p;
}

void answer(std::istream &line, int depth)
{
    std::string board, side, text;
    line >> board >> side;
    Position p = parse(board, side);
    xqprobe::Game game;
    game.start = board_of(p);
    while (line >> text) {
        game.played.push_back(step_of(text));
        p = after(p, game.played.back());
    }
    xqprobe::RootMoves moves;
    for (const xq_step &move : legal(p))
        moves.push_back({move, 0, 0});
    if (moves.empty()) {
        std::cout << "bestmove (none)" << std::endl;
        return;
    }
    Search search;
    search.config = xqprobe::rank_root_moves(game, moves);
    int best = -INFINITE;
    xqprobe::RootMove chosen = moves.front();
    for (const xqprobe::RootMove &move : moves) {
        if (search.config.root_in_tb && move.rank != moves.front().rank)
            break;
        const int score = -search.alpha_beta(after(p, move.move), -INFINITE, INFINITE, depth - 1, 1,
                                             is_final(p, move.move));
        if (score > best) {
            best = score;
            chosen = move;
        }
    }
    const xq_step m = chosen.move;
    std::cout << "bestmove " << char('a' + m.from % 9) << m.from / 9 << char('a' + m.to % 9)
              << m.to / 9 << " score " << (search.config.root_in_tb ? chosen.score : best)
              << " tbhits " << search.hits + search.config.root_in_tb * long(moves.size())
              << " root " << search.config.root_in_tb << std::endl;
}

} // namespace

int main(int argc, char **argv)
{
    xqprobe::Options options;
    if (argc != 4 || xq_rules_of_name(argv[1], &options.rules) != XQ_OK)
        return 2;
    const xqprobe::Report report = xqprobe::init(argv[3], options);
    if (!report.is_clean()) {
        std::cerr << report.text() << "\n";
        return 1;
    }
    for (std::string text; std::getline(std::cin, text);) {
        std::istringstream line(text);
        answer(line, std::atoi(argv[2]));
    }
    return 0;
}
