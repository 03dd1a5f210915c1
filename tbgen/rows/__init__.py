"""Sets of positions, ninety at a time, on which the phases work.

    bitsets    a row as two words of 45 bits: squares, rays, shifts
    frame      an index as flat arrays: leads, mids and their moves
    records    compressed sets without random access
    sets       sets and frontiers, and their algebra
    gather     predecessors by quiet moves, of a whole lead
    moves      the quiet moves of single rows, backwards and forwards
    sweep      the one operation that all phases are made of: sets that follow from moves
    boards     rows as boards of ninety squares, for the scalar rules
    workers    ranges of leads, run by threads
    meter      number of rows that sweeps have read
    storage    large arrays, in memory or on disk

This package is independent of codes, tables and repetition.

    row = lead * mids + mid          lead: kings, advisors and elephants; mid: the groups of
    a set: uint64 (rows, 2)          attackers, but for the inner piece, whose squares are the bits

Parameters of kernels, unless a kernel says otherwise:

    lead_0, lead_1 : int64, the kernel works on the leads [lead_0, lead_1), and writes no other
    chunk_0, chunk_1 : int64, the kernel works on the chunks [chunk_0, chunk_1), as one record each
    lead : int64, 0 to leads - 1
    mid : int64, 0 to mids - 1
    row : int64, lead * mids + mid
    row_0 : int64, the first row of a record's chunk
    leads, mids : int64, how many there are in all
    members, others : Rows, in; sets of one side to move
    within : Rows, in; the positions that count
    found : Frontier, out; rows of other leads stay as they are
    use_escape : bool, `escape` counts
    escape : Frontier of the opponent without lists, in; positions without a quiet move into it
        are looked for. Those of `within` that have none must have a move into `front`
    data : uint8 (n,), in; a record
    filtered : bool, `within` counts
    size : int64, leads of a chunk
    out : uint8 (n,), out; the records of the chunks, one after the other
    ends : int64 (chunks,), out; where the record of each chunk ends
    man : int64, a piece of the mid: a column of `Frame.mid_squares`
    side : int64, 0 Red, 1 Black; whose moves are meant
    kind : int64, the `PieceType` of the piece that moves or attacks: rook, knight, cannon or pawn
    square, source, target : int64, a square, often the inner piece's; where a move begins and ends
    lo, hi : uint64, the two words of a set: often positions of one row
    free_lo, free_hi : uint64, the set of squares that may be passed and entered
    occ_lo, occ_hi : uint64, the set of everything on the board but the inner piece
    word, w, start, free : uint64, one word of a set
    taken_lo, taken_hi : uint64, the set of the squares of a lead, or of lead and mid
    front : Frontier, of the side that is not to move
    reached : uint64 (mids, 2), inout; positions of one lead, by mid
    touched : int32 (mids,), inout; the rows listed so far
    count : int64, how many they are
    frame : Frame
    scratch : Scratch, of the thread
    places : Places
"""
