"""Sets of positions as rows of ninety bits, and the operations of all retrograde phases on them.

    bitsets    a row as two words of 45 bits: squares, rays, shifts
    frame      an index as flat arrays: leads, mids and their moves
    records    compressed sets without random access
    sets       sets and frontiers, and their algebra
    gather     predecessors by quiet moves, for a whole lead
    moves      predecessors and escapes by quiet moves, for single rows
    sweep      predecessors of a frontier within a set: the operation that all phases use
    boards     conversion between slots and boards of ninety squares, for the scalar rules
    workers    threads that process ranges of leads, and a meter of their work
    storage    large arrays, in memory or on disk

This package is independent of codes, tables and repetition.

    inner piece  one of the attackers (rooks, knights, cannons, pawns); the others are the *men*
    lead, mid    numbers of the placements of the defenders (kings, advisors, elephants of both
                 sides) and of the men (`tbgen.indexing.layout`)
    row          the positions of one lead and mid, one bit for each square of the inner piece; its
                 number is lead * mids + mid
    set          positions with one side to move: uint64 (rows, 2)
    slot         place of a position in the index: its row and the square of its inner piece, also
                 as one number, row * 90 + square. Identical pieces and mirror images give a
                 position several slots; one of them, the *canonical* slot, counts
    frontier     sparse set, usually the positions that the last sweep found (`sets.Frontier`)
    escape       a move by which a side avoids a loss, or the position after this move
    chunk        consecutive leads whose positions are recorded together (`workers.Chunks`)
    record       the positions of a set in one chunk, as compact bytes (`records`)

Parameters of kernels, unless a kernel says otherwise:

    lead_0, lead_1 : int64, range [lead_0, lead_1) of leads to process; no other lead is written
    chunk_0, chunk_1 : int64, range [chunk_0, chunk_1) of chunks to process, one record each
    lead, mid : int64, numbers from 0 on; row : int64, lead * mids + mid
    row_0 : int64, the first row of a record's chunk; first : int64, the first row of a lead
    leads, mids : int64, total numbers of leads and mids
    members, others : Rows, in; sets of one side to move
    within : Rows, in; positions outside are ignored
    found : Frontier, out, or inout where positions are added; other leads are not changed
    result : Rows, inout
    use_escape : bool, whether `escape` is used
    escape : Frontier of the opponent without lists, in; positions with a quiet move into it are
        excluded. `Sweeper.predecessors` (`sweep`) states the precondition
    data : uint8 (n,), in; a record
    at : int64, byte offset in a record
    filtered : bool, whether `within` is used
    size : int64, number of leads in each chunk but the last, which may have fewer
    out : uint8 (n,), out; records of the chunks, one after the other
    ends : int64 (chunks,), out; end offset of each chunk's record in `out`
    man : int64, a piece of the mid: a column of `Frame.mid_squares`
    side : int64, side that moves (to move in the positions that are found), 0 Red, 1 Black
    kind : int64, `PieceType` of the piece that moves or attacks: rook, knight, cannon or pawn
    stride : int64, stride of the group of the piece that moves (`frame`)
    square, source, target : int64, squares: of the inner piece; start and end of a move
    lo, hi : uint64, the two words of a set: often positions of one row
    word, w, start, free : uint64, one word of a set
    free_lo, free_hi : uint64, set of the squares that may be passed and entered
    occ_lo, occ_hi : uint64, set of the occupied squares, without the inner piece
    taken_lo, taken_hi : uint64, set of the occupied squares of a lead, or of lead and mid
    front : Frontier, in (inout where positions are put or removed); in sweeps, positions with the
        opponent of `side` to move
    reached : uint64 (mids, 2), inout; positions found so far in one lead, by mid
    touched : int32 (mids + 1,), inout; list of mids: all whose rows of `reached` are not empty, and
        possibly others
    count : int64, length of the list `touched`
    squares : int64 (pieces,), inout; squares of the pieces, in the layout's order
    board : int8 (90,), inout; piece codes
    buffer : uint64 (BOARD_WORDS,), inout; the boards of `gather`
    frame : Frame; converter : SlotConverter; scratch : Scratch, of the thread
"""
