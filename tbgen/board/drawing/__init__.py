"""Pictures of positions, games and statistics: SVG, and with libraries PNG and GIF.

    diagram    position as SVG, on the empty board
    pieces     the strokes of pieces, coordinates and river
    animation  game or line ply by ply, as frames and as animated SVG
    bitmap     position as PNG, game or line as GIF
    figures    histograms and bars of table statistics

All shapes were drawn for this project: see `pieces`.
"""
