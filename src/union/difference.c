/* Finds the rows in which two sides differ, in bounded memory. The bags tell in which parts (by hash) they differ; of
 * those, as many as fit are looked at: how often each distinct row is there, on both sides. Then the sides are read
 * once more for the rows behind the hashes that don't agree. */
#include "union/union_int.h"

#include "base/map.h"

struct tally {
    int64_t counts[2];
    bool told;
};

struct find {
    const struct difference_task *task;
    bool chosen[BAG_PARTS];
    size_t chosen_count;
    struct map tallies; /* struct tally by hash */
    struct arena tally_arena;
    size_t tally_max;
    size_t row_max;
    size_t side; /* which source is being read */
    bool overflowed;
    struct buf scratch;
    struct arena *arena; /* the caller's */
    struct differences *out;
};

static bool parts_differ(const struct find *find, size_t part)
{
    const struct union_side *a = &find->task->bags[0]->parts[part], *b = &find->task->bags[1]->parts[part];
    return a->row_count != b->row_count || a->digest != b->digest;
}

static size_t count_differing(const struct find *find)
{
    size_t count = 0;
    for (size_t i = 0; i < BAG_PARTS; i++)
        count += parts_differ(find, i);
    return count;
}

static void choose(struct find *find, size_t part_max)
{
    find->chosen_count = 0;
    for (size_t i = 0; i < BAG_PARTS; i++) {
        find->chosen[i] = find->chosen_count < part_max && parts_differ(find, i);
        find->chosen_count += find->chosen[i];
    }
}

/* ---- first: how often is each row there ---- */

static void tallies_reset(struct find *find)
{
    map_deinit(&find->tallies);
    find->tallies = (struct map){0};
    arena_reset(&find->tally_arena);
    find->overflowed = false;
}

static enum err_code tally_row(void *arg, const struct union_row *row, bool *enough, struct err *err)
{
    (void)err;
    struct find *find = arg;
    unsigned __int128 hash = bag_hash(find->task->schema, row, &find->scratch);
    if (!find->chosen[bag_part(hash)])
        return OK;
    struct tally *tally = map_get(&find->tallies, slice_of(&hash, sizeof hash));
    if (!tally) {
        if (find->tallies.count >= find->tally_max && find->chosen_count > 1) {
            *enough = find->overflowed = true;
            return OK;
        }
        tally = ARENA_NEW(&find->tally_arena, struct tally);
        map_put(&find->tallies, slice_of(&hash, sizeof hash), tally);
    }
    tally->counts[find->side] += row->weight;
    return OK;
}

static enum err_code read_side(struct find *find, size_t side, union_row_fn *fn, struct err *err)
{
    const struct bag_source *source = &find->task->sources[side];
    find->side = side;
    return source->read(source->arg, fn, find, err);
}

/* Halves the choice until its rows fit; a single part is taken whatever its size. */
static enum err_code tally_all(struct find *find, struct err *err)
{
    size_t part_max = count_differing(find);
    for (;;) {
        choose(find, part_max);
        tallies_reset(find);
        for (size_t side = 0; side < 2 && !find->overflowed; side++)
            TRY(read_side(find, side, tally_row, err));
        if (!find->overflowed)
            return OK;
        part_max = MAX(find->chosen_count / 2, 1);
    }
}

static int64_t count_rows(const struct find *find)
{
    int64_t count = 0;
    size_t at = 0;
    struct slice key;
    void *value;
    while (map_next(&find->tallies, &at, &key, &value)) {
        const struct tally *tally = value;
        count += tally->counts[0] != tally->counts[1];
    }
    return count;
}

/* ---- then: which rows are those ---- */

static enum err_code tell_row(void *arg, const struct union_row *row, bool *enough, struct err *err)
{
    (void)err;
    struct find *find = arg;
    struct differences *out = find->out;
    unsigned __int128 hash = bag_hash(find->task->schema, row, &find->scratch);
    struct tally *tally = map_get(&find->tallies, slice_of(&hash, sizeof hash));
    if (!tally || tally->told || tally->counts[0] == tally->counts[1])
        return OK;
    tally->told = true;
    buf_reset(&find->scratch);
    row_to_json(find->task->schema, row->values, &find->scratch);
    out->items[out->count++] = (struct union_difference){row->bucket, tally->counts[0], tally->counts[1],
                                                         arena_dup(find->arena, buf_view(&find->scratch))};
    *enough = out->count == find->row_max || (int64_t)out->count == out->differing_rows;
    return OK;
}

static enum err_code find_rows(struct find *find, struct err *err)
{
    TRY(tally_all(find, err));
    struct differences *out = find->out;
    out->differing_rows = count_rows(find);
    out->all = find->chosen_count == count_differing(find);
    out->items = ARENA_NEW_ARRAY(find->arena, struct union_difference, find->row_max);
    for (size_t side = 0; side < 2; side++)
        if (out->count < find->row_max && (int64_t)out->count < out->differing_rows)
            TRY(read_side(find, side, tell_row, err));
    return OK;
}

enum err_code differences_find(const struct difference_task *task, struct arena *arena, struct differences *out,
                               struct err *err)
{
    struct find *find = mem_zalloc(sizeof *find);
    *out = (struct differences){0};
    find->task = task;
    find->tally_max = task->tally_max ? task->tally_max : DIFFERENCE_TALLIES;
    find->row_max = task->row_max ? task->row_max : UNION_DIFFERENCES;
    find->arena = arena;
    find->out = out;
    enum err_code code = find_rows(find, err);
    map_deinit(&find->tallies);
    arena_deinit(&find->tally_arena);
    buf_deinit(&find->scratch);
    mem_free(find);
    return code;
}
