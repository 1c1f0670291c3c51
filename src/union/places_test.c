/* Places of a table whose partitions come and go while it is asked about: arrays by place stay as long as they were
 * made. */
#include "lib/lake_bed.h"
#include "lib/test.h"

#define PARTITIONED                                                                             \
    "{\"version\":1,\"schema\":{\"version\":1,\"columns\":["                                    \
    "{\"name\":\"id\",\"data_type\":{\"type\":\"BIGINT\"},\"id\":0},"                           \
    "{\"name\":\"day\",\"data_type\":{\"type\":\"STRING\"},\"id\":1}],\"highest_field_id\":1}," \
    "\"partition_key\":[\"day\"],\"bucket_key\":[],\"bucket_count\":2,\"properties\":{},"       \
    "\"custom_properties\":{}}"

static struct lake_bed bed;
static struct err err;

static struct properties spec_of(const char *day)
{
    struct properties spec = {0};
    properties_set(&bed.arena, &spec, SLICE("day"), slice_str(day));
    return spec;
}

static void create(struct client_path path, const char *day)
{
    struct properties spec = spec_of(day);
    MUST(client_partition_create(bed.client, path, &spec, false, &err));
}

static void drop(struct client_path path, const char *day)
{
    struct properties spec = spec_of(day);
    MUST(client_partition_drop(bed.client, path, &spec, false, &err));
}

static struct client_table *open_table(struct client_path path)
{
    struct client_table *table;
    struct table_descriptor descriptor;
    MUST(table_descriptor_from_json(&bed.arena, SLICE(PARTITIONED), &descriptor, &err));
    MUST(client_table_create(bed.client, path, &descriptor, false, &err));
    create(path, "a");
    create(path, "b");
    MUST(client_table_open(bed.client, path, &table, &err));
    return table;
}

/* warm: the client has asked the buckets before, so that it hears of what went from their server. */
static void come_and_go(const char *name, bool warm)
{
    struct client_path path = client_path(SLICE("fluss"), slice_str(name));
    struct client_table *table = open_table(path);
    int64_t *offsets = mem_alloc(4 * sizeof *offsets); /* no byte more, for the sanitizer */
    bool *wanted = mem_alloc(4);
    memset(wanted, true, 4);
    assert_int_equal(client_place_count(table), 4);
    if (warm)
        MUST(client_offsets_of(table, CLIENT_LATEST, 0, wanted, offsets, &err));
    drop(path, "a");
    create(path, "c");
    create(path, "d");
    MUST(client_offsets_of(table, CLIENT_LATEST, 0, wanted, offsets, &err));
    assert_int_equal(client_place_count(table), 4);
    for (int32_t place = 0; place < 4; place++) {
        bool gone = slice_is(client_place_partition(table, place)->name, "a");
        assert_int_equal(client_place_is_gone(table, place), gone);
        assert_int_equal(offsets[place], gone ? -1 : 0);
    }
    MUST(client_partitions_refresh(table, &err));
    assert_int_equal(client_place_count(table), 8);
    mem_free(wanted);
    mem_free(offsets);
    client_table_unref(table);
}

static void a_partition_that_comes_while_another_goes_adds_no_place(void **state)
{
    (void)state;
    come_and_go("warm", true);
}

static void a_partition_that_went_before_its_leader_was_asked_for_is_left_out(void **state)
{
    (void)state;
    come_and_go("cold", false);
}

static int start(void **state)
{
    (void)state;
    lake_bed_start(&bed);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    lake_bed_stop(&bed);
    return 0;
}

#define ON_SERVER(fn)              \
    {                              \
#fn, fn, start, stop, NULL \
    }

TESTS("union.places", ON_SERVER(a_partition_that_comes_while_another_goes_adds_no_place),
      ON_SERVER(a_partition_that_went_before_its_leader_was_asked_for_is_left_out))
