/* Compaction: chosen, written aside, committed as a snapshot of its own.
 *
 * Primary key: sorted runs are merged, of each key the newest row stays with its sequence number; where nothing older
 * is left below, rows that only say that a key is gone are dropped. Append: small files that follow each other are
 * joined in their order. */
#include "lake/paimon/compact_int.h"

#define SMALL_FILES 16

/* ---- choosing ---- */

struct bucket_files {
    struct entry **files; /* in the order of paimon_live_sorted() */
    size_t count;
};

static void reverse(struct entry **files, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        struct entry *e = files[i];
        files[i] = files[count - 1 - i];
        files[count - 1 - i] = e;
    }
}

/* Newest first: level 0 by falling sequence numbers, then the levels. Sizes of the runs, and where each ends. */
static size_t make_runs(struct bucket_files *b, struct run_size *runs, size_t *ends)
{
    size_t zeros = 0, count = 0;
    while (zeros < b->count && b->files[zeros]->level == 0)
        zeros++;
    reverse(b->files, zeros);
    for (size_t i = 0; i < b->count; i++) {
        const struct entry *e = b->files[i];
        if (i == 0 || e->level == 0 || e->level != b->files[i - 1]->level)
            runs[count++] = (struct run_size){.level = e->level};
        runs[count - 1].bytes += (uint64_t)e->size;
        ends[count - 1] = i + 1;
    }
    return count;
}

static bool has_deletes(const struct bucket_files *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (!b->files[i]->delete_count.there || b->files[i]->delete_count.value)
            return true;
    return false;
}

static struct choice choose_keyed(const struct paimon_compaction *c, struct bucket_files *b)
{
    struct run_size *runs = mem_alloc(b->count * sizeof *runs);
    size_t *ends = mem_alloc(b->count * sizeof *ends);
    size_t count = make_runs(b, runs, ends);
    int32_t top = MAX(c->file_options.top_level, runs[count - 1].level);
    uint32_t run_count_max =
        c->options.policy.run_count_max ? c->options.policy.run_count_max : c->file_options.run_count_max;
    bool at_rest = count == 1 && runs[0].level == top && !has_deletes(b);
    size_t taken = c->options.policy.full ? (at_rest ? 0 : count) : paimon_universal_pick(runs, count, run_count_max);
    struct choice choice = {.need = (uint32_t)count};
    if (taken) {
        choice.count = ends[taken - 1];
        choice.drop_deletes = taken == count;
        choice.output_level = taken == count ? top : runs[taken].level - 1;
    }
    mem_free(runs);
    mem_free(ends);
    return choice;
}

/* The last files, put first. */
static struct choice choose_appended(const struct paimon_compaction *c, struct bucket_files *b)
{
    uint64_t *sizes = mem_alloc(b->count * sizeof *sizes);
    for (size_t i = 0; i < b->count; i++)
        sizes[i] = (uint64_t)b->files[i]->size;
    uint32_t small_count = c->options.policy.small_count ? c->options.policy.small_count : SMALL_FILES;
    size_t taken = paimon_tail_pick(sizes, b->count, c->file_options.file_bytes, small_count, c->options.policy.full);
    mem_free(sizes);
    b->files += b->count - taken;
    b->count = taken;
    return (struct choice){.count = taken, .need = (uint32_t)taken};
}

static void take_inputs(struct paimon_compaction *c, const struct bucket_files *b, const struct choice *choice)
{
    c->inputs = ARENA_NEW_ARRAY(&c->arena, const struct entry *, choice->count);
    c->input_count = choice->count;
    c->output_level = choice->output_level;
    c->drop_deletes = choice->drop_deletes;
    for (size_t i = 0; i < choice->count; i++) {
        struct entry *copy = ARENA_NEW(&c->arena, struct entry);
        paimon_entry_dup(&c->arena, b->files[i], copy);
        c->inputs[i] = copy;
    }
}

/* What one bucket has to win from a compaction. */
struct candidate {
    struct bucket_files files;
    struct choice choice;
};

typedef VEC(struct candidate) candidates;

/* Those that need it most first; of the same need in the order of the files. */
static int by_need(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    int order = (x->choice.need < y->choice.need) - (x->choice.need > y->choice.need);
    return order ? order : (x->files.files > y->files.files) - (x->files.files < y->files.files);
}

static void find_candidates(const struct paimon_compaction *c, struct entry **files, size_t count, candidates *found)
{
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && files[to]->bucket == files[from]->bucket &&
                            slice_equal(files[to]->partition, files[from]->partition);)
            to++;
        struct candidate candidate = {.files = {files + from, to - from}};
        candidate.choice =
            c->layout.key_count ? choose_keyed(c, &candidate.files) : choose_appended(c, &candidate.files);
        if (candidate.choice.count)
            vec_push(found, candidate);
    }
    if (found->len)
        qsort(found->ptr, found->len, sizeof *found->ptr, by_need);
}

static enum err_code compaction_create(struct paimon_table *table, const struct paimon_compaction_options *options,
                                       int64_t base_id, struct paimon_compaction **out, struct err *err)
{
    struct paimon_compaction *c = *out = mem_zalloc(sizeof *c);
    c->table = table;
    c->options = *options;
    c->schema = table->newest;
    c->base_id = base_id;
    os_uuid(table->os, c->names.uuid);
    TRY(paimon_file_options_read(c->schema, &c->file_options, err));
    return paimon_layout_make(&c->arena, c->schema, NULL, &c->layout, err);
}

/* *c: NULL where nothing is to be done after all. */
static enum err_code take(struct paimon_compaction **c, const struct candidate *candidate, struct err *err)
{
    take_inputs(*c, &candidate->files, &candidate->choice);
    if ((*c)->layout.key_count)
        TRY(paimon_plan_groups(*c, err));
    else
        vec_push(&(*c)->groups, ((struct group){(*c)->inputs, (*c)->input_count}));
    if ((*c)->groups.len || (*c)->upgraded.len)
        return OK;
    paimon_compaction_destroy(*c);
    *c = NULL;
    return OK;
}

static enum err_code take_all(const struct paimon_compaction *rules, int64_t base_id, const candidates *found,
                              size_t count_max, uint64_t bytes_max, paimon_compactions *list, struct err *err)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < found->len && list->len < count_max && bytes < bytes_max; i++) {
        struct paimon_compaction *one = NULL;
        enum err_code code = compaction_create(rules->table, &rules->options, base_id, &one, err);
        if (code == OK)
            code = take(&one, &found->ptr[i], err);
        if (one)
            vec_push(list, one);
        TRY(code);
        if (one)
            bytes += paimon_compaction_input_bytes(one);
    }
    return OK;
}

enum err_code paimon_compactions_pick(struct paimon_table *table, const struct paimon_compaction_options *options,
                                      size_t count_max, uint64_t bytes_max, paimon_compactions *list, struct err *err)
{
    enum err_code code;
    struct paimon_snapshot snapshot;
    struct live *live;
    struct paimon_compaction *rules = NULL; /* by which buckets are judged; has none itself */
    struct entry **files = NULL;
    candidates found = {0};
    size_t count;
    TRY(paimon_table_refresh(table, err));
    TRY_OR_FAIL(compaction_create(table, options, 0, &rules, err));
    TRY_OR_FAIL(paimon_snapshot_newest(table, &rules->arena, &snapshot, err));
    TRY_OR_FAIL(paimon_table_live(table, &snapshot, &live, err));
    files = paimon_live_sorted(live, &count);
    find_candidates(rules, files, count, &found);
    code = take_all(rules, snapshot.id, &found, count_max, bytes_max, list, err);
fail:
    vec_deinit(&found);
    mem_free(files);
    paimon_compaction_destroy(rules);
    return code;
}

enum err_code paimon_compaction_pick(struct paimon_table *table, const struct paimon_compaction_options *options,
                                     struct paimon_compaction **out, struct err *err)
{
    paimon_compactions list = {0};
    enum err_code code = paimon_compactions_pick(table, options, 1, UINT64_MAX, &list, err);
    if (code == OK)
        *out = list.len ? list.ptr[0] : NULL;
    else if (list.len)
        paimon_compaction_destroy(list.ptr[0]);
    vec_deinit(&list);
    return code;
}

uint64_t paimon_compaction_input_bytes(const struct paimon_compaction *c)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < c->groups.len; i++)
        for (size_t k = 0; k < c->groups.ptr[i].count; k++)
            bytes += (uint64_t)c->groups.ptr[i].files[k]->size;
    return bytes;
}

/* ---- writing ---- */

static enum err_code write_block(struct paimon_compaction *c, const struct column *columns, uint32_t row_count,
                                 struct err *err)
{
    if (c->options.cancel && __atomic_load_n(c->options.cancel, __ATOMIC_ACQUIRE))
        return err_set(err, ERR_SHUTTING_DOWN, "the compaction was ended before its time");
    return paimon_data_files_write(&c->output, columns, row_count, err);
}

static enum err_code merge_group(struct paimon_compaction *c, const struct group *group, struct err *err)
{
    const struct layout *l = &c->layout;
    struct merge *merge = NULL;
    struct merged rows;
    struct column *views = mem_alloc(l->column_count * sizeof *views);
    struct merge_options options = {.table = c->table,
                                    .schema = c->schema,
                                    .columns = l->columns + l->value_first,
                                    .column_count = l->column_count - l->value_first,
                                    .files = group->files,
                                    .file_count = group->count,
                                    .drop_deletes = c->drop_deletes};
    enum err_code code = paimon_merge_open(&options, &merge, err);
    while (code == OK) {
        code = paimon_merge_next(merge, BLOCK_ROWS, &rows, err);
        if (code != OK || rows.row_count == 0)
            break;
        memcpy(views + l->value_first, rows.columns, options.column_count * sizeof *views);
        paimon_layout_fill(l, views, rows.sequences, rows.kinds, rows.row_count);
        code = write_block(c, views, rows.row_count, err);
    }
    paimon_merge_close(merge);
    mem_free(views);
    return code;
}

static enum err_code join_file(struct paimon_compaction *c, const struct entry *entry, struct err *err)
{
    struct data_reader reader;
    uint32_t row_count = 1;
    TRY(paimon_data_reader_open(c->table, c->schema, entry, c->layout.columns, c->layout.column_count, &reader, err));
    enum err_code code = OK;
    while (code == OK && row_count) {
        code = paimon_data_reader_next(&reader, BLOCK_ROWS, &row_count, err);
        if (code == OK)
            code = write_block(c, reader.columns, row_count, err);
    }
    paimon_data_reader_close(&reader);
    return code;
}

static enum err_code write_group(struct paimon_compaction *c, const struct group *group, struct err *err)
{
    if (c->layout.key_count) {
        TRY(merge_group(c, group, err));
        return paimon_data_files_end(&c->output, err); /* what stays between two groups must not be spanned */
    }
    c->output.next_sequence = group->files[0]->sequence_min;
    for (size_t i = 0; i < group->count; i++)
        TRY(join_file(c, group->files[i], err));
    TRY(paimon_data_files_end(&c->output, err));
    if (c->output.done.len) { /* where there were gaps: up to the last number, as before */
        struct entry *last = c->output.done.ptr[c->output.done.len - 1];
        last->sequence_max = MAX(last->sequence_max, group->files[group->count - 1]->sequence_max);
    }
    return OK;
}

enum err_code paimon_compaction_run(struct paimon_compaction *c, struct err *err)
{
    ASSERT(!c->is_begun);
    c->is_begun = true;
    TRY(paimon_intent_put(c->table, c->options.rounds_dir, c->names.uuid, err));
    c->output = (struct data_files){.table = c->table,
                                    .layout = &c->layout,
                                    .options = &c->file_options,
                                    .names = &c->names,
                                    .prefix = "data-",
                                    .partition = c->inputs[0]->partition,
                                    .bucket = c->inputs[0]->bucket,
                                    .level = c->output_level,
                                    .source = SOURCE_COMPACT,
                                    .arena = &c->arena};
    for (size_t i = 0; i < c->groups.len; i++)
        TRY(write_group(c, &c->groups.ptr[i], err));
    return c->output.done.len ? paimon_data_files_sync_names(&c->output, err) : OK;
}

/* ---- the commit ---- */

static void add_entry(struct commit *commit, const struct entry *entry, int kind)
{
    commit->entries[commit->entry_count] = entry;
    commit->kinds[commit->entry_count++] = kind;
}

static void gather(struct paimon_compaction *c, struct commit *commit)
{
    for (size_t i = 0; i < c->groups.len; i++)
        for (size_t k = 0; k < c->groups.ptr[i].count; k++)
            add_entry(commit, c->groups.ptr[i].files[k], ENTRY_DELETE);
    for (size_t i = 0; i < c->upgraded.len; i++)
        add_entry(commit, c->upgraded.ptr[i], ENTRY_DELETE);
    for (size_t i = 0; i < c->upgraded.len; i++) {
        struct entry *moved = ARENA_NEW(&c->arena, struct entry);
        *moved = *c->upgraded.ptr[i];
        moved->level = c->output_level;
        add_entry(commit, moved, ENTRY_ADD);
    }
    for (size_t i = 0; i < c->output.done.len; i++)
        add_entry(commit, c->output.done.ptr[i], ENTRY_ADD);
    for (size_t i = 0; i < c->kept.len; i++)
        commit->kept[commit->kept_count++] = c->kept.ptr[i];
}

static void make_room(struct paimon_compaction *const *list, size_t count, struct commit *commit)
{
    size_t most = 0, kept = 0;
    for (size_t i = 0; i < count; i++) {
        most += list[i]->input_count + list[i]->upgraded.len + list[i]->output.done.len;
        kept += list[i]->kept.len;
    }
    commit->entries = ARENA_NEW_ARRAY(&list[0]->arena, const struct entry *, most);
    commit->kinds = ARENA_NEW_ARRAY(&list[0]->arena, int, most);
    commit->kept = ARENA_NEW_ARRAY(&list[0]->arena, const struct entry *, kept);
}

enum err_code paimon_compactions_commit(struct paimon_compaction *const *list, size_t count,
                                        struct paimon_committed *committed, struct err *err)
{
    ASSERT(count);
    struct commit commit = {.table = list[0]->table,
                            .names = &list[0]->names,
                            .kind = PAIMON_COMPACT,
                            .user = PAIMON_TIERING_USER,
                            .inherit = true,
                            .base_id = list[0]->base_id};
    make_room(list, count, &commit);
    for (size_t i = 0; i < count; i++) {
        ASSERT(list[i]->is_begun && !list[i]->is_over && list[i]->table == commit.table);
        list[i]->is_over = true;
        gather(list[i], &commit);
    }
    enum err_code code = paimon_commit_run(&commit, committed, err);
    for (size_t i = 0; i < count; i++) {
        list[i]->is_published = commit.published;
        if (code == OK)
            paimon_intent_remove(list[i]->table, list[i]->options.rounds_dir, list[i]->names.uuid);
        list[i]->is_recorded_no_more |= code == OK;
    }
    return code;
}

enum err_code paimon_compaction_commit(struct paimon_compaction *c, struct paimon_committed *committed, struct err *err)
{
    return paimon_compactions_commit(&c, 1, committed, err);
}

void paimon_compaction_destroy(struct paimon_compaction *c)
{
    if (!c)
        return;
    if (c->is_begun) {
        paimon_data_files_deinit(&c->output, !c->is_published);
        if (!c->is_published && !c->is_recorded_no_more)
            paimon_intent_remove(c->table, c->options.rounds_dir, c->names.uuid);
    }
    vec_deinit(&c->groups);
    vec_deinit(&c->upgraded);
    vec_deinit(&c->kept);
    arena_deinit(&c->arena);
    mem_free(c);
}
