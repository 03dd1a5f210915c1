// Eight threads ask contrib/adapter.h while tables are opened, closed and come into memory.
//
//     adapter_threads RULES DIRECTORY ROUNDS     records from stdin: side, 90 piece codes
//     stdout: the outcome of each record, 2, 0 or -2, one line each; status 3 if threads disagree
#include "../../contrib/adapter.h"

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <thread>

namespace {

const int THREADS = 8, SQUARES = 90;
const int UNKNOWN = xqprobe::WDLScoreNone;

xqprobe::Board board_of(const char *record)
{
    xqprobe::Board board;
    board.side = record[0];
    for (int square = 0; square < SQUARES; square++)
        if (record[1 + square] != 0)
            board.put(record[1 + square], square);
    return board;
}

} // namespace

int main(int argc, char **argv)
{
    xqprobe::Options options;
    if (argc != 4 || xq_rules_of_name(argv[1], &options.rules) != XQ_OK)
        return 2;
    const std::string records{std::istreambuf_iterator<char>(std::cin), {}};
    std::vector<xqprobe::Board> boards;
    for (std::size_t at = 0; at + SQUARES < records.size(); at += 1 + SQUARES)
        boards.push_back(board_of(records.data() + at));
    xqprobe::init(argv[2], options);
    std::vector<int> expected;
    for (const xqprobe::Board &board : boards) {
        xqprobe::ProbeState state;
        expected.push_back(xqprobe::probe_wdl(board, &state));
    }
    std::atomic<bool> is_over{false};
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < THREADS; thread++)
        threads.emplace_back([&] {
            while (!is_over)
                for (std::size_t i = 0; i < boards.size() && !is_over; i++) {
                    xqprobe::ProbeState state;
                    const int wdl = xqprobe::probe_wdl(boards[i], &state);
                    // Between two sets of tables there may be none.
                    if (wdl != expected[i] && wdl != UNKNOWN)
                        wrong++;
                }
        });
    for (int round = 0; round < std::atoi(argv[3]); round++) {
        options.hold_bytes = round % 3 == 0 ? 0 : std::size_t(64) << 20;
        xqprobe::init(round % 4 == 3 ? "<empty>" : argv[2], options);
        if (round % 2 == 0)
            xqprobe::wait_until_held();
    }
    is_over = true;
    for (std::thread &thread : threads)
        thread.join();
    for (const int wdl : expected)
        std::cout << wdl << "\n";
    return wrong != 0 ? 3 : 0;
}
