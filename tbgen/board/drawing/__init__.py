"""Pictures of positions, games and statistics: SVG, and with libraries PNG and GIF.

    diagram    position as SVG
    scenery    the empty board below the pieces
    pieces     the strokes of the pieces
    story      game or line, ply by ply: the frames of an animation
    animation  game or line as animated SVG
    flipbook   game or line as GIF
    raster     SVG to PNG
    figures    histograms and bars of table statistics

All shapes were drawn for this project: see `pieces`.
"""
