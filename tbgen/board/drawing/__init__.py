"""Pictures of positions, games and figures: SVG, and with libraries PNG and GIF.

    diagram    position on the board of `scenery`; `pieces` has the strokes of the pieces
    story      line or game, ply by ply
    animation  line or game as animated SVG       flipbook   as GIF     raster   SVG to PNG
    figures    histograms of tables

All shapes were drawn for this project: see `pieces`.
"""
