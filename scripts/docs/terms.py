"""Fields that several answers share (`scripts/docs/answers.py`)."""

from __future__ import annotations

from fields import flag, or_null, record, several, text, whole

from tbgen.indexing.rulesets import Rules

SIDE = text("the side to move", "red", "black")
FEN = text("the position, six fields, one notation for all")
MATERIAL = text("canonical name (docs/format.md)")
RULES = text("rule set of the table", *map(str, Rules))
MINOR = or_null(flag("whether advisors and elephants chase protected pieces; null but under wxf"))
METRIC = text("what distances count to", "dtm", "dtc")
LIMIT = or_null(whole("most orders that were searched; null without a limit"))
CHECKED = flag("whether files were read as a whole (`--check`)")
SQUARE = text("as `e4`")

PIECE = record(
    "a piece, where it stands in the position asked about",
    side=text("its colour", "red", "black"),
    piece=text("`rook`, `knight`, ..."),
    square=SQUARE,
)
MECHANISM = or_null(
    record(
        "the offence that decides, where best play reaches its loop in 80 plies; else null",
        kind=text("the offence", "check", "chase"),
        offender=text("who loses by it", "red", "black"),
        victim=or_null(PIECE | {"description": "the piece that is chased; null for checks"}),
        by=several("the pieces that check or chase", PIECE),
    )
)
