/* Which inputs of a compaction have to be rewritten.
 *
 * Sorted by key, the inputs fall into sections that do not overlap. A section of one large file without deletions needs
 * no merge: it only changes its level (a line in the manifest), or stays as it is where it has that level already.
 * Small ones are rewritten with their neighbours, so that they do not stay small. */
#include "lake/paimon/compact_int.h"
#include "lake/paimon/row_int.h"

#include <stdlib.h>

struct span {
    const struct paimon_compaction *compaction;
    const struct entry *entry;
    struct datum *min;
    struct datum *max;
};

static int span_order(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    int order = paimon_key_compare(x->compaction->schema, x->min, y->min);
    return order ? order : paimon_key_compare(x->compaction->schema, x->max, y->max);
}

static enum err_code read_key(struct paimon_compaction *c, struct slice stored, struct datum **values, struct err *err)
{
    *values = ARENA_NEW_ARRAY(&c->arena, struct datum, c->layout.key_count);
    return paimon_row_decode(c->layout.key_row, stored, &c->arena, *values, err);
}

static enum err_code make_spans(struct paimon_compaction *c, struct span *spans, struct err *err)
{
    for (size_t i = 0; i < c->input_count; i++) {
        spans[i] = (struct span){.compaction = c, .entry = c->inputs[i]};
        TRY(read_key(c, c->inputs[i]->min_key, &spans[i].min, err));
        TRY(read_key(c, c->inputs[i]->max_key, &spans[i].max, err));
    }
    qsort(spans, c->input_count, sizeof *spans, span_order);
    return OK;
}

static int entry_age(const void *a, const void *b)
{
    const struct entry *x = *(const struct entry *const *)a, *y = *(const struct entry *const *)b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    return x->sequence_min != y->sequence_min ? (x->sequence_min < y->sequence_min ? -1 : 1)
                                              : slice_compare(x->name, y->name);
}

/* Files from..to are written anew, together. */
static void add_group(struct paimon_compaction *c, const struct span *spans, size_t from, size_t to)
{
    struct group group = {ARENA_NEW_ARRAY(&c->arena, const struct entry *, to - from), to - from};
    if (from == to)
        return;
    for (size_t i = from; i < to; i++)
        group.files[i - from] = spans[i].entry;
    qsort(group.files, group.count, sizeof *group.files, entry_age);
    vec_push(&c->groups, group);
}

static bool may_stay(const struct paimon_compaction *c, const struct entry *e)
{
    bool no_deletes = e->delete_count.there && e->delete_count.value == 0;
    return (uint64_t)e->size >= c->file_options.file_bytes / 2 && (no_deletes || !c->drop_deletes);
}

/* Where a group would be one file of the output level that nothing has to be done to. */
static bool is_done(const struct paimon_compaction *c, const struct span *spans, size_t from, size_t to)
{
    const struct entry *e = spans[from].entry;
    return to - from == 1 && (e->level == c->output_level || c->input_count == 1) && e->delete_count.there &&
           (e->delete_count.value == 0 || !c->drop_deletes);
}

static void stay(struct paimon_compaction *c, const struct entry *e)
{
    if (e->level == c->output_level)
        vec_push(&c->kept, e);
    else
        vec_push(&c->upgraded, e);
}

static void end_group(struct paimon_compaction *c, const struct span *spans, size_t from, size_t to)
{
    if (from < to && is_done(c, spans, from, to))
        stay(c, spans[from].entry);
    else
        add_group(c, spans, from, to);
}

enum err_code paimon_plan_groups(struct paimon_compaction *c, struct err *err)
{
    struct span *spans = ARENA_NEW_ARRAY(&c->arena, struct span, c->input_count);
    size_t from = 0; /* of the group that grows */
    TRY(make_spans(c, spans, err));
    for (size_t i = 0, to; i < c->input_count; i = to) {
        const struct datum *max = spans[i].max;
        for (to = i + 1; to < c->input_count && paimon_key_compare(c->schema, spans[to].min, max) <= 0; to++)
            if (paimon_key_compare(c->schema, spans[to].max, max) > 0)
                max = spans[to].max;
        if (to - i > 1 || !may_stay(c, spans[i].entry))
            continue;
        end_group(c, spans, from, i);
        stay(c, spans[i].entry);
        from = to;
    }
    end_group(c, spans, from, c->input_count);
    return OK;
}
