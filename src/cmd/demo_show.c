/* What weir demo shows of its two tables. */
#include "cmd/demo_int.h"

#include <stdio.h>

#define LAKE_DEADLINE_NS 30000000000
#define LOOK_NS 300000000 /* for Ctrl-C, while it waits */

const char *demo_number(struct demo_numbers *numbers, int64_t value)
{
    char *out = numbers->text[numbers->next++ % DEMO_NUMBERS];
    char digits[24];
    size_t count = (size_t)snprintf(digits, sizeof digits, "%lld", (long long)value), at = 0;
    for (size_t i = 0; i < count; i++) {
        if (i && digits[i - 1] != '-' && (count - i) % 3 == 0)
            out[at++] = ' ';
        out[at++] = digits[i];
    }
    out[at] = 0;
    return out;
}

/* ---- reads ---- */

static enum err_code count_row(void *arg, const struct union_row *row, bool *enough, struct err *err)
{
    (void)row;
    (void)enough;
    (void)err;
    ++*(int64_t *)arg;
    return OK;
}

struct reads {
    int64_t hot, lake, both;
    int64_t snapshot_id;
};

static enum err_code read_lake(struct client_table *table, const struct union_plan *plan, struct reads *reads,
                               struct err *err)
{
    struct union_lake *lake = NULL;
    struct union_lake_options options = {.snapshot_id = plan->snapshot_id};
    enum err_code code = OK;
    if (plan->snapshot_id)
        code = union_lake_open(table, &lake, err);
    if (code == OK && lake)
        code = union_lake_read(lake, &options, count_row, &reads->lake, err);
    if (code == OK)
        code = union_read(table, lake, plan, 0, count_row, &reads->both, err);
    union_lake_close(lake);
    return code;
}

static enum err_code read_all(struct client_table *table, struct reads *reads, struct err *err)
{
    struct arena arena = {0};
    struct union_plan plan;
    *reads = (struct reads){0};
    enum err_code code = client_row_count(table, &reads->hot, err);
    if (code == OK)
        code = union_plan(table, &arena, &plan, err);
    if (code == OK) {
        reads->snapshot_id = plan.snapshot_id;
        code = read_lake(table, &plan, reads, err);
    }
    arena_deinit(&arena);
    return code;
}

enum err_code demo_show_reads(const struct demo_load *load, struct err *err)
{
    struct demo_numbers numbers = {0};
    printf("  %-10s %10s %10s %14s\n", "", "hot", "lake", "hot and lake");
    for (int i = 0; i < DEMO_TABLES; i++) {
        struct client_table *table = load->tables[i];
        struct reads reads;
        TRY(read_all(table, &reads, err));
        printf("  %-10.*s %10s %10s %14s   %s", SLICE_ARGS(table->path.table), demo_number(&numbers, reads.hot),
               demo_number(&numbers, reads.lake), demo_number(&numbers, reads.both),
               reads.snapshot_id ? "lake snapshot " : "no lake snapshot yet");
        puts(reads.snapshot_id ? demo_number(&numbers, reads.snapshot_id) : "");
    }
    return OK;
}

/* ---- waiting, verifying ---- */

static enum err_code wait_for(struct client_table *table, bool (*stopped)(void *arg), void *arg, struct err *err)
{
    struct os *os = client_os(table->client);
    int64_t *wanted = mem_alloc(client_place_count(table) * sizeof *wanted);
    int64_t deadline_ns = os_mono_ns(os) + LAKE_DEADLINE_NS;
    enum err_code code = client_offsets(table, CLIENT_LATEST, 0, wanted, err);
    bool goes_on = code == OK;
    while (goes_on) {
        code = union_wait(table, wanted, MIN(os_mono_ns(os) + LOOK_NS, deadline_ns), NULL, NULL, err);
        goes_on = code == ERR_DEADLINE && os_mono_ns(os) < deadline_ns && !stopped(arg);
    }
    mem_free(wanted);
    return code == ERR_DEADLINE && stopped(arg) ? OK : code;
}

enum err_code demo_show_wait(const struct demo_load *load, int64_t written_ns, bool (*stopped)(void *arg), void *arg,
                             struct err *err)
{
    for (int i = 0; i < DEMO_TABLES && !stopped(arg); i++)
        TRY(wait_for(load->tables[i], stopped, arg, err));
    if (stopped(arg))
        return OK;
    printf("\nthe lake holds all of it; since the last row it is %.1f s\n\n", cmd_seconds_since(load->os, written_ns));
    return OK;
}

static void show_verdict(const struct client_table *table, const struct union_verdict *v)
{
    struct demo_numbers numbers = {0};
    bool equal = v->kind == UNION_EQUAL;
    printf("  %-10.*s", SLICE_ARGS(table->path.table));
    if (v->kind == UNION_LAKE_UNREADABLE)
        printf(" %.*s\n", SLICE_ARGS(v->why));
    else
        printf(" stream %s rows %016llx   lake %s rows %016llx   %s\n", demo_number(&numbers, v->stream.row_count),
               (unsigned long long)(v->stream.digest >> 64), demo_number(&numbers, v->lake.row_count),
               (unsigned long long)(v->lake.digest >> 64), equal ? "equal" : "NOT EQUAL");
}

enum err_code demo_show_verify(const struct demo_load *load, bool *equal, struct err *err)
{
    *equal = true;
    for (int i = 0; i < DEMO_TABLES; i++) {
        struct arena arena = {0};
        struct union_verdict verdict;
        struct union_verify_options options = {.deadline_mono_ns = os_mono_ns(load->os) + LAKE_DEADLINE_NS};
        enum err_code code = union_verify(load->tables[i], &options, &arena, &verdict, err);
        if (code == OK) {
            show_verdict(load->tables[i], &verdict);
            *equal = *equal && verdict.kind == UNION_EQUAL;
        }
        arena_deinit(&arena);
        TRY(code);
    }
    return OK;
}
