/* xqprobe: xiangqi endgame tables of tbgen, read from C99. MIT licence. See xqprobe.h.
 *
 *     areas, binomials                       basis of every layout
 *     layout      material -> index          docs/format.md, "The index"
 *     table       header, block table        docs/format.md, "Layout of the file"
 *     reader      block -> bytes -> code     "Blocks", "Codes"
 *     held sides  two bits a slot            outcomes in memory, for the search
 *
 * A slot is the number of a position in the index. Its digits (axes), slowest first, are the lead (a
 * number for the squares of the defenders: kings, advisors and elephants of both sides), the ranks of
 * the groups of identical attackers, and the place of one more attacker, the inner piece. A rank is the
 * number of a placement of pieces among all their placements, a place the number of a square in the
 * area of a piece. A tile is some consecutive leads; its slots are divided into blocks.
 *
 * xqgame.c has moves, and their values at the root.
 */
#if !defined(_WIN32) && !defined(XQ_IN_MEMORY) && !defined(XQ_REMOTE)
#  ifndef _POSIX_C_SOURCE
#    define _POSIX_C_SOURCE 200809L
#  endif
#  ifndef _DEFAULT_SOURCE
#    define _DEFAULT_SOURCE /* madvise */
#  endif
#  ifndef _FILE_OFFSET_BITS
#    define _FILE_OFFSET_BITS 64
#  endif
#define XQ_POSIX 1
#elif defined(_WIN32) && !defined(XQ_IN_MEMORY) && !defined(XQ_REMOTE)
#  ifndef WIN32_LEAN_AND_MEAN
#    define WIN32_LEAN_AND_MEAN
#  endif
#define XQ_WINDOWS 1
#endif

#include "xqinternal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef XQ_ZSTD_DECODER
#include XQ_ZSTD_DECODER
#else
#include <zstd.h>
#endif

#ifdef XQ_WINDOWS
#include <windows.h>
#endif
#ifdef XQ_POSIX
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

enum { MAX_GROUPS = 8, MAX_COUNT = 5, CODES = 16, NO_PLACE = 255 };
enum {
    KING_AREA = 9,
    ADVISOR_AREA = 5,
    ELEPHANT_AREA = 7,
    MAX_ADVISOR_RANKS = 10,
    MAX_ELEPHANT_RANKS = 21,
    MAX_DEFENDERS = KING_AREA * MAX_ADVISOR_RANKS * MAX_ELEPHANT_RANKS,
    ARMIES = 9
};
enum { HEADER_BYTES = 168, ENTRY_BYTES = 8, CRC_AT = 164, TABLE_VERSION = 2, WDL_VERSION = 3 };
enum { MATERIAL_AT = 104, MATERIAL_BYTES = 32, MAX_BLOCK_BYTES = 65536, MAX_PALETTE = 256 };
enum { TILE_LEADS_AT = 136, ARRANGEMENT_AT = 140, ARRANGEMENT_BYTES = 12, NO_AXIS = 255 };
enum { MAX_AXES = ARRANGEMENT_BYTES - 1 }; /* more than the lead, the groups, the inner piece */
enum { MINOR_CHASES = 1 }; /* bit 0 of the options */
enum { MAX_SPAN = 16383 }; /* distances below 32768 plies */
enum { WDL_METRIC = 2, TRITS = 5, TRIT_BYTES = 243, MAX_WDL_SLOTS = TRITS * MAX_BLOCK_BYTES };
#ifdef _WIN32
enum { DIRECTORY_MARK = '\\' }; /* separator of paths, besides '/' */
#else
enum { DIRECTORY_MARK = '/' };
#endif

/* Prefetch memory that is about to be read. */
#if defined(__GNUC__)
#define TOUCH(address) __builtin_prefetch(address)
#elif defined(_MSC_VER) && (defined(_M_IX86) || defined(_M_X64))
#include <xmmintrin.h>
#define TOUCH(address) _mm_prefetch((const char *)(address), _MM_HINT_T0)
#else
#define TOUCH(address) ((void)(address))
#endif

static const uint64_t MAX_SLOTS = (uint64_t)1 << 62;
static const uint64_t MAX_METADATA = (uint64_t)1 << 24;
static const int SET_COUNT[KINDS] = {1, 2, 2, 2, 2, 2, 5};

/* -- areas and binomials ------------------------------------------------------------------- */

/* Squares of the pieces of a kind, ascending, and the index of each square in that list. */
typedef struct {
    int size;
    uint8_t squares[SQUARES];
    uint8_t place[SQUARES]; /* NO_PLACE outside */
} xq_area;

static int mirrored(int square) { return square + 8 - 2 * (square % 9); }

static int red_may_stand(int kind, int square)
{
    int rank = square / 9, file = square % 9;
    switch (kind) {
    case KING:
        return rank <= 2 && file >= 3 && file <= 5;
    case ADVISOR:
        return rank <= 2 && file >= 3 && file <= 5 && (rank + file) % 2 == 1;
    case ELEPHANT:
        return (rank % 4 == 0 && rank <= 4 && (file == 2 || file == 6)) ||
               (rank == 2 && file % 4 == 0);
    case PAWN:
        return rank >= 5 || (rank >= 3 && file % 2 == 0);
    default:
        return 1;
    }
}

int xq_may_stand(int piece, int square)
{
    if (piece < 0 || piece >= CODES || (piece & 7) == 0 || square < 0 || square >= SQUARES)
        return 0;
    return red_may_stand((piece & 7) - 1, piece < XQ_BLACK_PIECE ? square : flipped(square));
}

static void fill_area(xq_area *a, int side, int kind)
{
    a->size = 0;
    for (int square = 0; square < SQUARES; square++) {
        a->place[square] = NO_PLACE;
        if (xq_may_stand(8 * side + kind + 1, square)) {
            a->place[square] = (uint8_t)a->size;
            a->squares[a->size++] = (uint8_t)square;
        }
    }
}

/* -- sets, tables, readers: their fields ---------------------------------------------------- */

/* Numbers of pieces of each kind of both sides; side 0 is named first. */
typedef struct {
    uint8_t count[SIDES][KINDS];
} xq_piece_counts;

/* The ranks of one side's defenders. */
typedef struct {
    int advisors, elephants, size; /* numbers of pieces, and of ranks */
    /* by the king's place, and the ranks of advisors and of elephants; -1 where pieces overlap */
    int16_t rank[KING_AREA][MAX_ADVISOR_RANKS][MAX_ELEPHANT_RANKS];
    int16_t mirror[MAX_DEFENDERS]; /* rank of the mirror image, by rank */
} xq_defender_ranks;

/* The leads, numbered by the rank of Red's defenders, then of Black's. */
typedef struct {
    uint32_t count;
    uint32_t base[MAX_DEFENDERS + 1]; /* number of the first lead, by the rank of Red's defenders */
    /* number to add to `base` by the rank of Black's defenders, where Red's are their own mirror image;
     * -1 for the larger rank of two mirror images */
    int16_t symmetric_place[MAX_DEFENDERS];
    uint32_t *by_black; /* the number in the order of Black's defenders; NULL until needed */
} xq_lead_numbers;

/* Identical attackers that are ranked together; `size` is the number of ranks. */
typedef struct {
    int side, kind, count;
    uint64_t size;
} xq_piece_group;

/* The index of one material. Arrays that depend only on defenders are owned by the set. */
typedef struct {
    const xq_defender_ranks *side[SIDES];
    const xq_lead_numbers *leads;
    int groups;
    xq_piece_group group[MAX_GROUPS];
    int inner_side, inner_kind; /* inner_kind -1: no attackers */
    uint64_t inner_size, lead_slots, slots;
} xq_slot_index;

/* The digits of a slot: the lead, the ranks of the groups, the inner piece. */
typedef struct {
    uint32_t of[MAX_AXES];
} xq_digits;

/* Mapping of the slots of one side to blocks (docs/format.md, "Tiles"). */
typedef struct {
    int axes, order[MAX_AXES];    /* axes of a tile, slowest first: 0 the lead, last the inner */
    uint64_t stride[2][MAX_AXES]; /* in a full tile, and in the last one */
    uint64_t tile_slots, last_tile, blocks_per_tile, blocks;
    const uint32_t *file_lead; /* NULL if the file has the leads in the order of the index */
} xq_block_map;

typedef struct {
    xq_piece_counts material;
    uint8_t count[CODES]; /* of each piece code */
    xq_slot_index layout;
    int is_wdl; /* a win-draw-loss file: codes are 1 loss, 2 draw, 3 win, and no distances */
    xq_metric metric;
    int width;            /* bytes of a code */
    uint32_t span;        /* codes of wins, and of losses, of each order */
    uint32_t block_slots; /* slots of a block, except the last one of a tile */
    uint32_t tile_leads;  /* leads of a tile, except the last one */
    xq_block_map map[SIDES];
    uint64_t blocks[SIDES];   /* 0 if all codes of the side are `constant` */
    uint32_t constant[SIDES]; /* 0 if the side has blocks */
    uint64_t first_block; /* number of its first block among all blocks of the set */
    uint64_t *offsets;    /* of every block, and of the end of the last one */
    uint32_t *checks;     /* crc32 of every block, or its code where it has no bytes */
    uint8_t *held[SIDES]; /* outcomes of all slots in the order of the file, four a byte, or NULL */
    const uint8_t *memory; /* NULL if the file is read by `xq_remote_read` */
    uint8_t *owned_memory;
    void *view; /* address of the mapped file, or NULL */
    uint64_t size;
    int file; /* number for `xq_remote_read` */
    char name[96];  /* as in docs/format.md, "Names" */
    int unreadable; /* its outcomes could not be unpacked, and are not tried again */
} xq_table_file;

/* A file that was not added. */
typedef struct {
    char *path;
    int status;
} xq_skipped_file;

/* Files of a material in one of its two colourings. */
struct xq_material {
    uint64_t key;
    xq_table_file *distances, *outcomes; /* either may be NULL; both if the material needs no table */
    int swap; /* whether the files have the colours exchanged */
};

struct xq_set {
    xq_rules rules;
    uint32_t orders;
    xq_metric preferred;
    xq_area areas[SIDES][KINDS];
    uint8_t flip[SQUARES], mirror[SQUARES];
    uint32_t choose[SQUARES + 1][MAX_COUNT + 1]; /* binomial coefficients */
    uint32_t crc_table[8][256];
    xq_defender_ranks *defenders[SIDES][ARMIES]; /* by 3 * advisors + elephants; NULL until needed */
    xq_lead_numbers *leads[ARMIES][ARMIES];      /* likewise, for Red and for Black */
    uint8_t outcome[TRIT_BYTES][TRITS]; /* outcomes in a byte of a win-draw-loss block */
    xq_table_file **tables;
    size_t count, capacity, materials;
    xq_material *found; /* by hash of the key, 0 if free */
    size_t found_mask;
    int max_men;
    uint64_t blocks;
    xq_skipped_file *skipped;
    size_t skipped_count;
};

/* A decoded block in a reader's cache. */
typedef struct xq_entry {
    uint64_t block;
    uint8_t *content;
    size_t bytes;
    struct xq_entry *newer, *older; /* by last use */
    struct xq_entry *next;          /* in the same bucket */
} xq_entry;

struct xq_reader {
    const xq_set *set;
    ZSTD_DCtx *decoder;
    uint8_t *packed; /* scratch for the compressed bytes of a block */
    size_t packed_bytes;
    xq_entry **buckets;
    size_t bucket_mask;
    xq_entry *newest, *oldest;
    size_t bytes, budget;
};

/* -- small helpers ------------------------------------------------------------------------- */

static uint32_t get16(const uint8_t *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8; }

static uint32_t get32(const uint8_t *p) { return get16(p) | get16(p + 2) << 16; }

static uint64_t get64(const uint8_t *p) { return get32(p) | (uint64_t)get32(p + 4) << 32; }

static uint32_t get_code(const uint8_t *p, int width)
{
    return width == 1 ? p[0] : width == 2 ? get16(p) : get32(p);
}

/* CRC-32 of more bytes, `crc` being that of the bytes before. Eight bytes at a time: the checksum of a
 * block takes a fifth of a cold probe. */
static uint32_t crc32_of(const xq_set *set, uint32_t crc, const uint8_t *data, size_t size)
{
    const uint32_t(*step)[256] = set->crc_table;
    crc = ~crc;
    for (; size >= 8; data += 8, size -= 8) {
        uint32_t low = crc ^ get32(data), high = get32(data + 4);
        crc = step[7][low & 255] ^ step[6][low >> 8 & 255] ^ step[5][low >> 16 & 255] ^
              step[4][low >> 24] ^ step[3][high & 255] ^ step[2][high >> 8 & 255] ^
              step[1][high >> 16 & 255] ^ step[0][high >> 24];
    }
    for (; size > 0; data++, size--)
        crc = step[0][(crc ^ *data) & 255] ^ crc >> 8;
    return ~crc;
}

static uint32_t top_code(const xq_table_file *t)
{
    return t->is_wdl ? 3 : UINT32_MAX >> (32 - 8 * t->width);
}

static uint32_t draw_code(const xq_table_file *t) { return top_code(t) / 2 + 1; }

/* Largest size of a block before compression; all blocks of outcomes have that size. */
static size_t max_content(const xq_table_file *t, size_t slots)
{
    size_t width = (size_t)t->width, planes = slots * width, palette = MAX_PALETTE * width + slots;
    size_t larger = 2 + (planes > palette ? planes : palette);
    if (t->is_wdl)
        return (slots - 1) / TRITS + 1;
    return larger < MAX_BLOCK_BYTES ? larger : (size_t)MAX_BLOCK_BYTES;
}

/* -- materials ----------------------------------------------------------------------------- */

static const uint8_t KEY_ORDER[6] = {ROOK, KNIGHT, CANNON, PAWN, ADVISOR, ELEPHANT};
enum { COUNT_BITS = 4 };
static const uint64_t ATTACKERS = 0xFFFF0000FFFF0000u; /* the counts of R, N, C, P of both sides */

/* The counts of one side as a number; the side with the larger one is named first. */
static uint32_t army_rank(const uint8_t *count)
{
    uint32_t rank = 0;
    for (int i = 0; i < 6; i++)
        rank = (rank << COUNT_BITS) + count[KEY_ORDER[i]];
    return rank;
}

static uint64_t exchanged_key(uint64_t key) { return key << 32 | key >> 32; }

static int can_win(uint64_t key)
{
    return (key & ATTACKERS) != 0;
}

uint64_t xq_piece_key(int piece)
{
    if (piece < 0 || piece >= CODES || (piece & 7) == 0)
        return 0;
    return (uint64_t)1 << COUNT_BITS * piece;
}

/* Read a canonical name, padded with zero bytes to 32; returns 0 for any other text, and for a
 * material without attackers. */
static int parse_material(const uint8_t *name, xq_piece_counts *m)
{
    static const char letters[] = "RNCPAB";
    static const uint8_t kinds[] = {ROOK, KNIGHT, CANNON, PAWN, ADVISOR, ELEPHANT};
    int at = 0;
    memset(m, 0, sizeof *m);
    for (int side = 0; side < SIDES; side++) {
        if (at >= MATERIAL_BYTES || name[at++] != 'K')
            return 0;
        m->count[side][KING] = 1;
        for (int i = 0; i < 6; i++)
            for (; at < MATERIAL_BYTES && name[at] == letters[i]; at++)
                if (++m->count[side][kinds[i]] > SET_COUNT[kinds[i]])
                    return 0;
    }
    for (; at < MATERIAL_BYTES; at++)
        if (name[at] != 0)
            return 0;
    uint32_t first = army_rank(m->count[0]); /* its last digits: advisors, elephants */
    return first >= army_rank(m->count[1]) && first >> 2 * COUNT_BITS != 0;
}

/* -- placements and ranks ------------------------------------------------------------------ */

/* A placement by piece: list[code] has the squares of the pieces of a code, ascending. */
typedef struct {
    uint8_t count[CODES];
    uint8_t list[CODES][MAX_COUNT];
} xq_placement;

static int code_of(int side, int kind) { return 8 * side + kind + 1; }

/* Insert a square into the sorted squares of a code; 0 if there are too many. */
static int add_square(xq_placement *p, int code, int square)
{
    int i = p->count[code];
    if (i >= MAX_COUNT)
        return 0;
    for (; i > 0 && p->list[code][i - 1] > square; i--)
        p->list[code][i] = p->list[code][i - 1];
    p->list[code][i] = (uint8_t)square;
    p->count[code]++;
    return 1;
}

/* The squares of a code, ascending. With `in_mirror` they are those of the mirror image, in `image`. */
static const uint8_t *squares_of(const xq_set *set, const xq_placement *p, int code, int in_mirror,
                                 uint8_t image[MAX_COUNT])
{
    if (!in_mirror)
        return p->list[code];
    for (int n = 0; n < p->count[code]; n++) {
        uint8_t square = set->mirror[p->list[code][n]];
        int i = n;
        for (; i > 0 && image[i - 1] > square; i--)
            image[i] = image[i - 1];
        image[i] = square;
    }
    return image;
}

/* The rank of the first `count` pieces of a kind. Areas list squares in ascending order, so the places
 * of ascending squares ascend. */
static uint32_t rank_of(const xq_set *set, const xq_placement *p, int side, int kind, int count,
                        int in_mirror)
{
    uint8_t image[MAX_COUNT];
    const uint8_t *list = squares_of(set, p, code_of(side, kind), in_mirror, image);
    const uint8_t *place = set->areas[side][kind].place;
    uint32_t rank = 0;
    for (int i = 0; i < count; i++)
        rank += set->choose[place[list[i]]][i + 1];
    return rank;
}

static int defender_rank(const xq_set *set, const xq_defender_ranks *d, const xq_placement *p, int side,
                         int in_mirror)
{
    return d->rank[rank_of(set, p, side, KING, 1, in_mirror)]
                  [rank_of(set, p, side, ADVISOR, d->advisors, in_mirror)]
                  [rank_of(set, p, side, ELEPHANT, d->elephants, in_mirror)];
}

/* Number of placements of `count` identical pieces, 0 to 2, in an area. */
static int placements(int area_size, int count)
{
    return count == 0 ? 1 : count == 1 ? area_size : area_size * (area_size - 1) / 2;
}

/* Add `count` pieces of a kind (0 to 2): the placement number `rank` among all of them. */
static void add_ranked(const xq_set *set, xq_placement *p, int side, int kind, int count, int rank)
{
    const uint8_t *squares = set->areas[side][kind].squares;
    int second = 1;
    for (; count == 2 && rank >= second; second++)
        rank -= second;
    if (count >= 1)
        add_square(p, code_of(side, kind), squares[rank]);
    if (count == 2)
        add_square(p, code_of(side, kind), squares[second]);
}

/* Set `p` to a side's defenders, given by the king's place and ranks; 0 if any overlap. */
static int place_defenders(const xq_set *set, const xq_defender_ranks *d, xq_placement *p, int side, int king,
                           int advisors, int elephants)
{
    uint8_t taken[SQUARES] = {0};
    memset(p->count, 0, sizeof p->count);
    add_square(p, code_of(side, KING), set->areas[side][KING].squares[king]);
    add_ranked(set, p, side, ADVISOR, d->advisors, advisors);
    add_ranked(set, p, side, ELEPHANT, d->elephants, elephants);
    for (int code = code_of(side, KING); code <= code_of(side, ELEPHANT); code++)
        for (int i = 0; i < p->count[code]; i++)
            if (taken[p->list[code][i]]++)
                return 0;
    return 1;
}

/* The ranks of a side's defenders, which many materials share; NULL if out of memory. */
static const xq_defender_ranks *find_defenders(xq_set *set, int side, const uint8_t *count)
{
    xq_defender_ranks **shared = &set->defenders[side][3 * count[ADVISOR] + count[ELEPHANT]];
    xq_placement p;
    if (*shared != NULL)
        return *shared;
    xq_defender_ranks *d = *shared = (xq_defender_ranks *)malloc(sizeof *d);
    if (d == NULL)
        return NULL;
    d->advisors = count[ADVISOR];
    d->elephants = count[ELEPHANT];
    int advisor_ranks = placements(ADVISOR_AREA, d->advisors);
    int elephant_ranks = placements(ELEPHANT_AREA, d->elephants);
    d->size = 0;
    for (int k = 0; k < KING_AREA; k++)
        for (int a = 0; a < advisor_ranks; a++)
            for (int e = 0; e < elephant_ranks; e++) {
                int sound = place_defenders(set, d, &p, side, k, a, e);
                d->rank[k][a][e] = sound ? (int16_t)d->size++ : -1;
            }
    for (int k = 0; k < KING_AREA; k++)
        for (int a = 0; a < advisor_ranks; a++)
            for (int e = 0; e < elephant_ranks; e++)
                if (place_defenders(set, d, &p, side, k, a, e))
                    d->mirror[d->rank[k][a][e]] = (int16_t)defender_rank(set, d, &p, side, 1);
    return d;
}

/* -- layouts ------------------------------------------------------------------------------- */

/* Choose the inner piece: a single attacker before one of several; of these a knight, rook, cannon or
 * pawn, in this order; then Red's. `*kind` is -1 without attackers. */
static void choose_inner(const xq_piece_counts *m, int *side, int *kind)
{
    static const uint8_t preference[4] = {KNIGHT, ROOK, CANNON, PAWN};
    *side = 0;
    *kind = -1;
    for (int twins = 0; twins < 2; twins++)
        for (int i = 0; i < 4; i++)
            for (int s = 0; s < SIDES; s++) {
                int count = m->count[s][preference[i]];
                if (twins ? count > 1 : count == 1) {
                    *side = s;
                    *kind = preference[i];
                    return;
                }
            }
}

/* The leads of two sides' defenders, which many materials share; NULL if out of memory. */
static xq_lead_numbers *find_leads(xq_set *set, const xq_defender_ranks *red, const xq_defender_ranks *black)
{
    xq_lead_numbers **shared = &set->leads[3 * red->advisors + red->elephants]
                                [3 * black->advisors + black->elephants];
    if (*shared != NULL)
        return *shared;
    xq_lead_numbers *l = *shared = (xq_lead_numbers *)calloc(1, sizeof *l);
    if (l == NULL)
        return NULL;
    int symmetric = 0;
    for (int b = 0; b < black->size; b++)
        l->symmetric_place[b] = b <= black->mirror[b] ? (int16_t)symmetric++ : -1;
    for (int w = 0; w < red->size; w++) {
        int image = red->mirror[w];
        int width = image > w ? black->size : image == w ? symmetric : 0;
        l->base[w + 1] = l->base[w] + (uint32_t)width;
    }
    l->count = l->base[red->size];
    return l;
}

/* The number of every lead in the order of Black's defenders, then Red's; NULL if out of memory. */
static const uint32_t *leads_by_black(xq_lead_numbers *l, const xq_defender_ranks *red, const xq_defender_ranks *black)
{
    uint32_t next = 0;
    if (l->by_black != NULL)
        return l->by_black;
    l->by_black = (uint32_t *)malloc((size_t)l->count * sizeof *l->by_black);
    if (l->by_black == NULL)
        return NULL;
    for (int b = 0; b < black->size; b++)
        for (int w = 0; w < red->size; w++) {
            int place = red->mirror[w] == w ? l->symmetric_place[b] : b;
            if (red->mirror[w] >= w && place >= 0)
                l->by_black[(int)l->base[w] + place] = next++;
        }
    return l->by_black;
}

/* Fill in the index of a material; XQ_ERR_CORRUPT if it has more than MAX_SLOTS slots. */
static int fill_layout(xq_set *set, xq_slot_index *l, const xq_piece_counts *m)
{
    static const uint8_t attackers[4] = {ROOK, KNIGHT, CANNON, PAWN};
    for (int side = 0; side < SIDES; side++) {
        l->side[side] = find_defenders(set, side, m->count[side]);
        if (l->side[side] == NULL)
            return XQ_ERR_MEMORY;
    }
    l->leads = find_leads(set, l->side[XQ_RED], l->side[XQ_BLACK]);
    if (l->leads == NULL)
        return XQ_ERR_MEMORY;
    choose_inner(m, &l->inner_side, &l->inner_kind);
    l->inner_size =
        l->inner_kind < 0 ? 1 : (uint64_t)set->areas[l->inner_side][l->inner_kind].size;
    l->groups = 0;
    l->lead_slots = l->inner_size;
    uint64_t most = MAX_SLOTS / l->leads->count;
    for (int side = 0; side < SIDES; side++)
        for (int i = 0; i < 4; i++) {
            int kind = attackers[i], count = m->count[side][kind];
            int is_inner = side == l->inner_side && kind == l->inner_kind;
            if (count - is_inner <= 0)
                continue;
            xq_piece_group *g = &l->group[l->groups++];
            g->side = side;
            g->kind = kind;
            g->count = count - is_inner;
            g->size = set->choose[set->areas[side][kind].size][g->count];
            if (g->size > most / l->lead_slots)
                return XQ_ERR_CORRUPT;
            l->lead_slots *= g->size;
        }
    l->slots = l->lead_slots * l->leads->count;
    return XQ_OK;
}

/* Parse the block map of a side in the header: XQ_OK, XQ_ERR_CORRUPT or XQ_ERR_MEMORY. */
static int fill_map(xq_set *set, xq_block_map *m, const xq_slot_index *l, uint64_t tile_leads,
                    uint64_t block_slots, const uint8_t *h)
{
    uint64_t all = l->leads->count, size[MAX_AXES];
    if (h[0] > 1 || tile_leads < 1 || tile_leads > all)
        return XQ_ERR_CORRUPT;
    m->axes = l->groups + 2;
    unsigned seen = 0;
    for (int i = 0; i < MAX_AXES; i++) {
        if (i < m->axes ? h[1 + i] >= m->axes : h[1 + i] != NO_AXIS)
            return XQ_ERR_CORRUPT;
        if (i < m->axes) {
            m->order[i] = h[1 + i];
            seen |= 1u << m->order[i];
        }
    }
    if (seen != (1u << m->axes) - 1)
        return XQ_ERR_CORRUPT;
    for (int i = 0; i < l->groups; i++)
        size[1 + i] = l->group[i].size;
    size[m->axes - 1] = l->inner_size;
    m->tile_slots = tile_leads * l->lead_slots;
    m->last_tile = (all - 1) / tile_leads;
    uint64_t last_leads = all - m->last_tile * tile_leads;
    for (int last = 0; last < 2; last++) {
        uint64_t stride = 1;
        size[0] = last ? last_leads : tile_leads;
        for (int i = m->axes - 1; i >= 0; i--) {
            m->stride[last][m->order[i]] = stride;
            stride *= size[m->order[i]];
        }
    }
    m->blocks_per_tile = (m->tile_slots - 1) / block_slots + 1;
    m->blocks =
        m->last_tile * m->blocks_per_tile + (last_leads * l->lead_slots - 1) / block_slots + 1;
    if (h[0]) {
        xq_lead_numbers *shared = find_leads(set, l->side[XQ_RED], l->side[XQ_BLACK]);
        m->file_lead = leads_by_black(shared, l->side[XQ_RED], l->side[XQ_BLACK]);
        if (m->file_lead == NULL)
            return XQ_ERR_MEMORY;
    }
    return XQ_OK;
}

/* Write the digits after the lead. */
static void attacker_digits(const xq_set *set, const xq_slot_index *l, const xq_placement *p, int in_mirror,
                            xq_digits *d)
{
    uint8_t image[MAX_COUNT];
    for (int i = 0; i < l->groups; i++) {
        const xq_piece_group *g = &l->group[i];
        d->of[1 + i] = rank_of(set, p, g->side, g->kind, g->count, in_mirror);
    }
    d->of[l->groups + 1] = 0;
    if (l->inner_kind >= 0) {
        /* Of several pieces like the inner one, it is the one on the largest square; the others are
         * a group. */
        int code = code_of(l->inner_side, l->inner_kind);
        const uint8_t *list = squares_of(set, p, code, in_mirror, image);
        const uint8_t *place = set->areas[l->inner_side][l->inner_kind].place;
        d->of[l->groups + 1] = place[list[p->count[code] - 1]];
    }
}

/* Write the digits of a placement's slot: its own or those of its mirror image, the smaller ones. The
 * placement is of this material, and has no overlaps. */
static void digits_of(const xq_set *set, const xq_slot_index *l, const xq_placement *p, xq_digits *d)
{
    int rank[SIDES], image[SIDES];
    for (int side = 0; side < SIDES; side++) {
        rank[side] = defender_rank(set, l->side[side], p, side, 0);
        image[side] = l->side[side]->mirror[rank[side]];
    }
    int own_image = image[0] == rank[0], symmetric = own_image && image[1] == rank[1];
    int is_mirrored = image[0] < rank[0] || (own_image && image[1] < rank[1]);
    int w = is_mirrored ? image[0] : rank[0], b = is_mirrored ? image[1] : rank[1];
    int below = own_image ? l->leads->symmetric_place[b] : b;
    d->of[0] = l->leads->base[w] + (uint32_t)below;
    attacker_digits(set, l, p, is_mirrored, d);
    if (symmetric) {
        xq_digits other;
        int axis = 1;
        attacker_digits(set, l, p, 1, &other);
        while (axis <= l->groups && other.of[axis] == d->of[axis])
            axis++;
        if (other.of[axis] < d->of[axis])
            memcpy(d->of + 1, other.of + 1, (size_t)(l->groups + 1) * sizeof *d->of);
    }
}

/* -- sets ---------------------------------------------------------------------------------- */

const char *xq_status_text(int status)
{
    switch (status) {
    case XQ_OK:
        return "no error";
    case XQ_ERR_MISSING:
        return "there is no table of this material";
    case XQ_ERR_POSITION:
        return "the pieces cannot stand on these squares";
    case XQ_ERR_ILLEGAL:
        return "the kings face each other, or the side that is not to move is in check";
    case XQ_ERR_CORRUPT:
        return "the file is damaged or no table";
    case XQ_ERR_VERSION:
        return "the file has a later format than this reader knows";
    case XQ_ERR_IO:
        return "the file or directory cannot be read";
    case XQ_ERR_MEMORY:
        return "out of memory";
    case XQ_ERR_ARGUMENT:
        return "an argument is missing or out of its range";
    case XQ_ERR_OTHER_SET:
        return "the table is of another rule set, or of another limit on orders";
    case XQ_ERR_NAME:
        return "the file holds another table than its name says";
    case XQ_ERR_COLD:
        return "the answer is not in memory";
    default:
        return "unknown status";
    }
}

/* The rule sets in the order of xq_rules: name, number in headers, offences. */
static const struct {
    const char *name;
    uint8_t rules, options;
    xq_offences offences;
} RULES[] = {
    /* begin of rule sets: contrib/rulesets.py */
    {"none", 0, 0, {0, 0x0}},
    {"check", 1, 0, {1, 0x0}},
    {"wxf", 2, MINOR_CHASES, {1, 0x410071c03f3e}},
    {"wxf-nominor", 2, 0, {1, 0x410000003f3e}},
    {"computer", 3, 0, {1, 0x410071c5bf3e}},
    {"taiwan", 4, 0, {1, 0x410071c07f3e}},
    {"unprotected", 5, 0, {1, 0x3f3e}},
};

/* Other names of a set. */
static const struct {
    const char *name;
    xq_rules rules;
} SYNONYMS[] = {
    {"asian", XQ_RULES_WXF},
    {"vietnam", XQ_RULES_WXF},
    /* end of rule sets */
};
enum { RULE_SETS = sizeof RULES / sizeof *RULES };

const char *xq_rules_name(int rules)
{
    return rules < 0 || rules >= RULE_SETS ? NULL : RULES[rules].name;
}

int xq_rules_of_name(const char *name, xq_rules *rules)
{
    if (name == NULL || rules == NULL)
        return XQ_ERR_ARGUMENT;
    for (int i = 0; i < RULE_SETS; i++)
        if (strcmp(name, RULES[i].name) == 0) {
            *rules = (xq_rules)i;
            return XQ_OK;
        }
    for (size_t i = 0; i < sizeof SYNONYMS / sizeof *SYNONYMS; i++)
        if (strcmp(name, SYNONYMS[i].name) == 0) {
            *rules = SYNONYMS[i].rules;
            return XQ_OK;
        }
    return XQ_ERR_ARGUMENT;
}

static void fill_crc_table(uint32_t step[8][256])
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
        step[0][i] = crc;
    }
    for (int n = 1; n < 8; n++)
        for (int i = 0; i < 256; i++)
            step[n][i] = step[0][step[n - 1][i] & 255] ^ step[n - 1][i] >> 8;
}

xq_set *xq_set_new(xq_rules rules, uint32_t orders, xq_metric preferred)
{
    if (xq_rules_name((int)rules) == NULL)
        return NULL;
    xq_set *set = (xq_set *)calloc(1, sizeof *set);
    if (set == NULL)
        return NULL;
    set->rules = rules;
    set->orders = orders;
    set->preferred = preferred;
    for (int side = 0; side < SIDES; side++)
        for (int kind = 0; kind < KINDS; kind++)
            fill_area(&set->areas[side][kind], side, kind);
    for (int n = 0; n <= SQUARES; n++)
        for (int k = 0; k <= MAX_COUNT; k++)
            set->choose[n][k] =
                k == 0 ? 1 : n == 0 ? 0 : set->choose[n - 1][k - 1] + set->choose[n - 1][k];
    for (int square = 0; square < SQUARES; square++) {
        set->flip[square] = (uint8_t)flipped(square);
        set->mirror[square] = (uint8_t)mirrored(square);
    }
    fill_crc_table(set->crc_table);
    for (int byte = 0; byte < TRIT_BYTES; byte++)
        for (int i = 0, rest = byte; i < TRITS; i++, rest /= 3)
            set->outcome[byte][i] = (uint8_t)(rest % 3 + 1);
    return set;
}

static void free_table(xq_table_file *t)
{
    if (t == NULL)
        return;
#ifdef XQ_POSIX
    if (t->view != NULL)
        munmap(t->view, (size_t)t->size);
#endif
#ifdef XQ_WINDOWS
    if (t->view != NULL)
        UnmapViewOfFile(t->view);
#endif
    for (int side = 0; side < SIDES; side++)
        free(t->held[side]);
    free(t->owned_memory);
    free(t->offsets);
    free(t->checks);
    free(t);
}

void xq_set_free(xq_set *set)
{
    if (set == NULL)
        return;
    for (size_t i = 0; i < set->count; i++)
        free_table(set->tables[i]);
    for (int a = 0; a < ARMIES; a++) {
        free(set->defenders[XQ_RED][a]);
        free(set->defenders[XQ_BLACK][a]);
        for (int b = 0; b < ARMIES; b++) {
            if (set->leads[a][b] != NULL)
                free(set->leads[a][b]->by_black);
            free(set->leads[a][b]);
        }
    }
    for (size_t i = 0; i < set->skipped_count; i++)
        free(set->skipped[i].path);
    free(set->skipped);
    free(set->tables);
    free(set->found);
    free(set);
}

size_t xq_set_size(const xq_set *set) { return set == NULL ? 0 : set->materials; }

int xq_max_men(const xq_set *set) { return set == NULL ? 0 : set->max_men; }

/* Record the path of a file or directory that is not used, or the name of a table whose outcomes cannot
 * be held. Nothing is recorded if out of memory. */
static void skip_file(xq_set *set, const char *path, int status)
{
    size_t bytes = (set->skipped_count + 1) * sizeof *set->skipped, length = strlen(path) + 1;
    xq_skipped_file *more = (xq_skipped_file *)realloc(set->skipped, bytes);
    char *copy = (char *)malloc(length);
    if (more != NULL)
        set->skipped = more;
    if (more == NULL || copy == NULL) {
        free(copy);
        return;
    }
    more[set->skipped_count].path = (char *)memcpy(copy, path, length);
    more[set->skipped_count++].status = status;
}

const char *xq_skipped(const xq_set *set, size_t number, int *status)
{
    if (set == NULL || number >= set->skipped_count)
        return NULL;
    if (status != NULL)
        *status = set->skipped[number].status;
    return set->skipped[number].path;
}

/* -- finding a material -------------------------------------------------------------------- */

/* First place of the hash search for a key. */
static size_t home_of(const xq_set *set, uint64_t key)
{
    return (size_t)(key * 0x9E3779B97F4A7C15u >> 32) & set->found_mask;
}

/* The place of a key, or a free one for it; there is always a free one. */
static xq_material *place_of_key(const xq_set *set, uint64_t key)
{
    size_t at = home_of(set, key);
    while (set->found[at].key != 0 && set->found[at].key != key)
        at = (at + 1) & set->found_mask;
    return &set->found[at];
}

const xq_material *xq_find(const xq_set *set, uint64_t key)
{
    /* A material that neither side can win needs no table. */
    static const xq_material drawn = {0, NULL, NULL, 0};
    if (!can_win(key))
        return &drawn;
    if (set == NULL || set->found == NULL)
        return NULL;
    const xq_material *m = place_of_key(set, key);
    return m->key == 0 ? NULL : m;
}

static uint64_t key_of_table(const xq_table_file *t)
{
    uint64_t key = 0;
    for (int code = 1; code < CODES; code++)
        key += t->count[code] * xq_piece_key(code);
    return key;
}

/* The file from which outcomes are read, of a material with a file: if possible a win-draw-loss file. */
static const xq_table_file *file_of_outcomes(const xq_material *m)
{
    return m->outcomes != NULL ? m->outcomes : m->distances;
}

/* Enter a table under its key and the key with colours exchanged; equal armies have one key. */
static void enter(xq_set *set, xq_table_file *t)
{
    uint64_t key = key_of_table(t);
    for (int swap = 1; swap >= 0; swap--) {
        uint64_t seen = swap ? exchanged_key(key) : key;
        xq_material *m = place_of_key(set, seen);
        m->key = seen;
        m->swap = swap;
        *(t->is_wdl ? &m->outcomes : &m->distances) = t;
    }
}

xq_summary xq_summary_of(const xq_set *set)
{
    xq_summary summary;
    memset(&summary, 0, sizeof summary);
    for (size_t i = 0; set != NULL && i < set->count; i++) {
        const xq_table_file *t = set->tables[i];
        size_t men = 0;
        for (int code = 1; code < CODES; code++)
            men += t->count[code];
        if (file_of_outcomes(place_of_key(set, key_of_table(t))) == t)
            summary.of_men[men]++;
        *(t->is_wdl ? &summary.outcomes : &summary.distances) += 1;
    }
    return summary;
}

/* Make room for one more table with its two keys; at most half of the hash table is used. */
static int reserve(xq_set *set)
{
    if (set->count == set->capacity) {
        size_t capacity = set->capacity ? 2 * set->capacity : 16;
        xq_table_file **tables = (xq_table_file **)realloc(set->tables, capacity * sizeof *tables);
        if (tables == NULL)
            return XQ_ERR_MEMORY;
        set->tables = tables;
        xq_material *found = (xq_material *)calloc(4 * capacity, sizeof *found);
        if (found == NULL)
            return XQ_ERR_MEMORY;
        free(set->found);
        set->found = found;
        set->found_mask = 4 * capacity - 1;
        set->capacity = capacity;
        for (size_t i = 0; i < set->count; i++)
            enter(set, set->tables[i]);
    }
    return XQ_OK;
}

/* -- opening a table ----------------------------------------------------------------------- */

/* Copy `size` bytes of the file from an offset; XQ_ERR_CORRUPT beyond its end. */
static int read_bytes(const xq_table_file *t, uint64_t offset, uint8_t *out, size_t size)
{
    if (offset > t->size || size > t->size - offset)
        return XQ_ERR_CORRUPT;
#ifdef XQ_REMOTE
    if (t->memory == NULL)
        return xq_remote_read(t->file, offset, out, size);
#endif
    memcpy(out, t->memory + offset, size);
    return XQ_OK;
}

/* The rule set in a header, or -1 for one that this reader does not have. */
static int rule_set_of(const uint8_t *h)
{
    for (int i = 0; i < RULE_SETS; i++)
        if (h[11] == RULES[i].rules && get16(h + 14) == RULES[i].options)
            return i;
    return -1;
}

/* Parse and check the fields that describe the codes of the file. */
static int read_coding(xq_table_file *t, const uint8_t *h)
{
    uint32_t version = get16(h + 8);
    t->is_wdl = h[12] == WDL_METRIC;
    t->metric = t->is_wdl ? XQ_NO_METRIC : (xq_metric)h[12];
    t->width = h[10];
    t->span = get32(h + 16);
    t->block_slots = get32(h + 24);
    if (version > WDL_VERSION)
        return XQ_ERR_VERSION;
    if (t->is_wdl)
        return version == WDL_VERSION && t->width == 0 && t->span == 0 && t->block_slots >= 1 &&
                       t->block_slots <= MAX_WDL_SLOTS
                   ? XQ_OK
                   : XQ_ERR_CORRUPT;
    return version == TABLE_VERSION && h[12] <= XQ_DTC &&
                   (t->width == 1 || t->width == 2 || t->width == 4) && t->span >= 1 &&
                   t->span <= draw_code(t) - 1 && t->span <= MAX_SPAN && t->block_slots >= 1 &&
                   t->block_slots <= MAX_BLOCK_BYTES
               ? XQ_OK
               : XQ_ERR_CORRUPT;
}

/* Parse and check the header, except its checksum. Sizes are compared with that of the file before
 * memory for them is allocated. */
static int read_header(xq_set *set, xq_table_file *t, const uint8_t *h)
{
    static const uint8_t magic[8] = {0x89, 'X', 'Q', 'T', '\r', '\n', 0x1A, '\n'};
    if (memcmp(h, magic, sizeof magic) != 0)
        return XQ_ERR_CORRUPT;
    int status = read_coding(t, h);
    if (status != XQ_OK)
        return status;
    if (!parse_material(h + MATERIAL_AT, &t->material))
        return XQ_ERR_CORRUPT;
    uint64_t slots = get64(h + 32), table_offset = get64(h + 64);
    uint64_t metadata_offset = get64(h + 72), metadata_length = get64(h + 80);
    if (slots > MAX_SLOTS || metadata_length > MAX_METADATA)
        return XQ_ERR_CORRUPT;
    for (int side = 0; side < SIDES; side++) {
        uint64_t blocks = t->blocks[side] = get64(h + 40 + 8 * side);
        uint32_t constant = t->constant[side] = get32(h + 56 + 4 * side);
        if (blocks == 0 ? constant < 1 || constant > top_code(t) : constant != 0)
            return XQ_ERR_CORRUPT;
        if (blocks > t->size / ENTRY_BYTES)
            return XQ_ERR_CORRUPT;
    }
    uint64_t table_bytes = ENTRY_BYTES * (t->blocks[0] + t->blocks[1]);
    if (table_offset < HEADER_BYTES || table_offset > t->size ||
        table_bytes > t->size - table_offset || metadata_offset != table_offset + table_bytes ||
        metadata_length != t->size - metadata_offset)
        return XQ_ERR_CORRUPT;
    status = fill_layout(set, &t->layout, &t->material);
    if (status != XQ_OK || slots != t->layout.slots)
        return status != XQ_OK ? status : XQ_ERR_CORRUPT;
    t->tile_leads = get32(h + TILE_LEADS_AT);
    for (int side = 0; side < SIDES; side++) {
        status = fill_map(set, &t->map[side], &t->layout, t->tile_leads, t->block_slots,
                          h + ARRANGEMENT_AT + ARRANGEMENT_BYTES * side);
        if (status != XQ_OK)
            return status;
        if (t->blocks[side] != 0 && t->blocks[side] != t->map[side].blocks)
            return XQ_ERR_CORRUPT;
    }
    if (rule_set_of(h) != (int)set->rules || get32(h + 20) != set->orders)
        return XQ_ERR_OTHER_SET;
    return XQ_OK;
}

/* Read the block table, and verify the checksum of header and block table. */
static int read_block_table(const xq_set *set, xq_table_file *t, const uint8_t *header)
{
    uint64_t count = t->blocks[0] + t->blocks[1], table_offset = get64(header + 64);
    if (count > (SIZE_MAX - sizeof(uint64_t)) / sizeof(uint64_t))
        return XQ_ERR_MEMORY;
    t->offsets = (uint64_t *)malloc((size_t)(count + 1) * sizeof *t->offsets);
    t->checks = (uint32_t *)malloc((size_t)(count + 1) * sizeof *t->checks);
    if (t->offsets == NULL || t->checks == NULL)
        return XQ_ERR_MEMORY;
    uint32_t crc = crc32_of(set, 0, header, CRC_AT);
    uint64_t longest = 2 * max_content(t, t->block_slots) + 1024;
    uint64_t offset = HEADER_BYTES;
    int sound = 1;
    for (uint64_t block = 0; block < count;) {
        uint8_t chunk[512 * ENTRY_BYTES];
        uint64_t left = count - block;
        size_t entries = left < 512 ? (size_t)left : 512;
        size_t bytes = entries * ENTRY_BYTES;
        int status = read_bytes(t, table_offset + ENTRY_BYTES * block, chunk, bytes);
        if (status != XQ_OK)
            return status;
        crc = crc32_of(set, crc, chunk, bytes);
        for (size_t i = 0; i < entries; i++, block++) {
            uint32_t length = get32(chunk + ENTRY_BYTES * i);
            sound &= length <= longest;
            t->offsets[block] = offset;
            t->checks[block] = get32(chunk + ENTRY_BYTES * i + 4);
            offset += length;
        }
    }
    t->offsets[count] = offset;
    return sound && crc == get32(header + CRC_AT) && offset == table_offset ? XQ_OK
                                                                           : XQ_ERR_CORRUPT;
}

/* Append at most `most` letters of a text; return the new end. */
static char *append(char *end, const char *text, size_t most)
{
    while (most-- > 0 && *text != 0)
        *end++ = *text++;
    *end = 0;
    return end;
}

/* Set the name of a table from its checked header, without `printf`, which is missing in web pages. */
static void set_name(xq_table_file *t, const uint8_t *h)
{
    static const char *const metrics[] = {".dtm.xqt", ".dtc.xqt", ".wdl.xqt"};
    char digits[16], *first = digits + sizeof digits - 1;
    char *end = append(t->name, (const char *)h + MATERIAL_AT, MATERIAL_BYTES);
    uint32_t orders = get32(h + 20);
    end = append(append(end, ".", 1), RULES[rule_set_of(h)].name, 32);
    if (orders != 0) {
        *first = 0;
        for (; orders != 0; orders /= 10)
            *--first = (char)('0' + orders % 10);
        end = append(append(end, "-o", 2), first, 10);
    }
    append(end, metrics[h[12]], 8);
}

/* Return whether the name of a file is that of its table. */
static int bears_name(const char *path, const char *name)
{
    const char *last = path;
    for (const char *c = path; *c != 0; c++)
        if (*c == '/' || *c == DIRECTORY_MARK)
            last = c + 1;
    return strcmp(last, name) == 0;
}

/* Put a checked table into the set, which then owns it. If the set has one of this material and kind,
 * one of the two is freed. */
static int insert(xq_set *set, xq_table_file *t)
{
    int men = 0, status = reserve(set);
    if (status != XQ_OK)
        return status;
    for (int side = 0; side < SIDES; side++)
        for (int kind = 0; kind < KINDS; kind++) {
            t->count[code_of(side, kind)] = t->material.count[side][kind];
            men += t->material.count[side][kind];
        }
    size_t at = 0, same = 0;
    for (size_t i = 0; i < set->count; i++)
        same += memcmp(&set->tables[i]->material, &t->material, sizeof t->material) == 0;
    while (at < set->count &&
           (set->tables[at]->is_wdl != t->is_wdl ||
            memcmp(&set->tables[at]->material, &t->material, sizeof t->material) != 0))
        at++;
    if (at == set->count) {
        set->count++;
        set->materials += same == 0;
    } else {
        /* A second file of the kind: the one of the preferred metric stays, else the first. */
        if (set->tables[at]->metric == set->preferred || t->metric != set->preferred) {
            free_table(t);
            return XQ_OK;
        }
        free_table(set->tables[at]);
    }
    t->first_block = set->blocks;
    set->tables[at] = t;
    set->blocks += t->blocks[0] + t->blocks[1];
    set->max_men = men > set->max_men ? men : set->max_men;
    enter(set, t);
    return XQ_OK;
}

/* Read and check header and block table, and insert the table; frees it after an error. `path` is NULL
 * for a file without a name. */
static int add_table(xq_set *set, xq_table_file *t, const char *path)
{
    uint8_t header[HEADER_BYTES];
    int status = read_bytes(t, 0, header, sizeof header);
    if (status == XQ_OK)
        status = read_header(set, t, header);
    /* Damage may look like another rule set, so the checksum is verified first. */
    if (status == XQ_OK || status == XQ_ERR_OTHER_SET) {
        int read = read_block_table(set, t, header);
        status = read == XQ_OK ? status : read;
        if (read == XQ_OK && rule_set_of(header) >= 0) {
            set_name(t, header);
            if (path != NULL && !bears_name(path, t->name))
                status = XQ_ERR_NAME;
        }
    }
    if (status == XQ_OK)
        status = insert(set, t);
    if (status != XQ_OK)
        free_table(t);
    return status;
}

int xq_add_memory(xq_set *set, const void *data, size_t size)
{
    if (set == NULL || data == NULL)
        return XQ_ERR_ARGUMENT;
    xq_table_file *t = (xq_table_file *)calloc(1, sizeof *t);
    if (t == NULL)
        return XQ_ERR_MEMORY;
    t->memory = (const uint8_t *)data;
    t->size = size;
    return add_table(set, t, NULL);
}

#ifdef XQ_REMOTE

int xq_add_remote(xq_set *set, int file, uint64_t size)
{
    if (set == NULL)
        return XQ_ERR_ARGUMENT;
    xq_table_file *t = (xq_table_file *)calloc(1, sizeof *t);
    if (t == NULL)
        return XQ_ERR_MEMORY;
    t->file = file;
    t->size = size;
    return add_table(set, t, NULL);
}

#endif

#if defined(XQ_POSIX)

/* Map a file. The view needs no descriptor. */
static int open_file(xq_table_file *t, const char *path)
{
    struct stat found;
    /* Non-blocking: a pipe of this name may never have a writer. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), status = XQ_ERR_IO;
    if (file < 0)
        return XQ_ERR_IO;
    if (fstat(file, &found) == 0 && S_ISREG(found.st_mode)) {
        t->size = (uint64_t)found.st_size;
        void *view = MAP_FAILED;
        if (t->size > 0 && t->size <= SIZE_MAX)
            view = mmap(NULL, (size_t)t->size, PROT_READ, MAP_PRIVATE, file, 0);
        status = view != MAP_FAILED ? XQ_OK : t->size > 0 ? XQ_ERR_MEMORY : XQ_ERR_CORRUPT;
        t->view = view != MAP_FAILED ? view : NULL;
        t->memory = (const uint8_t *)t->view;
    }
    close(file);
    return status;
}

#elif defined(XQ_WINDOWS)

/* The path in UTF-16, from UTF-8 or else from the system's code page, followed by `tail`. It is
 * absolute, and begins with "\\?\", so that it may have any length. The caller frees it; NULL for an
 * empty or invalid path, or if out of memory. */
static wchar_t *wide_path(const char *path, const wchar_t *tail)
{
    static const wchar_t local[] = L"\\\\?\\", share[] = L"\\\\?\\UNC";
    UINT page = CP_UTF8;
    int length = MultiByteToWideChar(page, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
    if (length == 0) {
        page = CP_ACP;
        length = MultiByteToWideChar(page, 0, path, -1, NULL, 0);
    }
    wchar_t *given = (wchar_t *)malloc((size_t)length * sizeof *given + 1), *wide = NULL;
    if (given != NULL && MultiByteToWideChar(page, 0, path, -1, given, length) > 0) {
        const DWORD full = GetFullPathNameW(given, 0, NULL, NULL);
        size_t room = sizeof share / sizeof *share;
        if (full > 0)
            wide = (wchar_t *)calloc(room + full + wcslen(tail) + 1, sizeof *wide);
        if (wide != NULL && GetFullPathNameW(given, full, wide + room, NULL) < full) {
            const wchar_t *from = wide + room, *prefix = local;
            if (from[0] == L'\\' && from[1] == L'\\')
                prefix = from[2] == L'?' || from[2] == L'.' ? L"" : share;
            from += prefix == share; /* the first of the two leading backslashes */
            size_t begin = wcslen(prefix), end = begin + wcslen(from);
            memmove(wide + begin, from, (end - begin + 1) * sizeof *wide);
            memcpy(wide, prefix, begin * sizeof *wide);
            end -= tail[0] == L'\\' && wide[end - 1] == L'\\';
            memcpy(wide + end, tail, (wcslen(tail) + 1) * sizeof *wide);
        } else {
            free(wide);
            wide = NULL;
        }
    }
    free(given);
    return wide;
}

/* Map a file. The view needs no handle. */
static int open_file(xq_table_file *t, const char *path)
{
    LARGE_INTEGER size;
    int status = XQ_ERR_IO;
    wchar_t *wide = wide_path(path, L"");
    if (wide == NULL)
        return XQ_ERR_IO;
    HANDLE file = CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL);
    free(wide);
    if (file == INVALID_HANDLE_VALUE)
        return XQ_ERR_IO;
    if (GetFileType(file) == FILE_TYPE_DISK && GetFileSizeEx(file, &size)) {
        HANDLE mapping =
            size.QuadPart > 0 ? CreateFileMappingA(file, NULL, PAGE_READONLY, 0, 0, NULL) : NULL;
        if (mapping != NULL) {
            t->view = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
            CloseHandle(mapping); /* The view keeps it. */
        }
        t->memory = (const uint8_t *)t->view;
        t->size = (uint64_t)size.QuadPart;
        status = t->view != NULL ? XQ_OK : size.QuadPart > 0 ? XQ_ERR_MEMORY : XQ_ERR_CORRUPT;
    }
    CloseHandle(file);
    return status;
}

#else

/* Read a file into memory. */
static int open_file(xq_table_file *t, const char *path)
{
    size_t capacity = 0, size = 0, got = 0;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return XQ_ERR_IO;
    do {
        size += got;
        if (size == capacity) {
            capacity = capacity ? 2 * capacity : 65536;
            uint8_t *larger =
                capacity > size ? (uint8_t *)realloc(t->owned_memory, capacity) : NULL;
            if (larger == NULL) {
                fclose(file);
                return XQ_ERR_MEMORY;
            }
            t->memory = t->owned_memory = larger;
        }
        got = fread(t->owned_memory + size, 1, capacity - size, file);
    } while (got > 0);
    t->size = size;
    int status = ferror(file) ? XQ_ERR_IO : XQ_OK;
    fclose(file);
    return status;
}

#endif

int xq_add_file(xq_set *set, const char *path)
{
    if (set == NULL || path == NULL)
        return XQ_ERR_ARGUMENT;
    xq_table_file *t = (xq_table_file *)calloc(1, sizeof *t);
    if (t == NULL)
        return XQ_ERR_MEMORY;
    int status = open_file(t, path);
    if (status == XQ_OK)
        return add_table(set, t, path);
    free_table(t);
    return status;
}

/* -- directories ---------------------------------------------------------------------------- */

#if defined(XQ_POSIX) || defined(XQ_WINDOWS)

/* Return whether the name of a file has the suffix of tables, and is not hidden. */
static int is_table_name(const char *name)
{
    static const char suffix[] = ".xqt";
    size_t length = strlen(name);
    return name[0] != '.' && length >= sizeof suffix && strcmp(name + length - 4, suffix) == 0;
}

/* Add a file of a directory: count it in `*added`, or set `*failure` for the first error. */
static void add_from(xq_set *set, const char *folder, const char *name, int *added, int *failure)
{
    size_t length = strlen(folder), name_bytes = strlen(name) + 1;
    char *path = (char *)malloc(length + 1 + name_bytes);
    int status = XQ_ERR_MEMORY;
    if (path != NULL) {
        memcpy(path, folder, length);
        path[length] = '/';
        memcpy(path + length + 1, name, name_bytes);
        status = xq_add_file(set, path);
        if (status != XQ_OK)
            skip_file(set, path, status);
        free(path);
    }
    *added += status == XQ_OK;
    if (status != XQ_OK && status != XQ_ERR_OTHER_SET && *failure == XQ_OK)
        *failure = status;
}

#endif

#if defined(XQ_POSIX)

/* Add the files of a directory; XQ_ERR_IO if it cannot be read. */
static int add_all(xq_set *set, const char *path, int *added, int *failure)
{
    DIR *directory = opendir(path);
    if (directory == NULL)
        return XQ_ERR_IO;
    for (struct dirent *item; (item = readdir(directory)) != NULL;)
        if (is_table_name(item->d_name))
            add_from(set, path, item->d_name, added, failure);
    closedir(directory);
    return XQ_OK;
}

#elif defined(XQ_WINDOWS)

/* Add the files of a directory; XQ_ERR_IO if it cannot be read. */
static int add_all(xq_set *set, const char *path, int *added, int *failure)
{
    WIN32_FIND_DATAW item;
    char name[3 * MAX_PATH];
    wchar_t *pattern = wide_path(path, L"\\*.xqt");
    if (pattern == NULL)
        return XQ_ERR_IO;
    HANDLE found = FindFirstFileW(pattern, &item);
    free(pattern);
    if (found == INVALID_HANDLE_VALUE)
        return GetLastError() == ERROR_FILE_NOT_FOUND ? XQ_OK : XQ_ERR_IO;
    do {
        if (WideCharToMultiByte(CP_UTF8, 0, item.cFileName, -1, name, sizeof name, NULL, NULL) > 0 &&
            is_table_name(name))
            add_from(set, path, name, added, failure);
    } while (FindNextFileW(found, &item));
    FindClose(found);
    return XQ_OK;
}

#else

/* A directory cannot be read without the functions of a system. */
static int add_all(xq_set *set, const char *path, int *added, int *failure)
{
    (void)set, (void)path, (void)added, (void)failure;
    return XQ_ERR_IO;
}

#endif

int xq_add_directory(xq_set *set, const char *path)
{
    int added = 0, failure = XQ_OK;
    if (set == NULL || path == NULL)
        return XQ_ERR_ARGUMENT;
    int status = add_all(set, path, &added, &failure);
    if (status != XQ_OK) {
        skip_file(set, path, status);
        return status;
    }
    return failure != XQ_OK ? failure : added;
}

/* -- readers: blocks, and codes out of them ------------------------------------------------ */

xq_reader *xq_reader_new(const xq_set *set, size_t cache_bytes)
{
    if (set == NULL)
        return NULL;
    xq_reader *reader = (xq_reader *)calloc(1, sizeof *reader);
    if (reader == NULL)
        return NULL;
    size_t buckets = 64;
    while (buckets < cache_bytes / 32768 && buckets < (size_t)1 << 24)
        buckets *= 2;
    reader->set = set;
    reader->budget = cache_bytes;
    reader->bucket_mask = buckets - 1;
    reader->decoder = ZSTD_createDCtx();
    reader->buckets = (xq_entry **)calloc(buckets, sizeof *reader->buckets);
    if (reader->decoder == NULL || reader->buckets == NULL) {
        xq_reader_free(reader);
        return NULL;
    }
    return reader;
}

void xq_reader_free(xq_reader *reader)
{
    if (reader == NULL)
        return;
    for (xq_entry *e = reader->newest; e != NULL;) {
        xq_entry *older = e->older;
        free(e->content);
        free(e);
        e = older;
    }
    ZSTD_freeDCtx(reader->decoder);
    free(reader->packed);
    free(reader->buckets);
    free(reader);
}

static xq_entry **bucket_of(xq_reader *reader, uint64_t block)
{
    return &reader->buckets[(block * 0x9E3779B97F4A7C15u >> 32) & reader->bucket_mask];
}

/* Remove an entry from the list by last use. */
static void unlink_entry(xq_reader *reader, xq_entry *e)
{
    *(e->newer ? &e->newer->older : &reader->newest) = e->older;
    *(e->older ? &e->older->newer : &reader->oldest) = e->newer;
}

static void link_newest(xq_reader *reader, xq_entry *e)
{
    e->newer = NULL;
    e->older = reader->newest;
    *(reader->newest ? &reader->newest->newer : &reader->oldest) = e;
    reader->newest = e;
}

static void drop_oldest(xq_reader *reader)
{
    xq_entry *e = reader->oldest;
    xq_entry **link = bucket_of(reader, e->block);
    while (*link != e)
        link = &(*link)->next;
    *link = e->next;
    unlink_entry(reader, e);
    reader->bytes -= e->bytes;
    free(e->content);
    free(e);
}

static xq_entry *find_entry(xq_reader *reader, uint64_t block)
{
    for (xq_entry *e = *bucket_of(reader, block); e != NULL; e = e->next)
        if (e->block == block) {
            if (e != reader->newest) {
                unlink_entry(reader, e);
                link_newest(reader, e);
            }
            return e;
        }
    return NULL;
}

/* Return whether the bytes are a block of `slots` codes (docs/format.md, "Blocks"). */
static int is_block(const uint8_t *content, size_t size, size_t slots, int width)
{
    if (size < 2)
        return 0;
    size_t count = get16(content), codes = 2 + count * (size_t)width;
    if (count == 0) {
        if (size != 2 + slots * (size_t)width)
            return 0;
        for (size_t i = 0; i < slots; i++) {
            unsigned any = 0;
            for (int byte = 0; byte < width; byte++)
                any |= content[2 + (size_t)byte * slots + i];
            if (any == 0)
                return 0;
        }
        return 1;
    }
    if (count > MAX_PALETTE || size != codes + (count > 1 ? slots : 0))
        return 0;
    uint32_t before = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t code = get_code(content + 2 + i * (size_t)width, width);
        if (code <= before)
            return 0;
        before = code;
    }
    for (size_t i = codes; i < size; i++)
        if (content[i] >= count)
            return 0;
    return 1;
}

/* Return whether the bytes are a block of `slots` outcomes (docs/format.md, "Its blocks"). */
static int is_wdl_block(const uint8_t *content, size_t size, size_t slots)
{
    if (size != (slots - 1) / TRITS + 1)
        return 0;
    for (size_t i = 0; i < size; i++)
        if (content[i] >= TRIT_BYTES)
            return 0;
    /* The digits beyond the last slot are 0. */
    unsigned rest = content[size - 1];
    for (size_t i = (slots - 1) % TRITS + 1; i > 0; i--)
        rest /= 3;
    return rest == 0;
}

/* Unpack a block, which is one zstd frame or stored bytes; the caller frees `*content`. */
static int unpack_bytes(xq_reader *reader, const xq_table_file *t, size_t length, size_t slots,
                        uint8_t **content, size_t *size)
{
    const size_t most = max_content(t, slots);
    if (t->is_wdl && length == most) {
        *content = (uint8_t *)malloc(length);
        if (*content == NULL)
            return XQ_ERR_MEMORY;
        memcpy(*content, reader->packed, length);
        *size = length;
        return XQ_OK;
    }
    /* The two error values of this function are the largest numbers of its type. */
    unsigned long long unpacked = ZSTD_getFrameContentSize(reader->packed, length);
    if (unpacked > most || (t->is_wdl && length > most))
        return XQ_ERR_CORRUPT;
    if (ZSTD_findFrameCompressedSize(reader->packed, length) != length)
        return XQ_ERR_CORRUPT; /* an error, or bytes after the frame */
    *content = (uint8_t *)malloc((size_t)unpacked + 1);
    if (*content == NULL)
        return XQ_ERR_MEMORY;
    *size = ZSTD_decompressDCtx(reader->decoder, *content, (size_t)unpacked, reader->packed, length);
    if (ZSTD_isError(*size) || *size != unpacked) {
        free(*content);
        *content = NULL;
        return XQ_ERR_CORRUPT;
    }
    return XQ_OK;
}

/* Read, check and unpack a block; the caller frees `*content`. */
static int unpack_block(xq_reader *reader, const xq_table_file *t, uint64_t block, size_t slots,
                        uint8_t **content, size_t *size)
{
    size_t length = (size_t)(t->offsets[block + 1] - t->offsets[block]);
    if (length > reader->packed_bytes) {
        uint8_t *larger = (uint8_t *)realloc(reader->packed, length);
        if (larger == NULL)
            return XQ_ERR_MEMORY;
        reader->packed = larger;
        reader->packed_bytes = length;
    }
    int status = read_bytes(t, t->offsets[block], reader->packed, length);
    if (status != XQ_OK)
        return status;
    if (crc32_of(reader->set, 0, reader->packed, length) != t->checks[block])
        return XQ_ERR_CORRUPT;
    status = unpack_bytes(reader, t, length, slots, content, size);
    if (status != XQ_OK)
        return status;
    if (t->is_wdl ? !is_wdl_block(*content, *size, slots)
                  : !is_block(*content, *size, slots, t->width)) {
        free(*content);
        *content = NULL;
        return XQ_ERR_CORRUPT;
    }
    return XQ_OK;
}

/* Read a block that is not in the cache, and put it there. */
static int load_block(xq_reader *reader, const xq_table_file *t, uint64_t block, size_t slots, xq_entry **out)
{
    uint64_t number = t->first_block + block;
    uint8_t *content;
    size_t size;
    int status = unpack_block(reader, t, block, slots, &content, &size);
    if (status != XQ_OK)
        return status;
    xq_entry *e = (xq_entry *)malloc(sizeof *e);
    if (e == NULL) {
        free(content);
        return XQ_ERR_MEMORY;
    }
    e->block = number;
    e->content = content;
    e->bytes = size + sizeof *e;
    while (reader->oldest != NULL && reader->bytes + e->bytes > reader->budget)
        drop_oldest(reader);
    e->next = *bucket_of(reader, number);
    *bucket_of(reader, number) = e;
    link_newest(reader, e);
    reader->bytes += e->bytes;
    *out = e;
    return XQ_OK;
}

/* Return the place of a slot in its tile; `*tile` becomes the number of the tile. */
static uint64_t place_of(const xq_table_file *t, int side, const xq_digits *d, uint64_t *tile)
{
    const xq_block_map *m = &t->map[side];
    uint32_t lead = m->file_lead == NULL ? d->of[0] : m->file_lead[d->of[0]];
    *tile = lead / t->tile_leads;
    const uint64_t *stride = m->stride[*tile == m->last_tile];
    uint64_t place = lead % t->tile_leads * stride[0];
    for (int axis = 1; axis < m->axes; axis++)
        place += d->of[axis] * stride[axis];
    return place;
}

/* Number of slots of a block, from its tile and its number in the tile. */
static size_t slots_of_block(const xq_table_file *t, int side, uint64_t tile, uint64_t in_tile)
{
    const xq_block_map *m = &t->map[side];
    uint64_t tile_slots =
        tile == m->last_tile ? t->layout.slots - tile * m->tile_slots : m->tile_slots;
    uint64_t left = tile_slots - in_tile * t->block_slots;
    return left < t->block_slots ? (size_t)left : t->block_slots;
}

/* The code at place `index`, from 0, of a block of `slots` codes. */
static uint32_t code_in_block(const xq_set *set, const xq_table_file *t, const uint8_t *content,
                              size_t slots, size_t index)
{
    if (t->is_wdl)
        return set->outcome[content[index / TRITS]][index % TRITS];
    size_t bytes = (size_t)t->width, count = get16(content);
    if (count == 0) {
        uint32_t code = 0;
        for (size_t byte = 0; byte < bytes; byte++)
            code |= (uint32_t)content[2 + byte * slots + index] << 8 * byte;
        return code;
    }
    size_t place = count == 1 ? 0 : content[2 + count * bytes + index];
    return get_code(content + 2 + place * bytes, t->width);
}

/* The code of a slot, with the side that the material names first (0) or the other one to move;
 * XQ_ERR_COLD if it is not in the cache and the file may not be read. */
static int code_of_slot(xq_reader *reader, const xq_table_file *t, int side, const xq_digits *d, int may_read,
                        uint32_t *code)
{
    if (t->blocks[side] == 0) {
        *code = t->constant[side];
        return XQ_OK;
    }
    uint64_t tile, place = place_of(t, side, d, &tile), in_tile = place / t->block_slots;
    uint64_t block = tile * t->map[side].blocks_per_tile + in_tile;
    if (side == XQ_BLACK)
        block += t->blocks[XQ_RED];
    if (t->offsets[block + 1] == t->offsets[block]) {
        *code = t->checks[block];
        return *code >= 1 && *code <= top_code(t) ? XQ_OK : XQ_ERR_CORRUPT;
    }
    size_t slots = slots_of_block(t, side, tile, in_tile);
    xq_entry *e = find_entry(reader, t->first_block + block);
    if (e == NULL) {
        int status = may_read ? load_block(reader, t, block, slots, &e) : XQ_ERR_COLD;
        if (status != XQ_OK)
            return status;
    }
    *code = code_in_block(reader->set, t, e->content, slots, (size_t)(place % t->block_slots));
    return XQ_OK;
}

/* -- values -------------------------------------------------------------------------------- */

static int outcome_of_code(const xq_table_file *t, uint32_t code)
{
    return (code > draw_code(t)) - (code < draw_code(t));
}

static xq_value value_of_code(const xq_table_file *t, uint32_t code)
{
    uint32_t top = top_code(t), draw = draw_code(t);
    if (code == draw)
        return make_value(0, 0, 0, t->metric);
    int win = code > draw;
    uint32_t rank = win ? top - code : code - 1, order = rank / t->span;
    /* Wins of order 0 take an odd number of plies, and wins of order k an even one. */
    uint32_t odd = win == (order == 0);
    return make_value(win ? 1 : -1, order, 2 * (rank % t->span) + odd, t->metric);
}

int64_t xq_rank(const xq_value *value)
{
    if (value == NULL || value->wdl == 0)
        return 0;
    uint64_t cost = (uint64_t)value->order << 32 | value->plies;
    int64_t rank = cost < INT64_MAX ? INT64_MAX - (int64_t)cost : 1;
    return value->wdl > 0 ? rank : -rank;
}

/* -- outcomes in memory -------------------------------------------------------------------- */

enum { OUTCOMES_PER_BYTE = 4 };

/* Write the outcomes of a block, the first of which is number `first` of its side. Without `content` all
 * codes are `constant`. */
static void hold_block(const xq_set *set, const xq_table_file *t, uint8_t *held, uint64_t first, size_t slots,
                       const uint8_t *content, uint32_t constant)
{
    for (size_t i = 0; i < slots; i++) {
        uint32_t code = content == NULL ? constant : code_in_block(set, t, content, slots, i);
        uint64_t number = first + i;
        unsigned outcome = (unsigned)(outcome_of_code(t, code) + 1);
        held[number / OUTCOMES_PER_BYTE] |= (uint8_t)(outcome << number % OUTCOMES_PER_BYTE * 2);
    }
}

/* Allocate zeros for outcomes, in large pages, which make random probes a fifth faster. */
static uint8_t *allocate_held(size_t bytes)
{
#if defined(XQ_POSIX) && defined(MADV_HUGEPAGE)
    const size_t page = (size_t)1 << 21;
    void *memory = NULL;
    if (bytes >= page && bytes <= SIZE_MAX - page) {
        if (posix_memalign(&memory, page, (bytes + page - 1) / page * page) != 0)
            return NULL;
        madvise(memory, bytes, MADV_HUGEPAGE); /* falls back to small pages */
        return (uint8_t *)memset(memory, 0, bytes);
    }
#endif
    return (uint8_t *)calloc(bytes, 1);
}

static int hold_side(xq_reader *reader, xq_table_file *t, int side)
{
    uint8_t *held = allocate_held((size_t)(t->layout.slots / OUTCOMES_PER_BYTE) + 1);
    int status = held == NULL ? XQ_ERR_MEMORY : XQ_OK;
    for (uint64_t number = 0; number < t->blocks[side] && status == XQ_OK; number++) {
        uint64_t tile = number / t->map[side].blocks_per_tile;
        uint64_t in_tile = number % t->map[side].blocks_per_tile;
        uint64_t first = tile * t->map[side].tile_slots + in_tile * t->block_slots;
        uint64_t block = side == XQ_RED ? number : t->blocks[XQ_RED] + number;
        size_t slots = slots_of_block(t, side, tile, in_tile), size;
        uint8_t *content = NULL;
        uint32_t constant = t->checks[block];
        if (t->offsets[block + 1] != t->offsets[block])
            status = unpack_block(reader, t, block, slots, &content, &size);
        else if (constant < 1 || constant > top_code(t))
            status = XQ_ERR_CORRUPT;
        if (status == XQ_OK)
            hold_block(reader->set, t, held, first, slots, content, constant);
        free(content);
    }
    if (status != XQ_OK) {
        free(held);
        return status;
    }
    t->held[side] = held;
    return XQ_OK;
}

/* Size in memory of a table's outcomes. */
static uint64_t held_bytes(const xq_table_file *t)
{
    uint64_t side = t->layout.slots / OUTCOMES_PER_BYTE + 1;
    return side * (uint64_t)((t->blocks[XQ_RED] != 0) + (t->blocks[XQ_BLACK] != 0));
}

/* Size of all outcomes that a set has in memory. */
static uint64_t all_held_bytes(const xq_set *set)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < set->count; i++)
        for (int side = 0; side < SIDES; side++)
            if (set->tables[i]->held[side] != NULL)
                bytes += set->tables[i]->layout.slots / OUTCOMES_PER_BYTE + 1;
    return bytes;
}

/* Return whether all outcomes of a table are in memory; those of a side without blocks need none. */
static int is_held(const xq_table_file *t)
{
    return (t->blocks[XQ_RED] == 0 || t->held[XQ_RED] != NULL) &&
           (t->blocks[XQ_BLACK] == 0 || t->held[XQ_BLACK] != NULL);
}

/* The table with the smallest outcomes of those that are not held, but may be; NULL if there is none. */
static xq_table_file *next_to_hold(const xq_set *set)
{
    xq_table_file *next = NULL;
    for (size_t i = 0; i < set->count; i++) {
        xq_table_file *t = set->tables[i];
        if (is_held(t) || t->unreadable ||
            file_of_outcomes(place_of_key(set, key_of_table(t))) != t)
            continue;
        if (next == NULL || held_bytes(t) < held_bytes(next))
            next = t;
    }
    return next;
}

int xq_hold_next(xq_set *set, size_t bytes)
{
    if (set == NULL)
        return XQ_ERR_ARGUMENT;
    xq_table_file *t = next_to_hold(set);
    uint64_t held = all_held_bytes(set);
    if (t == NULL || held > bytes || held_bytes(t) > bytes - held)
        return 0;
    xq_reader *reader = xq_reader_new(set, 0);
    if (reader == NULL)
        return XQ_ERR_MEMORY;
    int status = XQ_OK;
    for (int side = 0; side < SIDES && status == XQ_OK; side++)
        if (t->blocks[side] != 0)
            status = hold_side(reader, t, side);
    xq_reader_free(reader);
    if (status != XQ_OK) {
        t->unreadable = 1;
        skip_file(set, t->name, status);
    }
    return status != XQ_OK ? status : 1;
}

int xq_hold(xq_set *set, size_t bytes)
{
    int failure = XQ_OK, status = 0, held = 0;
    while ((status = xq_hold_next(set, bytes)) != 0) {
        if (status == XQ_ERR_ARGUMENT || status == XQ_ERR_MEMORY)
            return status;
        if (status < 0 && failure == XQ_OK)
            failure = status;
    }
    for (size_t i = 0; i < set->count; i++)
        held += is_held(set->tables[i]) &&
                file_of_outcomes(place_of_key(set, key_of_table(set->tables[i]))) == set->tables[i];
    return failure != XQ_OK ? failure : held;
}

/* -- probing ------------------------------------------------------------------------------- */

/* Sort a position by piece, in the colours of its table; XQ_ERR_POSITION for impossible squares. */
static int sort_pieces(const xq_set *set, int swap, const uint8_t *pieces, const uint8_t *squares,
                       size_t count, xq_placement *p)
{
    uint64_t taken[2] = {0, 0};
    memset(p->count, 0, sizeof p->count);
    if (count > XQ_MAX_PIECES)
        return XQ_ERR_POSITION;
    for (size_t i = 0; i < count; i++) {
        if (pieces[i] >= CODES || (pieces[i] & 7) == 0 || squares[i] >= SQUARES)
            return XQ_ERR_POSITION;
        int code = swap ? pieces[i] ^ XQ_BLACK_PIECE : pieces[i];
        int square = swap ? set->flip[squares[i]] : squares[i];
        uint64_t bit = (uint64_t)1 << (square & 63);
        if ((taken[square >> 6] & bit) != 0 ||
            set->areas[side_of((uint8_t)code)][kind_of((uint8_t)code)].place[square] == NO_PLACE ||
            !add_square(p, code, square))
            return XQ_ERR_POSITION;
        taken[square >> 6] |= bit;
    }
    return XQ_OK;
}

/* Find the key of a position's material; XQ_ERR_POSITION unless each side has a king, and no more pieces
 * of a kind than in a set. */
static int key_of(const uint8_t *pieces, size_t count, uint64_t *key)
{
    uint8_t counts[SIDES][KINDS] = {{0}};
    if (count > XQ_MAX_PIECES)
        return XQ_ERR_POSITION;
    for (size_t i = 0; i < count; i++) {
        if (pieces[i] >= CODES || (pieces[i] & 7) == 0 ||
            ++counts[side_of(pieces[i])][kind_of(pieces[i])] > SET_COUNT[kind_of(pieces[i])])
            return XQ_ERR_POSITION;
    }
    *key = 0;
    for (size_t i = 0; i < count; i++)
        *key += xq_piece_key(pieces[i]);
    return counts[XQ_RED][KING] && counts[XQ_BLACK][KING] ? XQ_OK : XQ_ERR_POSITION;
}

static int are_arguments(const xq_reader *reader, const uint8_t *pieces, const uint8_t *squares,
                         int side, const void *answer)
{
    return reader != NULL && pieces != NULL && squares != NULL && answer != NULL &&
           (side == XQ_RED || side == XQ_BLACK);
}

/* Find the digits of a position whose material has a table; XQ_ERR_POSITION for other pieces than those
 * of the material, or impossible squares. */
static int locate(const xq_set *set, const xq_material *m, const uint8_t *pieces,
                  const uint8_t *squares, size_t count, xq_digits *d)
{
    xq_placement p;
    int status = sort_pieces(set, m->swap, pieces, squares, count, &p);
    if (status != XQ_OK)
        return status;
    const xq_table_file *t = file_of_outcomes(m);
    /* `m` was found by the key of other pieces. */
    if (memcmp(p.count, t->count, sizeof p.count) != 0)
        return XQ_ERR_POSITION;
    digits_of(set, &t->layout, &p, d);
    return XQ_OK;
}

/* Find the material of a position, and its digits if it has a table; XQ_ERR_MISSING if it needs a table
 * and has none. */
static int find_position(const xq_set *set, const uint8_t *pieces, const uint8_t *squares,
                         size_t count, const xq_material **m, xq_digits *d)
{
    xq_placement p;
    uint64_t key;
    int status = key_of(pieces, count, &key);
    if (status != XQ_OK)
        return status;
    *m = xq_find(set, key);
    if (*m != NULL && (*m)->key != 0)
        return locate(set, *m, pieces, squares, count, d);
    status = sort_pieces(set, 0, pieces, squares, count, &p);
    return status == XQ_OK && *m == NULL ? XQ_ERR_MISSING : status;
}

int xq_probe(xq_reader *reader, const uint8_t *pieces, const uint8_t *squares, size_t count,
             int side, xq_value *value)
{
    const xq_material *m;
    xq_digits d;
    uint32_t code;
    if (!are_arguments(reader, pieces, squares, side, value))
        return XQ_ERR_ARGUMENT;
    int status = find_position(reader->set, pieces, squares, count, &m, &d);
    if (status != XQ_OK)
        return status;
    if (m->key == 0) {
        *value = make_value(0, 0, 0, XQ_NO_METRIC);
        return XQ_OK;
    }
    if (m->distances == NULL)
        return XQ_ERR_MISSING;
    status = code_of_slot(reader, m->distances, side ^ m->swap, &d, 1, &code);
    if (status == XQ_OK)
        *value = value_of_code(m->distances, code);
    return status;
}

/* The outcome at a slot: from memory if it is held there, else from a block. */
static int outcome_of_slot(xq_reader *reader, const xq_material *m, int side, const xq_digits *d,
                           int may_read, int *wdl)
{
    const xq_table_file *t = file_of_outcomes(m);
    uint32_t code;
    side ^= m->swap;
    if (t->held[side] != NULL) {
        uint64_t tile, place = place_of(t, side, d, &tile);
        uint64_t number = tile * t->map[side].tile_slots + place;
        *wdl = (t->held[side][number / OUTCOMES_PER_BYTE] >> number % OUTCOMES_PER_BYTE * 2 & 3) - 1;
        return XQ_OK;
    }
    int status = code_of_slot(reader, t, side, d, may_read, &code);
    if (status == XQ_OK)
        *wdl = outcome_of_code(t, code);
    return status;
}

int xq_probe_wdl(xq_reader *reader, const uint8_t *pieces, const uint8_t *squares, size_t count,
                 int side, int *wdl)
{
    const xq_material *m;
    xq_digits d;
    if (!are_arguments(reader, pieces, squares, side, wdl))
        return XQ_ERR_ARGUMENT;
    int status = find_position(reader->set, pieces, squares, count, &m, &d);
    if (status != XQ_OK)
        return status;
    if (m->key == 0) {
        *wdl = 0;
        return XQ_OK;
    }
    return outcome_of_slot(reader, m, side, &d, 1, wdl);
}

int xq_probe_cached(xq_reader *reader, const xq_material *m, const uint8_t *pieces,
                    const uint8_t *squares, size_t count, int side, int *wdl)
{
    xq_digits d;
    if (m == NULL || !are_arguments(reader, pieces, squares, side, wdl))
        return m == NULL ? XQ_ERR_MISSING : XQ_ERR_ARGUMENT;
    if (m->key == 0) {
        const xq_material *own;
        if (find_position(reader->set, pieces, squares, count, &own, &d) != XQ_OK || own != m)
            return XQ_ERR_POSITION;
        *wdl = 0;
        return XQ_OK;
    }
    int status = locate(reader->set, m, pieces, squares, count, &d);
    return status == XQ_OK ? outcome_of_slot(reader, m, side, &d, 0, wdl) : status;
}

void xq_prefetch(const xq_reader *reader, const xq_material *m, const uint8_t *pieces,
                 const uint8_t *squares, size_t count, int side)
{
    xq_digits d;
    if (m == NULL || m->key == 0 || !are_arguments(reader, pieces, squares, side, m))
        return;
    const xq_table_file *t = file_of_outcomes(m);
    side ^= m->swap;
    if (t->held[side] == NULL || locate(reader->set, m, pieces, squares, count, &d) != XQ_OK)
        return;
    uint64_t tile, place = place_of(t, side, &d, &tile);
    TOUCH(t->held[side] + (tile * t->map[side].tile_slots + place) / OUTCOMES_PER_BYTE);
}

int xqinternal_placement(const xq_reader *reader, const uint8_t *pieces, const uint8_t *squares,
                         size_t count, int side)
{
    const xq_material *m;
    xq_digits d;
    if (!are_arguments(reader, pieces, squares, side, reader))
        return XQ_ERR_ARGUMENT;
    int status = find_position(reader->set, pieces, squares, count, &m, &d);
    return status == XQ_ERR_MISSING ? XQ_OK : status;
}

xq_rules xqinternal_rules(const xq_reader *reader) { return reader->set->rules; }

xq_offences xqinternal_offences(xq_rules rules) { return RULES[rules].offences; }
