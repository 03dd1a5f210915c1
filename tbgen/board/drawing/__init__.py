"""Pictures of positions, games and figures: SVG, and with libraries PNG and GIF.

    diagram    a position on the board of `scenery`; `pieces` has the strokes of the pieces
    story      a line or a game, ply by ply
    animation  it as SVG that moves               flipbook   as GIF     raster   SVG as pixels
    figures    histograms of tables

Nothing is drawn from another project: see `pieces`.
"""
