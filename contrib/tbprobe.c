/* tbprobe: xiangqi endgame tables of tbgen, read from C99. MIT licence. See tbprobe.h.
 *
 *     areas, binomials                       what every layout is computed from
 *     layout      material -> index          docs/format.md, "The index"
 *     table       header, block table        docs/format.md, "Layout of the file"
 *     reader      block -> bytes -> code     "Blocks", "Codes"
 *     board       moves and checks           for the ranking of moves at the root
 */
#if !defined(_WIN32) && !defined(TB_IN_MEMORY)
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#define TB_POSIX 1
#endif

#include "tbprobe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#ifdef TB_POSIX
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

enum { SIDES = 2, KINDS = 7, SQUARES = 90, MAX_GROUPS = 8, MAX_COUNT = 5 };
enum { KING, ADVISOR, ELEPHANT, ROOK, KNIGHT, CANNON, PAWN };
enum { CODES = 16, NO_PLACE = 255 };
enum { KING_AREA = 9, ADVISOR_AREA = 5, ELEPHANT_AREA = 7 };
enum { MAX_ADVISOR_RANKS = 10, MAX_ELEPHANT_RANKS = 21 };
enum { HEADER_BYTES = 168, ENTRY_BYTES = 8, CRC_AT = 164, FORMAT_VERSION = 2 };
enum { MATERIAL_AT = 104, MATERIAL_BYTES = 32, MAX_BLOCK_BYTES = 65536, MAX_PALETTE = 256 };
enum { TILE_LEADS_AT = 136, ARRANGEMENT_AT = 140, ARRANGEMENT_BYTES = 12, NO_AXIS = 255 };
enum { MAX_AXES = ARRANGEMENT_BYTES - 1 }; /* more than the lead, the groups, the inner piece */
enum { MINOR_CHASES = 1 }; /* bit 0 of the options */
#ifdef _WIN32
enum { DIRECTORY_MARK = '\\' }; /* beside '/', what may stand before the name of a file */
#else
enum { DIRECTORY_MARK = '/' };
#endif

static const uint64_t MAX_SLOTS = (uint64_t)1 << 62;
static const uint64_t MAX_METADATA = (uint64_t)1 << 24;
static const int SET_COUNT[KINDS] = {1, 2, 2, 2, 2, 2, 5};

/* -- areas and binomials ------------------------------------------------------------------- */

/* Where the pieces of a kind may stand, ascending, and each square's place in that list. */
typedef struct {
    int size;
    uint8_t squares[SQUARES];
    uint8_t place[SQUARES]; /* NO_PLACE outside */
} area;

static int flipped(int square) { return 81 - 9 * (square / 9) + square % 9; }

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

static void fill_area(area *a, int side, int kind)
{
    a->size = 0;
    for (int square = 0; square < SQUARES; square++) {
        a->place[square] = NO_PLACE;
        if (red_may_stand(kind, side == TB_RED ? square : flipped(square))) {
            a->place[square] = (uint8_t)a->size;
            a->squares[a->size++] = (uint8_t)square;
        }
    }
}

/* -- sets, tables, readers: what they hold ------------------------------------------------- */

/* How many pieces of each kind the two sides have; side 0 is named first. */
typedef struct {
    uint8_t count[SIDES][KINDS];
} material;

/* Identical attackers that are ranked together. */
typedef struct {
    int side, kind, count;
    uint64_t size, stride;
} group;

/* The ranks of one side's king, advisors and elephants. */
typedef struct {
    int advisors, elephants, size;
    int16_t rank[KING_AREA][MAX_ADVISOR_RANKS][MAX_ELEPHANT_RANKS]; /* -1 where they overlap */
    int16_t mirror[KING_AREA * MAX_ADVISOR_RANKS * MAX_ELEPHANT_RANKS];
} defenders;

/* The index of one material. */
typedef struct {
    defenders side[SIDES];
    uint32_t base[KING_AREA * MAX_ADVISOR_RANKS * MAX_ELEPHANT_RANKS + 1];
    int16_t symmetric_place[KING_AREA * MAX_ADVISOR_RANKS * MAX_ELEPHANT_RANKS];
    int groups, twin; /* twin: the group of the inner piece's twins, or -1 */
    group group[MAX_GROUPS];
    int inner_side, inner_kind; /* inner_kind -1: no attackers */
    uint64_t inner_size, mids, slots;
} layout;

/* Which block each slot of one side is in (docs/format.md, "Tiles"). */
typedef struct {
    int axes, order[MAX_AXES];   /* axes of a tile, slowest first: 0 the lead, last the inner */
    uint64_t divisor[MAX_AXES];  /* of each axis but the lead, within a lead */
    uint64_t axis_size[MAX_AXES];
    uint64_t stride[2][MAX_AXES]; /* in a full tile, and in the last one */
    uint64_t last_tile, blocks_per_tile, blocks;
    uint32_t *file_lead; /* NULL where the file has the leads in the order of the index */
} block_map;

typedef struct {
    material material;
    layout layout;
    tb_metric metric;
    int width;
    uint32_t span;
    uint32_t block_slots;
    uint32_t tile_leads;
    block_map map[SIDES];
    uint64_t blocks[SIDES];
    uint32_t constant[SIDES];
    uint64_t first_block; /* number of its first block among all blocks of the set */
    uint64_t *offsets;    /* of every block, and of the end of the last one */
    uint32_t *checks;     /* crc32 of every block, or its code where it has no bytes */
    const uint8_t *memory;
    uint8_t *owned_memory;
    uint64_t size;
    int file; /* -1 unless read from a file */
} table;

struct tb_set {
    tb_rules rules;
    uint32_t orders;
    tb_metric preferred;
    area areas[SIDES][KINDS];
    uint32_t choose[SQUARES + 1][MAX_COUNT + 1];
    uint32_t crc_table[256];
    table **tables; /* sorted by material key */
    uint64_t *keys;
    size_t count, capacity;
    uint64_t blocks;
};

/* A decoded block in a reader's cache. */
typedef struct entry {
    uint64_t block;
    uint8_t *content;
    size_t bytes;
    struct entry *newer, *older; /* by last use */
    struct entry *next;          /* in the same bucket */
} entry;

struct tb_reader {
    const tb_set *set;
    ZSTD_DCtx *decoder;
    uint8_t *packed; /* scratch for the compressed bytes of a block */
    size_t packed_bytes;
    entry **buckets;
    size_t bucket_mask;
    entry *newest, *oldest;
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

static uint32_t crc32_of(const tb_set *set, uint32_t crc, const uint8_t *data, size_t size)
{
    crc = ~crc;
    for (size_t i = 0; i < size; i++)
        crc = set->crc_table[(crc ^ data[i]) & 255] ^ crc >> 8;
    return ~crc;
}

static uint32_t top_code(int width) { return UINT32_MAX >> (32 - 8 * width); }

/* The most bytes that a block can have before compression. */
static size_t max_content(size_t slots, int width)
{
    size_t planes = slots * (size_t)width;
    size_t palette = MAX_PALETTE * (size_t)width + slots;
    size_t larger = 2 + (planes > palette ? planes : palette);
    return larger < MAX_BLOCK_BYTES ? larger : MAX_BLOCK_BYTES;
}

/* -- materials ----------------------------------------------------------------------------- */

/* The counts of one side as a number; the side with the larger one is named first. */
static uint32_t army_key(const uint8_t *count)
{
    static const uint8_t order[6] = {ROOK, KNIGHT, CANNON, PAWN, ADVISOR, ELEPHANT};
    uint32_t key = 0;
    for (int i = 0; i < 6; i++)
        key = key * 8 + count[order[i]];
    return key;
}

/* The material as one number; the side named first is the upper half. */
static uint64_t material_key(uint32_t first, uint32_t second)
{
    return (uint64_t)first << 32 | second;
}

static int has_attackers(const uint8_t *count)
{
    return count[ROOK] || count[KNIGHT] || count[CANNON] || count[PAWN];
}

/* Read a canonical name, padded with zero bytes to 32. */
static int parse_material(const uint8_t *name, material *m)
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
    return army_key(m->count[0]) >= army_key(m->count[1]);
}

/* -- placements and ranks ------------------------------------------------------------------ */

/* A placement by piece: list[code] are the squares of the pieces of a code, ascending. */
typedef struct {
    uint8_t count[CODES];
    uint8_t list[CODES][MAX_COUNT];
} placement;

static int code_of(int side, int kind) { return 8 * side + kind + 1; }

/* Put a square into its place among those of a code. */
static void add_square(placement *p, int code, int square)
{
    int i = p->count[code];
    if (i >= MAX_COUNT)
        return; /* never: counts have been checked */
    for (; i > 0 && p->list[code][i - 1] > square; i--)
        p->list[code][i] = p->list[code][i - 1];
    p->list[code][i] = (uint8_t)square;
    p->count[code]++;
}

static void mirror_placement(const placement *p, placement *image)
{
    memset(image, 0, sizeof *image);
    for (int code = 1; code < CODES; code++)
        for (int i = 0; i < p->count[code]; i++)
            add_square(image, code, mirrored(p->list[code][i]));
}

/* The rank of the first `count` pieces of a kind: areas ascend, so that place numbers do too. */
static uint32_t rank_of(const tb_set *set, const placement *p, int side, int kind, int count)
{
    const uint8_t *list = p->list[code_of(side, kind)];
    uint32_t rank = 0;
    for (int i = 0; i < count; i++)
        rank += set->choose[set->areas[side][kind].place[list[i]]][i + 1];
    return rank;
}

static int defender_rank(const tb_set *set, const defenders *d, const placement *p, int side)
{
    int king = set->areas[side][KING].place[p->list[code_of(side, KING)][0]];
    return d->rank[king][rank_of(set, p, side, ADVISOR, d->advisors)]
                  [rank_of(set, p, side, ELEPHANT, d->elephants)];
}

/* How many placements none, one or two pieces have. */
static int placements(int area_size, int count)
{
    return count == 0 ? 1 : count == 1 ? area_size : area_size * (area_size - 1) / 2;
}

/* Add none, one or two pieces of a rank. */
static void add_ranked(const tb_set *set, placement *p, int side, int kind, int count, int rank)
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

/* The defenders of a king's place number and the ranks of advisors and elephants; 0 if they
 * overlap. */
static int place_defenders(const tb_set *set, const defenders *d, placement *p, int side, int king,
                           int advisors, int elephants)
{
    uint8_t taken[SQUARES] = {0};
    memset(p, 0, sizeof *p);
    add_square(p, code_of(side, KING), set->areas[side][KING].squares[king]);
    add_ranked(set, p, side, ADVISOR, d->advisors, advisors);
    add_ranked(set, p, side, ELEPHANT, d->elephants, elephants);
    for (int code = code_of(side, KING); code <= code_of(side, ELEPHANT); code++)
        for (int i = 0; i < p->count[code]; i++)
            if (taken[p->list[code][i]]++)
                return 0;
    return 1;
}

static void fill_defenders(const tb_set *set, defenders *d, int side, const uint8_t *count)
{
    placement p, image;
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
                if (place_defenders(set, d, &p, side, k, a, e)) {
                    mirror_placement(&p, &image);
                    d->mirror[d->rank[k][a][e]] = (int16_t)defender_rank(set, d, &image, side);
                }
}

/* -- layouts ------------------------------------------------------------------------------- */

/* Single before twins; knight, rook, cannon, pawn; Red's first. */
static void choose_inner(const material *m, int *side, int *kind)
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

/* The index of a material; 0 if its slots are too many for 64 bits. */
static int fill_layout(const tb_set *set, layout *l, const material *m)
{
    static const uint8_t attackers[4] = {ROOK, KNIGHT, CANNON, PAWN};
    for (int side = 0; side < SIDES; side++)
        fill_defenders(set, &l->side[side], side, m->count[side]);
    const defenders *red = &l->side[TB_RED], *black = &l->side[TB_BLACK];
    int symmetric = 0;
    for (int b = 0; b < black->size; b++)
        l->symmetric_place[b] = b <= black->mirror[b] ? (int16_t)symmetric++ : -1;
    l->base[0] = 0;
    for (int w = 0; w < red->size; w++) {
        int image = red->mirror[w];
        int width = image > w ? black->size : image == w ? symmetric : 0;
        l->base[w + 1] = l->base[w] + (uint32_t)width;
    }
    choose_inner(m, &l->inner_side, &l->inner_kind);
    l->inner_size =
        l->inner_kind < 0 ? 1 : (uint64_t)set->areas[l->inner_side][l->inner_kind].size;
    l->groups = 0;
    l->twin = -1;
    for (int side = 0; side < SIDES; side++)
        for (int i = 0; i < 4; i++) {
            int kind = attackers[i], count = m->count[side][kind];
            int is_inner = side == l->inner_side && kind == l->inner_kind;
            if (count - is_inner <= 0)
                continue;
            if (is_inner)
                l->twin = l->groups;
            group *g = &l->group[l->groups++];
            g->side = side;
            g->kind = kind;
            g->count = count - is_inner;
        }
    l->mids = 1;
    uint64_t rest = MAX_SLOTS / l->inner_size / l->base[red->size];
    for (int i = l->groups - 1; i >= 0; i--) {
        group *g = &l->group[i];
        uint64_t size = set->choose[set->areas[g->side][g->kind].size][g->count];
        g->size = size;
        g->stride = l->mids;
        if (size > rest / l->mids)
            return 0;
        l->mids *= size;
    }
    l->slots = l->mids * l->inner_size * l->base[red->size];
    return 1;
}

static uint64_t leads_of(const layout *l) { return l->base[l->side[TB_RED].size]; }

/* The number of every lead when they are in the order of Black's defenders, then Red's. */
static uint32_t *leads_by_black(const layout *l)
{
    const defenders *red = &l->side[TB_RED], *black = &l->side[TB_BLACK];
    uint32_t *number = malloc((size_t)leads_of(l) * sizeof *number), next = 0;
    if (number == NULL)
        return NULL;
    for (int b = 0; b < black->size; b++)
        for (int w = 0; w < red->size; w++) {
            int place = red->mirror[w] == w ? l->symmetric_place[b] : b;
            if (red->mirror[w] >= w && place >= 0)
                number[(int)l->base[w] + place] = next++;
        }
    return number;
}

/* One side's map from its bytes of the header: TB_OK, TB_ERR_CORRUPT or TB_ERR_MEMORY. */
static int fill_map(block_map *m, const layout *l, uint64_t tile_leads, uint64_t block_slots,
                    const uint8_t *h)
{
    uint64_t leads = leads_of(l), lead_slots = l->mids * l->inner_size, size[MAX_AXES];
    if (h[0] > 1 || tile_leads < 1 || tile_leads > leads)
        return TB_ERR_CORRUPT;
    m->axes = l->groups + 2;
    unsigned seen = 0;
    for (int i = 0; i < MAX_AXES; i++) {
        if (i >= m->axes) {
            if (h[1 + i] != NO_AXIS)
                return TB_ERR_CORRUPT;
            continue;
        }
        if (h[1 + i] >= m->axes)
            return TB_ERR_CORRUPT;
        m->order[i] = h[1 + i];
        seen |= 1u << m->order[i];
    }
    if (seen != (1u << m->axes) - 1)
        return TB_ERR_CORRUPT;
    uint64_t divisor = 1;
    for (int axis = m->axes - 1; axis > 0; axis--) {
        const group *g = &l->group[axis - 1];
        size[axis] = axis == m->axes - 1 ? l->inner_size : g->size;
        m->axis_size[axis] = size[axis];
        m->divisor[axis] = divisor;
        divisor *= size[axis];
    }
    m->last_tile = (leads - 1) / tile_leads;
    uint64_t last_leads = leads - m->last_tile * tile_leads;
    for (int last = 0; last < 2; last++) {
        uint64_t stride = 1;
        size[0] = last ? last_leads : tile_leads;
        for (int i = m->axes - 1; i >= 0; i--) {
            m->stride[last][m->order[i]] = stride;
            stride *= size[m->order[i]];
        }
    }
    m->blocks_per_tile = (tile_leads * lead_slots - 1) / block_slots + 1;
    m->blocks = m->last_tile * m->blocks_per_tile + (last_leads * lead_slots - 1) / block_slots + 1;
    if (h[0]) {
        m->file_lead = leads_by_black(l);
        if (m->file_lead == NULL)
            return TB_ERR_MEMORY;
    }
    return TB_OK;
}

/* The (mid, inner) part of a slot. */
static uint64_t attacker_slot(const tb_set *set, const layout *l, const placement *p)
{
    uint64_t mid = 0;
    for (int i = 0; i < l->groups; i++) {
        const group *g = &l->group[i];
        /* A twin group has one piece less: that on the largest square, the last, is inner. */
        mid += rank_of(set, p, g->side, g->kind, g->count) * g->stride;
    }
    if (l->inner_kind < 0)
        return mid;
    int code = code_of(l->inner_side, l->inner_kind);
    int square = p->list[code][p->count[code] - 1];
    return mid * l->inner_size + set->areas[l->inner_side][l->inner_kind].place[square];
}

static uint64_t slot_of(const tb_set *set, const layout *l, const placement *p)
{
    int rank[SIDES], image[SIDES];
    placement mirror;
    for (int side = 0; side < SIDES; side++) {
        rank[side] = defender_rank(set, &l->side[side], p, side);
        image[side] = l->side[side].mirror[rank[side]];
    }
    int own_image = image[0] == rank[0], symmetric = own_image && image[1] == rank[1];
    int is_mirrored = image[0] < rank[0] || (own_image && image[1] < rank[1]);
    int w = is_mirrored ? image[0] : rank[0], b = is_mirrored ? image[1] : rank[1];
    uint64_t lead = (uint64_t)l->base[w] + (uint64_t)(own_image ? l->symmetric_place[b] : b);
    if (is_mirrored || symmetric)
        mirror_placement(p, &mirror);
    uint64_t within = attacker_slot(set, l, is_mirrored ? &mirror : p);
    if (symmetric) {
        uint64_t other = attacker_slot(set, l, &mirror);
        within = other < within ? other : within;
    }
    return lead * l->mids * l->inner_size + within;
}

/* -- sets ---------------------------------------------------------------------------------- */

const char *tb_status_text(int status)
{
    switch (status) {
    case TB_OK:
        return "no error";
    case TB_ERR_MISSING:
        return "there is no table of this material";
    case TB_ERR_POSITION:
        return "the pieces cannot stand on these squares";
    case TB_ERR_ILLEGAL:
        return "the kings face each other, or the side that is not to move is in check";
    case TB_ERR_CORRUPT:
        return "the file is damaged or no table";
    case TB_ERR_VERSION:
        return "the file has a later format than this reader knows";
    case TB_ERR_IO:
        return "the file or directory cannot be read";
    case TB_ERR_MEMORY:
        return "out of memory";
    case TB_ERR_ARGUMENT:
        return "an argument is missing or out of its range";
    case TB_ERR_OTHER_SET:
        return "the table is of another rule set";
    case TB_ERR_NAME:
        return "the file holds another table than its name says";
    default:
        return "unknown status";
    }
}

tb_set *tb_set_new(tb_rules rules, uint32_t orders, tb_metric preferred)
{
    if ((int)rules < TB_RULES_NONE || rules > TB_RULES_WXF_NO_MINOR)
        return NULL;
    tb_set *set = calloc(1, sizeof *set);
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
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
        set->crc_table[i] = crc;
    }
    return set;
}

static void free_table(table *t)
{
    if (t == NULL)
        return;
#ifdef TB_POSIX
    if (t->file >= 0)
        close(t->file);
#endif
    for (int side = 0; side < SIDES; side++)
        free(t->map[side].file_lead);
    free(t->owned_memory);
    free(t->offsets);
    free(t->checks);
    free(t);
}

void tb_set_free(tb_set *set)
{
    if (set == NULL)
        return;
    for (size_t i = 0; i < set->count; i++)
        free_table(set->tables[i]);
    free(set->tables);
    free(set->keys);
    free(set);
}

size_t tb_set_size(const tb_set *set) { return set == NULL ? 0 : set->count; }

/* Where a key is among the keys, or belongs. */
static size_t find_key(const tb_set *set, uint64_t key)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* -- opening a table ----------------------------------------------------------------------- */

/* Exactly these bytes of the file. */
static int read_bytes(const table *t, uint64_t offset, uint8_t *out, size_t size)
{
    if (offset > t->size || size > t->size - offset)
        return TB_ERR_CORRUPT;
    if (t->memory != NULL) {
        memcpy(out, t->memory + offset, size);
        return TB_OK;
    }
#ifdef TB_POSIX
    while (size > 0) {
        ssize_t got = pread(t->file, out, size, (off_t)offset);
        if (got < 0)
            return TB_ERR_IO;
        if (got == 0)
            return TB_ERR_CORRUPT; /* the file has become shorter */
        out += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return TB_OK;
#else
    return TB_ERR_IO;
#endif
}

/* The rule set that a header names, or -1 for options that it cannot have. */
static int rule_set_of(const uint8_t *h)
{
    int rules = h[11];
    uint32_t options = get16(h + 14);
    if (rules != TB_RULES_WXF)
        return options == 0 ? rules : -1;
    return options == 0 ? TB_RULES_WXF_NO_MINOR : options == MINOR_CHASES ? TB_RULES_WXF : -1;
}

/* Everything of the header but the checksum; sizes are compared before anything is allocated. */
static int read_header(const tb_set *set, table *t, const uint8_t *h)
{
    static const uint8_t magic[8] = {0x89, 'X', 'Q', 'T', '\r', '\n', 0x1A, '\n'};
    if (memcmp(h, magic, sizeof magic) != 0)
        return TB_ERR_CORRUPT;
    if (get16(h + 8) > FORMAT_VERSION)
        return TB_ERR_VERSION;
    t->width = h[10];
    t->span = get32(h + 16);
    t->block_slots = get32(h + 24);
    if (get16(h + 8) != FORMAT_VERSION || (t->width != 1 && t->width != 2 && t->width != 4) ||
        h[11] > TB_RULES_WXF || rule_set_of(h) < 0 || h[12] > TB_DTC || t->block_slots < 1 ||
        t->block_slots > MAX_BLOCK_BYTES || !parse_material(h + MATERIAL_AT, &t->material))
        return TB_ERR_CORRUPT;
    uint32_t top = top_code(t->width), draw = top / 2 + 1;
    uint64_t slots = get64(h + 32), table_offset = get64(h + 64);
    uint64_t metadata_offset = get64(h + 72), metadata_length = get64(h + 80);
    if (t->span < 1 || t->span > draw - 1 || slots > MAX_SLOTS || metadata_length > MAX_METADATA)
        return TB_ERR_CORRUPT;
    for (int side = 0; side < SIDES; side++) {
        uint64_t blocks = t->blocks[side] = get64(h + 40 + 8 * side);
        uint32_t constant = t->constant[side] = get32(h + 56 + 4 * side);
        if (blocks == 0 ? constant < 1 || constant > top : constant != 0)
            return TB_ERR_CORRUPT;
        if (blocks > t->size / ENTRY_BYTES)
            return TB_ERR_CORRUPT;
    }
    uint64_t table_bytes = ENTRY_BYTES * (t->blocks[0] + t->blocks[1]);
    if (table_offset < HEADER_BYTES || table_offset > t->size ||
        table_bytes > t->size - table_offset || metadata_offset != table_offset + table_bytes ||
        metadata_length != t->size - metadata_offset)
        return TB_ERR_CORRUPT;
    if (!fill_layout(set, &t->layout, &t->material) || slots != t->layout.slots)
        return TB_ERR_CORRUPT;
    t->tile_leads = get32(h + TILE_LEADS_AT);
    for (int side = 0; side < SIDES; side++) {
        int status = fill_map(&t->map[side], &t->layout, t->tile_leads, t->block_slots,
                              h + ARRANGEMENT_AT + ARRANGEMENT_BYTES * side);
        if (status != TB_OK)
            return status;
        if (t->blocks[side] != 0 && t->blocks[side] != t->map[side].blocks)
            return TB_ERR_CORRUPT;
    }
    t->metric = (tb_metric)h[12];
    if (rule_set_of(h) != (int)set->rules || get32(h + 20) != set->orders)
        return TB_ERR_OTHER_SET;
    return TB_OK;
}

/* The block table, once the header's checksum, which covers it, is known to be right. */
static int read_block_table(const tb_set *set, table *t, const uint8_t *header)
{
    uint64_t count = t->blocks[0] + t->blocks[1], table_offset = get64(header + 64);
    if (count > (SIZE_MAX - sizeof(uint64_t)) / sizeof(uint64_t))
        return TB_ERR_MEMORY;
    t->offsets = malloc((size_t)(count + 1) * sizeof *t->offsets);
    t->checks = malloc((size_t)(count + 1) * sizeof *t->checks);
    if (t->offsets == NULL || t->checks == NULL)
        return TB_ERR_MEMORY;
    uint32_t crc = crc32_of(set, 0, header, CRC_AT);
    uint64_t longest = 2 * max_content(t->block_slots, t->width) + 1024;
    uint64_t offset = HEADER_BYTES;
    int sound = 1;
    for (uint64_t block = 0; block < count;) {
        uint8_t chunk[512 * ENTRY_BYTES];
        uint64_t left = count - block;
        size_t entries = left < 512 ? (size_t)left : 512;
        size_t bytes = entries * ENTRY_BYTES;
        int status = read_bytes(t, table_offset + ENTRY_BYTES * block, chunk, bytes);
        if (status != TB_OK)
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
    return sound && crc == get32(header + CRC_AT) && offset == table_offset ? TB_OK
                                                                           : TB_ERR_CORRUPT;
}

/* Whether a file has the name of the table that its header, which has been checked, is of. */
static int bears_name(const char *path, const uint8_t *h)
{
    static const char *const rules[] = {"none", "check", "wxf", "wxf-nominor"};
    char name[96], limit[16] = "";
    uint32_t orders = get32(h + 20);
    if (orders != 0)
        snprintf(limit, sizeof limit, "-o%lu", (unsigned long)orders);
    snprintf(name, sizeof name, "%.*s.%s%s.%s.xqt", (int)MATERIAL_BYTES,
             (const char *)h + MATERIAL_AT, rules[rule_set_of(h)], limit,
             h[12] == TB_DTM ? "dtm" : "dtc");
    const char *last = path;
    for (const char *c = path; *c != 0; c++)
        if (*c == '/' || *c == DIRECTORY_MARK)
            last = c + 1;
    return strcmp(last, name) == 0;
}

/* Put a checked table into the set, which then owns it. */
static int insert(tb_set *set, table *t)
{
    uint64_t key = material_key(army_key(t->material.count[0]), army_key(t->material.count[1]));
    size_t at = find_key(set, key);
    t->first_block = set->blocks;
    if (at < set->count && set->keys[at] == key) {
        /* A second table of the material: that of the preferred metric stays, else the first. */
        if (set->tables[at]->metric == set->preferred || t->metric != set->preferred) {
            free_table(t);
            return TB_OK;
        }
        free_table(set->tables[at]);
    } else {
        if (set->count == set->capacity) {
            size_t capacity = set->capacity ? 2 * set->capacity : 16;
            table **tables = realloc(set->tables, capacity * sizeof *tables);
            if (tables == NULL)
                return TB_ERR_MEMORY;
            set->tables = tables;
            uint64_t *keys = realloc(set->keys, capacity * sizeof *keys);
            if (keys == NULL)
                return TB_ERR_MEMORY;
            set->keys = keys;
            set->capacity = capacity;
        }
        memmove(set->tables + at + 1, set->tables + at, (set->count - at) * sizeof *set->tables);
        memmove(set->keys + at + 1, set->keys + at, (set->count - at) * sizeof *set->keys);
        set->count++;
    }
    set->tables[at] = t;
    set->keys[at] = key;
    set->blocks += t->blocks[0] + t->blocks[1];
    return TB_OK;
}

/* Read and check header and block table, and take the table over whatever comes of it. `path` is
 * where the file is, NULL for one that has no name. */
static int add_table(tb_set *set, table *t, const char *path)
{
    uint8_t header[HEADER_BYTES];
    int status = read_bytes(t, 0, header, sizeof header);
    if (status == TB_OK)
        status = read_header(set, t, header);
    /* Damage may look like another rule set: only a right checksum makes it one. */
    if (status == TB_OK || status == TB_ERR_OTHER_SET) {
        int read = read_block_table(set, t, header);
        status = read == TB_OK ? status : read;
        if (read == TB_OK && path != NULL && !bears_name(path, header))
            status = TB_ERR_NAME;
    }
    if (status == TB_OK)
        status = insert(set, t);
    if (status != TB_OK)
        free_table(t);
    return status;
}

static table *new_table(void)
{
    table *t = calloc(1, sizeof *t);
    if (t != NULL)
        t->file = -1;
    return t;
}

int tb_add_memory(tb_set *set, const void *data, size_t size)
{
    if (set == NULL || data == NULL)
        return TB_ERR_ARGUMENT;
    table *t = new_table();
    if (t == NULL)
        return TB_ERR_MEMORY;
    t->memory = data;
    t->size = size;
    return add_table(set, t, NULL);
}

#ifdef TB_POSIX

int tb_add_file(tb_set *set, const char *path)
{
    if (set == NULL || path == NULL)
        return TB_ERR_ARGUMENT;
    table *t = new_table();
    if (t == NULL)
        return TB_ERR_MEMORY;
    struct stat status;
    /* Not to wait: a pipe of this name may never have a writer. */
    t->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (t->file < 0 || fstat(t->file, &status) != 0 || !S_ISREG(status.st_mode)) {
        free_table(t);
        return TB_ERR_IO;
    }
    t->size = (uint64_t)status.st_size;
    return add_table(set, t, path);
}

int tb_add_directory(tb_set *set, const char *path)
{
    static const char suffix[] = ".xqt";
    if (set == NULL || path == NULL)
        return TB_ERR_ARGUMENT;
    DIR *directory = opendir(path);
    if (directory == NULL)
        return TB_ERR_IO;
    int added = 0, failure = TB_OK;
    for (struct dirent *item; (item = readdir(directory)) != NULL;) {
        size_t length = strlen(item->d_name), folder = strlen(path);
        if (item->d_name[0] == '.' || length < sizeof suffix ||
            strcmp(item->d_name + length - 4, suffix) != 0)
            continue;
        char *full = malloc(folder + length + 2);
        int status = TB_ERR_MEMORY;
        if (full != NULL) {
            memcpy(full, path, folder);
            full[folder] = '/';
            memcpy(full + folder + 1, item->d_name, length + 1);
            status = tb_add_file(set, full);
            free(full);
        }
        if (status == TB_OK)
            added++;
        else if (status != TB_ERR_OTHER_SET && failure == TB_OK)
            failure = status;
    }
    closedir(directory);
    return failure != TB_OK ? failure : added;
}

#else

int tb_add_file(tb_set *set, const char *path)
{
    if (set == NULL || path == NULL)
        return TB_ERR_ARGUMENT;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return TB_ERR_IO;
    table *t = new_table();
    size_t size = 0, capacity = 0, got = 0;
    uint8_t *data = NULL;
    int status = t == NULL ? TB_ERR_MEMORY : TB_OK;
    while (status == TB_OK) {
        if (size == capacity) {
            capacity = capacity ? 2 * capacity : 65536;
            uint8_t *larger = capacity > size ? realloc(data, capacity) : NULL;
            if (larger == NULL) {
                status = TB_ERR_MEMORY;
                break;
            }
            data = larger;
        }
        got = fread(data + size, 1, capacity - size, file);
        if (got == 0)
            break;
        size += got;
    }
    if (status == TB_OK && ferror(file))
        status = TB_ERR_IO;
    fclose(file);
    if (status != TB_OK) {
        free(data);
        free_table(t);
        return status;
    }
    t->memory = t->owned_memory = data;
    t->size = size;
    return add_table(set, t, path);
}

int tb_add_directory(tb_set *set, const char *path)
{
    return set == NULL || path == NULL ? TB_ERR_ARGUMENT : TB_ERR_IO;
}

#endif

/* -- readers: blocks, and codes out of them ------------------------------------------------ */

tb_reader *tb_reader_new(const tb_set *set, size_t cache_bytes)
{
    if (set == NULL)
        return NULL;
    tb_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL)
        return NULL;
    size_t buckets = 64;
    while (buckets < cache_bytes / 32768 && buckets < (size_t)1 << 24)
        buckets *= 2;
    reader->set = set;
    reader->budget = cache_bytes;
    reader->bucket_mask = buckets - 1;
    reader->decoder = ZSTD_createDCtx();
    reader->buckets = calloc(buckets, sizeof *reader->buckets);
    if (reader->decoder == NULL || reader->buckets == NULL) {
        tb_reader_free(reader);
        return NULL;
    }
    return reader;
}

void tb_reader_free(tb_reader *reader)
{
    if (reader == NULL)
        return;
    for (entry *e = reader->newest; e != NULL;) {
        entry *older = e->older;
        free(e->content);
        free(e);
        e = older;
    }
    ZSTD_freeDCtx(reader->decoder);
    free(reader->packed);
    free(reader->buckets);
    free(reader);
}

static entry **bucket_of(tb_reader *reader, uint64_t block)
{
    return &reader->buckets[(block * 0x9E3779B97F4A7C15u >> 32) & reader->bucket_mask];
}

/* Take an entry out of the list by last use. */
static void unlink_entry(tb_reader *reader, entry *e)
{
    *(e->newer ? &e->newer->older : &reader->newest) = e->older;
    *(e->older ? &e->older->newer : &reader->oldest) = e->newer;
}

static void link_newest(tb_reader *reader, entry *e)
{
    e->newer = NULL;
    e->older = reader->newest;
    *(reader->newest ? &reader->newest->newer : &reader->oldest) = e;
    reader->newest = e;
}

static void drop_oldest(tb_reader *reader)
{
    entry *e = reader->oldest;
    entry **link = bucket_of(reader, e->block);
    while (*link != e)
        link = &(*link)->next;
    *link = e->next;
    unlink_entry(reader, e);
    reader->bytes -= e->bytes;
    free(e->content);
    free(e);
}

static entry *find_entry(tb_reader *reader, uint64_t block)
{
    for (entry *e = *bucket_of(reader, block); e != NULL; e = e->next)
        if (e->block == block) {
            if (e != reader->newest) {
                unlink_entry(reader, e);
                link_newest(reader, e);
            }
            return e;
        }
    return NULL;
}

/* Whether the bytes are a block of `slots` codes (docs/format.md, "Blocks"). */
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

/* Read, check and unpack a block; `*content` is the caller's to free. */
static int unpack_block(tb_reader *reader, const table *t, uint64_t block, size_t slots,
                        uint8_t **content, size_t *size)
{
    size_t length = (size_t)(t->offsets[block + 1] - t->offsets[block]);
    if (length > reader->packed_bytes) {
        uint8_t *larger = realloc(reader->packed, length);
        if (larger == NULL)
            return TB_ERR_MEMORY;
        reader->packed = larger;
        reader->packed_bytes = length;
    }
    int status = read_bytes(t, t->offsets[block], reader->packed, length);
    if (status != TB_OK)
        return status;
    if (crc32_of(reader->set, 0, reader->packed, length) != t->checks[block])
        return TB_ERR_CORRUPT;
    /* The two error values of this function are the largest numbers there are. */
    unsigned long long unpacked = ZSTD_getFrameContentSize(reader->packed, length);
    if (unpacked > max_content(slots, t->width))
        return TB_ERR_CORRUPT;
    size_t frame = ZSTD_findFrameCompressedSize(reader->packed, length);
    if (ZSTD_isError(frame))
        return TB_ERR_CORRUPT;
    *content = malloc((size_t)unpacked + 1);
    if (*content == NULL)
        return TB_ERR_MEMORY;
    *size = ZSTD_decompressDCtx(reader->decoder, *content, (size_t)unpacked, reader->packed, frame);
    if (ZSTD_isError(*size) || *size != unpacked || !is_block(*content, *size, slots, t->width)) {
        free(*content);
        return TB_ERR_CORRUPT;
    }
    return TB_OK;
}

/* The block, from the cache or from the file. */
static int get_block(tb_reader *reader, const table *t, uint64_t block, size_t slots, entry **out)
{
    uint64_t number = t->first_block + block;
    *out = find_entry(reader, number);
    if (*out != NULL)
        return TB_OK;
    uint8_t *content;
    size_t size;
    int status = unpack_block(reader, t, block, slots, &content, &size);
    if (status != TB_OK)
        return status;
    entry *e = malloc(sizeof *e);
    if (e == NULL) {
        free(content);
        return TB_ERR_MEMORY;
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
    return TB_OK;
}

/* The block of a slot within its side, the place in the block, and how many slots it has. */
static uint64_t block_of_slot(const table *t, int side, uint64_t slot, size_t *index, size_t *slots)
{
    const block_map *m = &t->map[side];
    uint64_t lead_slots = t->layout.mids * t->layout.inner_size;
    uint64_t lead = slot / lead_slots, within = slot % lead_slots;
    if (m->file_lead != NULL)
        lead = m->file_lead[lead];
    uint64_t tile = lead / t->tile_leads;
    const uint64_t *stride = m->stride[tile == m->last_tile];
    uint64_t place = lead % t->tile_leads * stride[0];
    for (int axis = 1; axis < m->axes; axis++)
        place += within / m->divisor[axis] % m->axis_size[axis] * stride[axis];
    uint64_t in_tile = place / t->block_slots, tile_slots = t->tile_leads * lead_slots;
    if (tile == m->last_tile)
        tile_slots = t->layout.slots - tile * tile_slots;
    uint64_t left = tile_slots - in_tile * t->block_slots;
    *index = (size_t)(place % t->block_slots);
    *slots = left < t->block_slots ? (size_t)left : t->block_slots;
    return tile * m->blocks_per_tile + in_tile;
}

/* The code of a slot, for the side that the material names first (0) or the other one to move. */
static int code_of_slot(tb_reader *reader, const table *t, int side, uint64_t slot, uint32_t *code)
{
    if (t->blocks[side] == 0) {
        *code = t->constant[side];
        return TB_OK;
    }
    size_t index, slots;
    uint64_t block = block_of_slot(t, side, slot, &index, &slots);
    if (side == TB_BLACK)
        block += t->blocks[TB_RED];
    if (t->offsets[block + 1] == t->offsets[block]) {
        *code = t->checks[block];
        return *code >= 1 && *code <= top_code(t->width) ? TB_OK : TB_ERR_CORRUPT;
    }
    entry *e;
    int status = get_block(reader, t, block, slots, &e);
    if (status != TB_OK)
        return status;
    size_t width = (size_t)t->width, count = get16(e->content);
    if (count == 0) {
        *code = 0;
        for (size_t byte = 0; byte < width; byte++)
            *code |= (uint32_t)e->content[2 + byte * slots + index] << 8 * byte;
    } else {
        size_t place = count == 1 ? 0 : e->content[2 + count * width + index];
        *code = get_code(e->content + 2 + place * width, t->width);
    }
    return TB_OK;
}

/* -- values -------------------------------------------------------------------------------- */

static tb_value make_value(int wdl, uint32_t order, uint32_t plies, tb_metric metric)
{
    tb_value v = {wdl, order, plies, order ? 255 - (int64_t)plies : (int64_t)plies, metric};
    return v;
}

static tb_value value_of_code(const table *t, uint32_t code)
{
    uint32_t top = top_code(t->width), draw = top / 2 + 1;
    if (code == draw)
        return make_value(0, 0, 0, t->metric);
    int win = code > draw;
    uint32_t rank = win ? top - code : code - 1, order = rank / t->span;
    /* Wins of order 0 take an odd number of plies, and wins of order k an even one. */
    uint32_t odd = win == (order == 0);
    return make_value(win ? 1 : -1, order, 2 * (rank % t->span) + odd, t->metric);
}

/* -- probing ------------------------------------------------------------------------------- */

/* The position sorted by piece, as the table has it: `*swap` where the colours are exchanged. */
static int sort_pieces(const tb_set *set, const uint8_t *pieces, const uint8_t *squares,
                       size_t count, placement *p, int *swap, uint64_t *key)
{
    uint8_t counts[SIDES][KINDS] = {{0}};
    uint8_t taken[SQUARES] = {0};
    if (count > TB_MAX_PIECES)
        return TB_ERR_POSITION;
    for (size_t i = 0; i < count; i++) {
        int side = pieces[i] >> 3, kind = (pieces[i] & 7) - 1;
        if (side >= SIDES || kind < 0 || squares[i] >= SQUARES || taken[squares[i]] ||
            set->areas[side][kind].place[squares[i]] == NO_PLACE ||
            ++counts[side][kind] > SET_COUNT[kind])
            return TB_ERR_POSITION;
        taken[squares[i]] = 1;
    }
    if (!counts[TB_RED][KING] || !counts[TB_BLACK][KING])
        return TB_ERR_POSITION;
    uint32_t red = army_key(counts[TB_RED]), black = army_key(counts[TB_BLACK]);
    *swap = black > red;
    *key = *swap ? material_key(black, red) : material_key(red, black);
    memset(p, 0, sizeof *p);
    for (size_t i = 0; i < count; i++) {
        int code = *swap ? pieces[i] ^ TB_BLACK_PIECE : pieces[i];
        int square = *swap ? flipped(squares[i]) : squares[i];
        add_square(p, code, square);
    }
    return TB_OK;
}

static int can_win(const placement *p)
{
    for (int side = 0; side < SIDES; side++)
        if (has_attackers(p->count + 8 * side + 1))
            return 1;
    return 0;
}

int tb_probe(tb_reader *reader, const uint8_t *pieces, const uint8_t *squares, size_t count,
             int side, tb_value *value)
{
    if (reader == NULL || pieces == NULL || squares == NULL || value == NULL ||
        (side != TB_RED && side != TB_BLACK))
        return TB_ERR_ARGUMENT;
    const tb_set *set = reader->set;
    placement p;
    int swap;
    uint64_t key;
    uint32_t code;
    int status = sort_pieces(set, pieces, squares, count, &p, &swap, &key);
    if (status != TB_OK)
        return status;
    if (!can_win(&p)) {
        *value = make_value(0, 0, 0, TB_NO_METRIC);
        return TB_OK;
    }
    size_t at = find_key(set, key);
    if (at == set->count || set->keys[at] != key)
        return TB_ERR_MISSING;
    const table *t = set->tables[at];
    status = code_of_slot(reader, t, side ^ swap, slot_of(set, &t->layout, &p), &code);
    if (status == TB_OK)
        *value = value_of_code(t, code);
    return status;
}

int tb_probe_wdl(tb_reader *reader, const uint8_t *pieces, const uint8_t *squares, size_t count,
                 int side, int *wdl)
{
    tb_value value;
    if (wdl == NULL)
        return TB_ERR_ARGUMENT;
    int status = tb_probe(reader, pieces, squares, count, side, &value);
    if (status == TB_OK)
        *wdl = value.wdl;
    return status;
}

/* -- the board: moves and checks ----------------------------------------------------------- */

typedef struct {
    uint8_t from, to;
} step;

static const int DIRECTION[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}}; /* rank, file */
static const int DIAGONAL[4][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};

static int on_board(int rank, int file) { return rank >= 0 && rank < 10 && file >= 0 && file < 9; }

static int side_of(uint8_t code) { return code >> 3; }

static int kind_of(uint8_t code) { return (code & 7) - 1; }

static size_t add_step(const uint8_t *board, int side, int from, int to, step *steps, size_t count)
{
    if (count < TB_MAX_MOVES && (board[to] == 0 || side_of(board[to]) != side)) {
        steps[count].from = (uint8_t)from;
        steps[count].to = (uint8_t)to;
        count++;
    }
    return count;
}

/* Moves along ranks and files: any distance, captures at the first piece or behind one. */
static size_t slide(const uint8_t *board, int from, int mounts, step *steps, size_t count)
{
    for (int d = 0; d < 4; d++) {
        int rank = from / 9, file = from % 9, seen = 0;
        for (;;) {
            rank += DIRECTION[d][0];
            file += DIRECTION[d][1];
            if (!on_board(rank, file))
                break;
            int to = 9 * rank + file;
            if (board[to] == 0) {
                if (seen == 0)
                    count = add_step(board, side_of(board[from]), from, to, steps, count);
            } else if (seen++ == mounts) {
                count = add_step(board, side_of(board[from]), from, to, steps, count);
                break;
            }
        }
    }
    return count;
}

static size_t leap(const uint8_t *board, int from, step *steps, size_t count)
{
    int rank = from / 9, file = from % 9;
    for (int leg = 0; leg < 4; leg++) {
        int r = DIRECTION[leg][0], f = DIRECTION[leg][1];
        if (!on_board(rank + r, file + f) || board[from + 9 * r + f] != 0)
            continue;
        for (int turn = -1; turn <= 1; turn += 2) {
            int to_rank = rank + 2 * r + turn * (r == 0), to_file = file + 2 * f + turn * (f == 0);
            if (on_board(to_rank, to_file))
                count = add_step(board, side_of(board[from]), from, 9 * to_rank + to_file, steps,
                                 count);
        }
    }
    return count;
}

/* Steps of kings, advisors, elephants and pawns; `areas` keep them where they belong. */
static size_t walk(const tb_set *set, const uint8_t *board, int from, step *steps, size_t count)
{
    int side = side_of(board[from]), kind = kind_of(board[from]);
    int rank = from / 9, file = from % 9;
    int forward = side == TB_RED ? 1 : -1;
    int crossed = side == TB_RED ? rank >= 5 : rank <= 4;
    int diagonal = kind == ADVISOR || kind == ELEPHANT, length = kind == ELEPHANT ? 2 : 1;
    for (int d = 0; d < 4; d++) {
        int r = diagonal ? DIAGONAL[d][0] : DIRECTION[d][0];
        int f = diagonal ? DIAGONAL[d][1] : DIRECTION[d][1];
        int to = from + length * (9 * r + f);
        if (!on_board(rank + length * r, file + length * f) ||
            set->areas[side][kind].place[to] == NO_PLACE)
            continue;
        if (kind == ELEPHANT && board[from + 9 * r + f] != 0)
            continue;
        if (kind == PAWN && r != forward && (r != 0 || !crossed))
            continue;
        count = add_step(board, side, from, to, steps, count);
    }
    return count;
}

/* Pseudo-legal moves: the safety of the mover's king is not looked at. */
static size_t generate(const tb_set *set, const uint8_t *board, int side, step *steps)
{
    size_t count = 0;
    for (int from = 0; from < SQUARES; from++) {
        if (board[from] == 0 || side_of(board[from]) != side)
            continue;
        switch (kind_of(board[from])) {
        case ROOK:
            count = slide(board, from, 0, steps, count);
            break;
        case CANNON:
            count = slide(board, from, 1, steps, count);
            break;
        case KNIGHT:
            count = leap(board, from, steps, count);
            break;
        default:
            count = walk(set, board, from, steps, count);
        }
    }
    return count;
}

static int find_king(const uint8_t *board, int side)
{
    int square = 0;
    while (square < SQUARES - 1 && board[square] != 8 * side + TB_KING)
        square++;
    return square;
}

/* Whether a side's king could be taken, facing kings included. */
static int in_check(const tb_set *set, const uint8_t *board, int side)
{
    step steps[TB_MAX_MOVES];
    int square = find_king(board, TB_RED) + 9, king = find_king(board, side);
    while (square < SQUARES && board[square] == 0)
        square += 9;
    if (square < SQUARES && board[square] == TB_KING + TB_BLACK_PIECE)
        return 1;
    size_t count = generate(set, board, 1 - side, steps);
    for (size_t i = 0; i < count; i++)
        if (steps[i].to == king)
            return 1;
    return 0;
}

/* Make a move, and return what it takes. */
static uint8_t make_step(uint8_t *board, step s)
{
    uint8_t taken = board[s.to];
    board[s.to] = board[s.from];
    board[s.from] = 0;
    return taken;
}

static void unmake_step(uint8_t *board, step s, uint8_t taken)
{
    board[s.from] = board[s.to];
    board[s.to] = taken;
}

/* The legal moves of a side; the board is put back as it was. */
static size_t generate_legal(const tb_set *set, uint8_t *board, int side, step *steps)
{
    size_t count = generate(set, board, side, steps), legal = 0;
    for (size_t i = 0; i < count; i++) {
        uint8_t taken = make_step(board, steps[i]);
        int safe = !in_check(set, board, side);
        unmake_step(board, steps[i], taken);
        if (safe)
            steps[legal++] = steps[i];
    }
    return legal;
}

/* -- ranking moves ------------------------------------------------------------------------- */

static int compare(int64_t a, int64_t b) { return (a > b) - (a < b); }

/* Negative if a side prefers `a` to `b`; what is unknown lies between a draw and a loss. */
static int compare_values(const tb_value *a, int a_known, const tb_value *b, int b_known)
{
    int rank_a = a_known ? (a->wdl < 0 ? 3 : 1 - a->wdl) : 2;
    int rank_b = b_known ? (b->wdl < 0 ? 3 : 1 - b->wdl) : 2;
    if (rank_a != rank_b)
        return compare(rank_a, rank_b);
    int sign = rank_a == 3 ? -1 : 1;
    int by_order = compare(a->order, b->order);
    return sign * (by_order != 0 ? by_order : compare(a->plies, b->plies));
}

static int ends_game(const tb_move *m)
{
    return m->status == TB_OK && m->after.wdl < 0 && m->after.order == 0 && m->after.plies == 0;
}

/* The order of the moves' texts: file before rank. */
static int text_key(const tb_move *m)
{
    return ((m->from % 9 * 10 + m->from / 9) * 9 + m->to % 9) * 10 + m->to / 9;
}

static int compare_moves(const void *first, const void *second)
{
    const tb_move *a = first, *b = second;
    int known_a = a->status == TB_OK, known_b = b->status == TB_OK;
    int by_worth = compare_values(&a->worth, known_a, &b->worth, known_b);
    if (by_worth != 0)
        return by_worth;
    if (ends_game(a) != ends_game(b))
        return ends_game(b) - ends_game(a);
    if (a->capture != b->capture)
        return b->capture - a->capture;
    tb_value after_a = a->after, after_b = b->after;
    after_a.wdl = -after_a.wdl;
    after_b.wdl = -after_b.wdl;
    int by_after = compare_values(&after_a, known_a, &after_b, known_b);
    return by_after != 0 ? by_after : compare(text_key(a), text_key(b));
}

static tb_value worth_of(const tb_value *after, int converts, tb_metric metric)
{
    if (after->wdl == 0)
        return make_value(0, 0, 0, metric);
    if (converts)
        return make_value(-after->wdl, 0, after->wdl < 0 ? 1 : 2, metric);
    return make_value(-after->wdl, after->order, after->plies + 1, metric);
}

/* Mark the moves that are as good as the first one of those that keep the root's outcome; where
 * none is known to, of those that are unknown; else of all. Moves are sorted. */
static void mark_best(const tb_value *root, tb_move *moves, size_t count)
{
    size_t best = count;
    for (size_t i = 0; i < count && best == count; i++)
        if (moves[i].status == TB_OK && moves[i].worth.wdl == root->wdl)
            best = i;
    for (size_t i = 0; i < count && best == count; i++)
        if (moves[i].status != TB_OK)
            best = i;
    if (best == count)
        best = 0;
    int known = count > 0 && moves[best].status == TB_OK;
    for (size_t i = best; i < count; i++)
        moves[i].best = (moves[i].status == TB_OK) == known &&
                        compare_values(&moves[best].worth, known, &moves[i].worth, known) == 0;
}

/* The value of the position on a board. Where its table is missing, a side without a legal move
 * has lost nevertheless. */
static int probe_board(tb_reader *reader, uint8_t *board, int side, tb_value *value)
{
    uint8_t pieces[TB_MAX_PIECES], squares[TB_MAX_PIECES];
    step steps[TB_MAX_MOVES];
    size_t count = 0;
    for (int square = 0; square < SQUARES; square++)
        if (board[square] != 0) {
            pieces[count] = board[square];
            squares[count++] = (uint8_t)square;
        }
    int status = tb_probe(reader, pieces, squares, count, side, value);
    if (status == TB_ERR_MISSING && generate_legal(reader->set, board, side, steps) == 0) {
        *value = make_value(-1, 0, 0, TB_NO_METRIC);
        return TB_OK;
    }
    return status;
}

/* What a move leads to; an error other than a missing table. */
static int probe_step(tb_reader *reader, uint8_t *board, int side, step s, tb_metric root_metric,
                      tb_move *m)
{
    uint8_t taken = make_step(board, s);
    memset(m, 0, sizeof *m);
    m->from = s.from;
    m->to = s.to;
    m->capture = taken != 0;
    m->check = in_check(reader->set, board, 1 - side);
    m->status = probe_board(reader, board, 1 - side, &m->after);
    unmake_step(board, s, taken);
    if (m->status == TB_OK)
        m->worth = worth_of(&m->after, m->capture && root_metric == TB_DTC, root_metric);
    else
        m->after = m->worth = make_value(0, 0, 0, TB_NO_METRIC);
    return m->status == TB_ERR_MISSING ? TB_OK : m->status;
}

int tb_probe_root(tb_reader *reader, const uint8_t *pieces, const uint8_t *squares, size_t count,
                  int side, tb_value *value, tb_move moves[TB_MAX_MOVES], size_t *move_count)
{
    uint8_t board[SQUARES] = {0};
    step steps[TB_MAX_MOVES];
    tb_value root;
    if (moves == NULL || move_count == NULL)
        return TB_ERR_ARGUMENT;
    *move_count = 0;
    /* Says whether the arguments are a placement at all, before a board is made of them. */
    int status = tb_probe(reader, pieces, squares, count, side, &root);
    if (status != TB_OK && status != TB_ERR_MISSING)
        return status;
    for (size_t i = 0; i < count; i++)
        board[squares[i]] = pieces[i];
    if (in_check(reader->set, board, 1 - side))
        return TB_ERR_ILLEGAL;
    status = probe_board(reader, board, side, &root);
    if (status != TB_OK)
        return status;
    size_t legal = generate_legal(reader->set, board, side, steps);
    for (size_t i = 0; i < legal; i++) {
        status = probe_step(reader, board, side, steps[i], root.metric, &moves[i]);
        if (status != TB_OK)
            return status;
    }
    qsort(moves, legal, sizeof *moves, compare_moves);
    mark_best(&root, moves, legal);
    *move_count = legal;
    if (value != NULL)
        *value = root;
    return TB_OK;
}
