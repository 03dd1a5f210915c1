// The moves of a position in ranks, through the adapter: plain C++17.
//
//     make && ./example_cpp DIRECTORY "4k4/9/9/9/9/9/9/9/9/3K1R3 w" [MOVE...]
//
// The tables are those of the rule set wxf; moves that were played follow the position.
#include "adapter.h"

#include <cctype>
#include <cstdio>
#include <cstring>

static xqprobe::Board board_of(const std::string &fen)
{
    static const char letters[] = " KABRNCP";
    xqprobe::Board board;
    int rank = 9, file = 0;
    std::size_t at = 0;
    for (; at < fen.size() && fen[at] != ' '; at++) {
        const char *letter = std::strchr(letters, std::toupper(fen[at]));
        if (fen[at] == '/') {
            rank--;
            file = 0;
        } else if (letter != nullptr && rank >= 0 && file < 9) {
            const int black = std::islower(fen[at]) ? XQ_BLACK_PIECE : 0;
            board.put(int(letter - letters) + black, 9 * rank + file++);
        } else {
            file += fen[at] - '0';
        }
    }
    board.side = fen.compare(at, 2, " b") == 0 ? XQ_BLACK : XQ_RED;
    return board;
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
    game.start = board_of(argv[2]);
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
