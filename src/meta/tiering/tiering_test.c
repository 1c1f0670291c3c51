#include "lib/clock.h"
#include "lib/test.h"
#include "meta/tiering/tiering.h"

#define MS ((int64_t)1000000)
#define SECOND (1000 * MS)
#define WALL_MS 1700000000000

static struct tiering *tiering;
static struct arena arena;
static int wakes;

static void wake(void *arg)
{
    (*(int *)arg)++;
}

static int64_t now_ns(void)
{
    return os_mono_ns(test_clock_os());
}

static int set_up(void **state)
{
    (void)state;
    test_clock_set(1000 * SECOND, WALL_MS);
    wakes = 0;
    tiering = tiering_create(test_clock_os(), 0, wake, &wakes);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int64_t id = 0; id < 32; id++) /* a failed test leaves some */
        tiering_remove(tiering, id);
    tiering_destroy(tiering);
    arena_deinit(&arena);
    return 0;
}

static struct tiering_table *add(int64_t id, int32_t buckets, int64_t freshness_ms)
{
    return tiering_add(tiering, id, SLICE("fluss"), arena_printf(&arena, "t%lld", (long long)id), buckets,
                       freshness_ms);
}

/* Of tables without partitions. */
static void note_end(struct tiering_table *table, int32_t bucket, int64_t end_offset)
{
    struct tiering_part *part = tiering_part_find(table, -1);
    tiering_note_end(part, bucket, end_offset);
    tiering_part_unref(part);
}

static void note_lake(struct tiering_table *table, int32_t bucket, int64_t end_offset)
{
    tiering_note_lake(table, -1, bucket, end_offset);
}

static void leave(struct tiering_table *table, int64_t id)
{
    tiering_remove(tiering, id);
    tiering_table_unref(table);
}

static enum tiering_state state_of(int64_t id)
{
    struct tiering_status status;
    assert_true(tiering_status(tiering, id, &status));
    return status.state;
}

static struct tiering_answer beat(const struct tiering_heartbeat *heartbeat)
{
    struct err err = {0};
    struct tiering_answer answer;
    MUST(tiering_heartbeat(tiering, heartbeat, &arena, &answer, &err));
    return answer;
}

/* Asks for a table; gives its epoch and sees that it is this one (id -1: none). */
static int64_t take(int64_t id)
{
    struct tiering_answer answer = beat(&(struct tiering_heartbeat){.request_table = true});
    assert_int_equal(answer.has_table ? answer.table_id : -1, id);
    return answer.tiering_epoch;
}

enum what { RUNNING, FINISHED, FAILED, FORCED };

static enum err_code report(enum what what, int64_t id, int64_t epoch)
{
    struct tiering_report one = {.table_id = id, .tiering_epoch = epoch, .error_text = SLICE("disk is gone")};
    struct tiering_reports list = {&one, 1};
    struct tiering_heartbeat heartbeat = {0};
    if (what == RUNNING)
        heartbeat.running = list;
    else if (what == FAILED)
        heartbeat.failed = list;
    else
        heartbeat.finished = list;
    if (what == FORCED) {
        heartbeat.force_finished = &id;
        heartbeat.force_finished_count = 1;
    }
    struct tiering_answer answer = beat(&heartbeat);
    struct tiering_results results = what == RUNNING  ? answer.running
                                     : what == FAILED ? answer.failed
                                                      : answer.finished;
    assert_int_equal(results.count, 1);
    assert_int_equal(results.items[0].table_id, id);
    return results.items[0].code;
}

static void a_table_with_nothing_new_is_never_pending(void **state)
{
    (void)state;
    struct tiering_table *table = add(0, 2, 1000);
    test_clock_pass(3600 * SECOND);
    assert_int_equal(tiering_tick(tiering), INT64_MAX);
    take(-1);
    note_lake(table, 1, 5);
    note_end(table, 1, 5);
    assert_int_equal(state_of(0), TIERING_IDLE);
    assert_int_equal(wakes, 0);
    leave(table, 0);
}

static void the_first_change_after_a_quiet_spell_is_due_at_once(void **state)
{
    (void)state;
    struct tiering_table *table = add(0, 1, 10000);
    note_end(table, 0, 1);
    assert_int_equal(wakes, 1);
    assert_int_equal(tiering_pending_count(tiering), 1);
    int64_t epoch = take(0);
    assert_int_equal(epoch, 1);
    note_lake(table, 0, 1);
    assert_int_equal(report(FINISHED, 0, epoch), OK);
    assert_int_equal(state_of(0), TIERING_IDLE);
    test_clock_pass(10 * SECOND);
    wakes = 0;
    note_end(table, 0, 2);
    assert_int_equal(wakes, 1);
    assert_int_equal(take(0), 2);
    leave(table, 0);
}

static void under_steady_writes_a_round_starts_once_per_freshness(void **state)
{
    (void)state;
    struct tiering_table *table = add(0, 1, 1000);
    int64_t end = 0;
    int rounds = 0;
    int64_t started_ns = 0;
    for (int i = 0; i < 1000; i++) { /* 10 s in steps of 10 ms */
        note_end(table, 0, ++end);
        tiering_tick(tiering);
        if (tiering_pending_count(tiering)) {
            int64_t epoch = take(0);
            assert_true(rounds == 0 || now_ns() - started_ns == SECOND);
            started_ns = now_ns();
            rounds++;
            note_lake(table, 0, end);
            report(FINISHED, 0, epoch);
        }
        test_clock_pass(10 * MS);
    }
    assert_int_equal(rounds, 10);
    leave(table, 0);
}

static void what_came_during_a_round_is_due_a_freshness_after_its_start(void **state)
{
    (void)state;
    struct tiering_table *table = add(0, 1, 1000);
    note_end(table, 0, 10);
    int64_t epoch = take(0);
    test_clock_pass(300 * MS);
    note_end(table, 0, 20);
    note_lake(table, 0, 10);
    report(FINISHED, 0, epoch);
    assert_int_equal(state_of(0), TIERING_SCHEDULED);
    assert_int_equal(tiering_tick(tiering), now_ns() + 700 * MS);
    take(-1);
    test_clock_pass(700 * MS);
    assert_int_equal(tiering_tick(tiering), INT64_MAX);
    assert_int_equal(take(0), epoch + 1);
    leave(table, 0);
}

static void the_status_tells_how_far_the_lake_is(void **state)
{
    (void)state;
    struct tiering_status status;
    struct tiering_table *table = add(0, 1, 1000);
    assert_true(tiering_status(tiering, 0, &status));
    assert_int_equal(status.behind_since_ms, 0);
    assert_int_equal(status.lake_row_count, -1);
    assert_int_equal(status.due_in_ms, -1);
    note_end(table, 0, 10);
    test_clock_set(now_ns() + 200 * MS, WALL_MS + 200);
    struct tiering_report one = {.table_id = 0, .tiering_epoch = take(0), .has_row_count = true, .row_count = 10};
    assert_true(tiering_status(tiering, 0, &status));
    assert_int_equal(status.behind_since_ms, WALL_MS); /* since the change came */
    note_end(table, 0, 11);
    note_lake(table, 0, 10);
    test_clock_pass(300 * MS);
    beat(&(struct tiering_heartbeat){.finished = {&one, 1}});
    assert_true(tiering_status(tiering, 0, &status));
    assert_int_equal(status.behind_since_ms, WALL_MS + 200); /* since the round began */
    assert_int_equal(status.lake_row_count, 10);
    assert_int_equal(status.due_in_ms, 700);
    test_clock_pass(700 * MS);
    tiering_tick(tiering);
    one = (struct tiering_report){.table_id = 0, .tiering_epoch = take(0)};
    note_lake(table, 0, 11);
    beat(&(struct tiering_heartbeat){.finished = {&one, 1}});
    assert_true(tiering_status(tiering, 0, &status));
    assert_int_equal(status.behind_since_ms, 0);
    assert_int_equal(status.lake_row_count, 10);
    leave(table, 0);
    assert_false(tiering_status(tiering, 0, &status));
}

static void a_round_finished_by_force_is_due_at_once_if_more_is_there(void **state)
{
    (void)state;
    struct tiering_table *table = add(0, 1, 60000);
    note_end(table, 0, 10);
    int64_t epoch = take(0);
    note_lake(table, 0, 4);
    report(FORCED, 0, epoch);
    assert_int_equal(state_of(0), TIERING_PENDING);
    epoch = take(0);
    note_lake(table, 0, 10);
    report(FORCED, 0, epoch);
    assert_int_equal(state_of(0), TIERING_IDLE);
    leave(table, 0);
}

static void due_tables_go_out_in_their_order_one_a_heartbeat(void **state)
{
    (void)state;
    struct tiering_table *tables[5];
    static const int64_t order[] = {3, 1, 4, 0, 2};
    for (int i = 0; i < 5; i++)
        tables[i] = add(i, 1, 1000);
    for (int i = 0; i < 5; i++)
        note_end(tables[order[i]], 0, 1);
    for (int i = 0; i < 5; i++)
        take(order[i]);
    take(-1);
    for (int i = 0; i < 5; i++)
        leave(tables[i], i);
}

static void a_pending_table_that_another_commit_covered_is_passed_over(void **state)
{
    (void)state;
    struct tiering_table *a = add(0, 1, 1000), *b = add(1, 1, 1000);
    note_end(a, 0, 5);
    note_end(b, 0, 5);
    note_lake(a, 0, 5);
    take(1);
    assert_int_equal(state_of(0), TIERING_IDLE);
    note_end(a, 0, 6);
    assert_int_equal(take(0), 2);
    leave(a, 0);
    leave(b, 1);
}

static void a_silent_worker_loses_its_table_and_its_epoch(void **state)
{
    (void)state;
    struct tiering_table *table = add(0, 1, 1000);
    note_end(table, 0, 1);
    int64_t epoch = take(0);
    test_clock_pass(119 * SECOND);
    assert_int_equal(report(RUNNING, 0, epoch), OK); /* heard of: two minutes more */
    test_clock_pass(119 * SECOND);
    tiering_tick(tiering);
    assert_int_equal(state_of(0), TIERING_RUNNING);
    test_clock_pass(1 * SECOND);
    tiering_tick(tiering);
    assert_int_equal(state_of(0), TIERING_PENDING);
    assert_int_equal(report(RUNNING, 0, epoch), ERR_FENCED_TIERING_EPOCH_EXCEPTION);
    assert_int_equal(report(FINISHED, 0, epoch), ERR_FENCED_TIERING_EPOCH_EXCEPTION);
    struct tiering_status status;
    assert_true(tiering_status(tiering, 0, &status));
    assert_non_null(strstr(status.failed_text, "silent"));
    assert_int_equal(take(0), epoch + 1);
    leave(table, 0);
}

static void a_table_that_fails_again_and_again_waits_longer(void **state)
{
    (void)state;
    static const int64_t waits_ms[] = {0, 1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000};
    struct tiering_table *table = add(0, 1, 100);
    note_end(table, 0, 1);
    for (size_t i = 0; i < ARRAY_LEN(waits_ms); i++) {
        int64_t epoch = take(0);
        assert_int_equal(report(FAILED, 0, epoch), OK);
        if (waits_ms[i]) {
            take(-1);
            assert_int_equal(tiering_tick(tiering), now_ns() + waits_ms[i] * MS);
            test_clock_pass(waits_ms[i] * MS);
            tiering_tick(tiering);
        }
        assert_int_equal(state_of(0), TIERING_PENDING);
    }
    struct tiering_status status;
    assert_true(tiering_status(tiering, 0, &status));
    assert_string_equal(status.failed_text, "disk is gone");
    assert_int_equal(status.failures_in_row, ARRAY_LEN(waits_ms));
    assert_int_equal(status.failed_ms, WALL_MS);
    leave(table, 0);
}

static void a_finished_round_forgets_the_failures(void **state)
{
    (void)state;
    struct tiering_table *table = add(0, 1, 100);
    note_end(table, 0, 1);
    report(FAILED, 0, take(0));
    int64_t epoch = take(0);
    note_lake(table, 0, 1);
    report(FINISHED, 0, epoch);
    struct tiering_status status;
    assert_true(tiering_status(tiering, 0, &status));
    assert_int_equal(status.failures_in_row, 0);
    assert_string_equal(status.failed_text, "");
    assert_int_equal(status.round_finished_ms, WALL_MS);
    leave(table, 0);
}

static void repeated_reports_have_no_effect(void **state)
{
    (void)state;
    struct tiering_table *table = add(0, 1, 1000);
    note_end(table, 0, 2);
    int64_t epoch = take(0);
    note_lake(table, 0, 1);
    assert_int_equal(report(FINISHED, 0, epoch), OK);
    assert_int_equal(state_of(0), TIERING_SCHEDULED);
    assert_int_equal(report(FINISHED, 0, epoch), OK);
    assert_int_equal(report(FAILED, 0, epoch), OK);
    assert_int_equal(state_of(0), TIERING_SCHEDULED);
    assert_int_equal(report(RUNNING, 0, epoch), ERR_UNKNOWN_SERVER_ERROR);
    leave(table, 0);
}

static void reports_of_strangers_are_refused(void **state)
{
    (void)state;
    struct tiering_table *table = add(0, 1, 1000);
    note_end(table, 0, 1);
    take(0);
    assert_int_equal(report(FINISHED, 9, 1), ERR_TABLE_NOT_EXIST);
    assert_int_equal(report(FINISHED, 0, 2), ERR_FENCED_TIERING_EPOCH_EXCEPTION);
    struct tiering_report other = {.table_id = 0, .coordinator_epoch = 1, .tiering_epoch = 1};
    struct tiering_answer answer = beat(&(struct tiering_heartbeat){.running = {&other, 1}});
    assert_int_equal(answer.running.items[0].code, ERR_INVALID_COORDINATOR_EXCEPTION);
    assert_int_equal(state_of(0), TIERING_RUNNING);
    leave(table, 0);
}

static void a_worker_of_an_earlier_run_is_fenced(void **state)
{
    (void)state;
    struct tiering *later = tiering_create(test_clock_os(), (int64_t)1 << 32, wake, &wakes);
    struct tiering *first = tiering;
    tiering = later;
    struct tiering_table *table = add(0, 1, 1000);
    note_end(table, 0, 1);
    assert_true(take(0) == ((int64_t)1 << 32) + 1);
    assert_int_equal(report(FINISHED, 0, 1), ERR_FENCED_TIERING_EPOCH_EXCEPTION);
    leave(table, 0);
    tiering_destroy(later);
    tiering = first;
}

static void a_dropped_table_leaves_from_any_state(void **state)
{
    (void)state;
    for (enum tiering_state at = TIERING_IDLE; at < TIERING_STATE_COUNT; at++) {
        struct tiering_table *table = add(7, 1, 1000);
        int64_t epoch = 0;
        if (at != TIERING_IDLE)
            note_end(table, 0, 9);
        if (at == TIERING_SCHEDULED || at == TIERING_RUNNING)
            epoch = take(7);
        if (at == TIERING_SCHEDULED)
            report(FINISHED, 7, epoch);
        assert_int_equal(state_of(7), at);
        tiering_remove(tiering, 7);
        assert_int_equal(tiering_pending_count(tiering), 0);
        assert_int_equal(tiering_tick(tiering), INT64_MAX);
        take(-1);
        assert_int_equal(report(RUNNING, 7, 1), ERR_TABLE_NOT_EXIST);
        wakes = 0;
        note_end(table, 0, 100); /* a bucket that does not know yet */
        note_lake(table, 0, 100);
        assert_int_equal(wakes, 0);
        assert_null(tiering_find(tiering, 7));
        tiering_table_unref(table);
    }
}

static void a_shorter_freshness_moves_the_due_time(void **state)
{
    (void)state;
    struct tiering_table *table = add(0, 1, 60000);
    note_end(table, 0, 2);
    int64_t epoch = take(0);
    note_lake(table, 0, 1);
    report(FINISHED, 0, epoch);
    assert_int_equal(tiering_tick(tiering), now_ns() + 60 * SECOND);
    tiering_set_freshness(tiering, 0, 2000);
    assert_int_equal(tiering_tick(tiering), now_ns() + 2 * SECOND);
    test_clock_pass(SECOND);
    tiering_set_freshness(tiering, 0, 500);
    assert_int_equal(state_of(0), TIERING_PENDING);
    leave(table, 0);
}

static void a_finished_table_can_come_back_in_the_same_answer(void **state)
{
    (void)state;
    struct tiering_table *table = add(0, 1, 1000);
    note_end(table, 0, 2);
    struct tiering_report one = {.table_id = 0, .tiering_epoch = take(0)};
    int64_t id = 0;
    struct tiering_answer answer = beat(&(struct tiering_heartbeat){
        .finished = {&one, 1}, .force_finished = &id, .force_finished_count = 1, .request_table = true});
    assert_true(answer.has_table);
    assert_int_equal(answer.tiering_epoch, one.tiering_epoch + 1);
    assert_slice_equal(answer.database, SLICE("fluss"));
    assert_slice_equal(answer.name, SLICE("t0"));
    leave(table, 0);
}

static void too_many_reports_are_refused(void **state)
{
    (void)state;
    struct err err = {0};
    struct tiering_report *reports = calloc(TIERING_REPORTS_MAX + 1, sizeof *reports);
    struct tiering_answer answer;
    struct tiering_heartbeat heartbeat = {.failed = {reports, TIERING_REPORTS_MAX}};
    MUST(tiering_heartbeat(tiering, &heartbeat, &arena, &answer, &err));
    heartbeat.failed.count++;
    MUST_FAIL(ERR_LIMIT, tiering_heartbeat(tiering, &heartbeat, &arena, &answer, &err));
    free(reports);
}

/* Random calls on many tables: the invariants are asserted inside; here no table with news is ever forgotten. */
static void no_table_with_news_is_forgotten(void **state)
{
    (void)state;
    enum { TABLES = 20 };
    struct tiering_table *tables[TABLES];
    int64_t end[TABLES] = {0}, lake[TABLES] = {0}, epoch[TABLES] = {0};
    for (int i = 0; i < TABLES; i++)
        tables[i] = add(i, 1, 50 * i);
    srand(1);
    for (int step = 0; step < 20000; step++) {
        int i = rand() % TABLES;
        test_clock_pass((rand() % 20) * MS);
        switch (rand() % 6) {
        case 0:
            note_end(tables[i], 0, ++end[i]);
            break;
        case 1:
        case 2: {
            struct tiering_answer answer = beat(&(struct tiering_heartbeat){.request_table = true});
            if (answer.has_table)
                epoch[answer.table_id] = answer.tiering_epoch;
            break;
        }
        case 3:
            lake[i] = end[i];
            note_lake(tables[i], 0, lake[i]);
            report(rand() % 2 ? FINISHED : FORCED, i, epoch[i]);
            break;
        case 4:
            report(rand() % 2 ? FAILED : RUNNING, i, epoch[i]);
            break;
        case 5:
            tiering_tick(tiering);
        }
        arena_reset(&arena);
        for (int t = 0; t < TABLES; t++)
            assert_true(end[t] <= lake[t] || state_of(t) != TIERING_IDLE);
    }
    for (int i = 0; i < TABLES; i++)
        leave(tables[i], i);
}

static void partitions_have_news_of_their_own(void **state)
{
    (void)state;
    struct tiering_table *table = add(0, 2, 0);
    struct tiering_part *a = tiering_part_add(table, 7), *b = tiering_part_add(table, 9);
    assert_null(tiering_part_find(table, 8));
    tiering_note_lake(table, 8, 0, 5); /* dropped meanwhile */
    tiering_note_lake(table, 9, 2, 5); /* a bucket that is none */
    assert_int_equal(state_of(0), TIERING_IDLE);
    tiering_note_end(a, 1, 5);
    tiering_note_end(b, 1, 6);
    assert_int_equal(state_of(0), TIERING_PENDING);
    struct tiering_answer answer = beat(&(struct tiering_heartbeat){.request_table = true});
    tiering_note_lake(table, 7, 1, 5);
    report(FINISHED, 0, answer.tiering_epoch);
    assert_int_equal(state_of(0), TIERING_PENDING); /* the other one is behind */
    answer = beat(&(struct tiering_heartbeat){.request_table = true});
    tiering_part_remove(table, 9);
    tiering_part_remove(table, 9);
    report(FINISHED, 0, answer.tiering_epoch);
    assert_int_equal(state_of(0), TIERING_IDLE); /* what was dropped is not behind */
    tiering_note_end(b, 0, 1);                   /* a bucket that does not know yet */
    tiering_part_unref(a);
    tiering_part_unref(b);
    leave(table, 0);
}

/* Appends from several threads while rounds run: when all are done, what is not in the lake is in the schedule. */
struct appender {
    struct tiering_table *table;
    int32_t bucket;
};

static void append_many(void *arg)
{
    const struct appender *appender = arg;
    for (int64_t i = 1; i <= 20000; i++)
        note_end(appender->table, appender->bucket, i);
}

static void appends_of_many_threads_are_all_seen(void **state)
{
    (void)state;
    struct err err = {0};
    struct tiering_table *table = add(0, 3, 0);
    struct appender appenders[3];
    struct os_thread *threads[3];
    for (int32_t i = 0; i < 3; i++) {
        appenders[i] = (struct appender){table, i};
        MUST(os_thread_start(os_real(), "append", append_many, &appenders[i], &threads[i], &err));
    }
    int64_t lake = 0;
    while (lake < 20000) {
        struct tiering_answer answer = beat(&(struct tiering_heartbeat){.request_table = true});
        arena_reset(&arena);
        if (!answer.has_table)
            continue;
        lake = MIN(lake + 700, 20000);
        for (int32_t i = 0; i < 3; i++)
            note_lake(table, i, lake);
        report(FINISHED, 0, answer.tiering_epoch);
    }
    for (int i = 0; i < 3; i++)
        os_thread_join(threads[i]);
    assert_int_equal(state_of(0), TIERING_IDLE);
    leave(table, 0);
}

TESTS("meta.tiering", TEST_BED(a_table_with_nothing_new_is_never_pending),
      TEST_BED(the_first_change_after_a_quiet_spell_is_due_at_once),
      TEST_BED(under_steady_writes_a_round_starts_once_per_freshness),
      TEST_BED(what_came_during_a_round_is_due_a_freshness_after_its_start),
      TEST_BED(the_status_tells_how_far_the_lake_is),
      TEST_BED(a_round_finished_by_force_is_due_at_once_if_more_is_there),
      TEST_BED(due_tables_go_out_in_their_order_one_a_heartbeat),
      TEST_BED(a_pending_table_that_another_commit_covered_is_passed_over),
      TEST_BED(a_silent_worker_loses_its_table_and_its_epoch),
      TEST_BED(a_table_that_fails_again_and_again_waits_longer), TEST_BED(a_finished_round_forgets_the_failures),
      TEST_BED(repeated_reports_have_no_effect), TEST_BED(reports_of_strangers_are_refused),
      TEST_BED(a_worker_of_an_earlier_run_is_fenced), TEST_BED(a_dropped_table_leaves_from_any_state),
      TEST_BED(a_shorter_freshness_moves_the_due_time), TEST_BED(a_finished_table_can_come_back_in_the_same_answer),
      TEST_BED(too_many_reports_are_refused), TEST_BED(no_table_with_news_is_forgotten),
      TEST_BED(partitions_have_news_of_their_own), TEST_BED(appends_of_many_threads_are_all_seen))
