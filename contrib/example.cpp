// The moves of a position in ranks, through the adapter: plain C++17.
//
//     make && ./example_cpp DIRECTORY "4k4/9/9/9/9/9/9/9/9/3K1R3 w" [MOVE...]
//
// The tables are those of the rule set wxf; moves that were played follow the position.
#include "adapter.h"

#include <cstdio>
#include <cstring>
#include <string>

// Return whether a text after the side to move is empty, "- -", or "- -" and two counters. The
// value of a position does not depend on the counters.
static bool may_end_fen(const char *text)
{
    int end = 0;
    std::sscanf(text, " - - %*[0-9] %*[0-9] %n", &end);
    if (end == 0)
        std::sscanf(text, " - - %n", &end);
    text += end;
    return text[std::strspn(text, " ")] == '\0';
}

// Read a FEN, ten ranks of nine points and the side to move; false for another text.
static bool read_fen(const std::string &fen, xqprobe::Board &board)
{
    static const std::string letters = "KABRNCPkabrncp";
    int rank = 9, file = 0;
    std::size_t at = 0;
    for (; at < fen.size() && fen[at] != ' '; at++) {
        const std::size_t letter = letters.find(fen[at]);
        if (fen[at] == '/' && file == 9) {
            rank--;
            file = 0;
        } else if (fen[at] >= '1' && fen[at] <= '9') {
            file += fen[at] - '0';
        } else if (letter == std::string::npos || rank < 0 || file > 8) {
            return false;
        } else {
            const int black = letter < 7 ? 0 : XQ_BLACK_PIECE;
            board.put(int(letter % 7) + 1 + black, 9 * rank + file++);
        }
    }
    const std::string side = fen.substr(at, 3);
    if (rank != 0 || file != 9 || side.size() < 2 || std::strchr("wrb", side[1]) == nullptr
        || (side.size() == 3 && side[2] != ' ') || !may_end_fen(fen.c_str() + at + 2))
        return false;
    board.side = side[1] == 'b' ? XQ_BLACK : XQ_RED;
    return true;
}

static xq_step step_of(const std::string &text)
{
    if (text.size() != 4)
        return {0, 0};
    return {std::uint8_t(9 * (text[1] - '0') + text[0] - 'a'),
            std::uint8_t(9 * (text[3] - '0') + text[2] - 'a')};
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        std::fprintf(stderr, "usage: %s DIRECTORY FEN [MOVE...]\n", argv[0]);
        return 2;
    }
    const xqprobe::Report report = xqprobe::init(argv[1]);
    std::fprintf(stderr, "%s\n", report.text().c_str());
    xqprobe::Game game;
    if (!read_fen(argv[2], game.start)) {
        std::fprintf(stderr, "this is no FEN of ten ranks of nine points, with w or b to move\n");
        return 2;
    }
    for (int i = 3; i < argc; i++)
        game.played.push_back(step_of(argv[i]));
    xqprobe::ProbeState state;
    const int distance = xqprobe::probe_dtz(game.start, &state);
    if (state == xqprobe::FAIL) {
        std::fprintf(stderr, "there is no table of this position\n");
        return 1;
    }
    std::printf("at the start: %d\n", distance);
    // An engine has its legal moves. Here all pairs of squares are ranked; illegal moves have the lowest
    // rank, and are not printed.
    xqprobe::RootMoves moves;
    for (int from = 0; from < 90; from++)
        for (int to = 0; to < 90; to++)
            moves.push_back({{std::uint8_t(from), std::uint8_t(to)}, 0, 0});
    if (!xqprobe::root_probe(game, moves)) {
        std::fprintf(stderr, "a table is missing, or a move is not legal\n");
        return 1;
    }
    for (int rank = 0; rank >= -int(XQ_MAX_MOVES); rank--)
        for (const xqprobe::RootMove &move : moves)
            if (move.rank == rank)
                std::printf("%c%d%c%d rank %d score %d\n", 'a' + move.move.from % 9,
                            move.move.from / 9, 'a' + move.move.to % 9, move.move.to / 9, rank,
                            move.score);
    return 0;
}
