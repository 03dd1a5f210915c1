"""Test code that several folders share: tables built once, random positions, planted errors.

paths            folders of the repository and of the test data
sources          source files, for the house tests
commands         run the installed commands, engines and servers
board_server     servers and browsers for the tests of the board
browsing, axe    actions on a page in a browser; accessibility checks
languages        language checks of pages
sessions         console sessions shown in pages
fileserver       HTTP server of a folder
cprograms        compile and run programs of the C reader
debian           sources of Debian packages
built            tables built in this process
solutions        materials solved in memory
memory_tables    tables in memory with values that a test may change
random_tables    small table files of random values
random_outcomes  small win-draw-loss files of random outcomes
mutations        damaged table files
certificates     certificates of small tables (records that a table was proved)
boards           arrays of boards: all placements of a material, or random ones
rows             random rows of a set of positions
strategies       random positions and games
loops            random loops with checks and chases
planting         errors to plant in correct tables
onearmed         candidates for patterns if only one side can attack
regions          comparison with the naive solver on some positions
agreement        comparison with pyffish's referee
play             games between `best_move` and a defender
starts           positions from which the games of `play` start
defences         rules by which the defender of `play` chooses moves
tournament       series of games of `play` from many positions
engines          tables whose `best_move` is chosen by a mock engine
tracing          evaluation and static exchange of one position
"""
