/* The rules of CREATE TABLE: which table.* options there are, what the server fills in, and what it refuses. Pure: no
 * I/O, no clock, no state.
 *
 * The order is that of Apache Fluss (CoordinatorService): names, JSON (format/schema), table_defaults_apply(),
 * table_validate(), then existence, the lake table, and the row in the metadata. The descriptor after the defaults is
 * what is stored and what GET_TABLE_INFO answers.
 *
 * What Fluss has and weir does not serve yet is refused here with a text that names it, never taken and ignored. The
 * one list of options is table_options.def. */
#ifndef WEIR_META_TABLE_TABLE_H
#define WEIR_META_TABLE_TABLE_H

#include "format/batch/batch.h"
#include "format/row/row.h"
#include "zone/zone.h"

/* What the server's own options say about new tables. */
struct table_cluster {
    int32_t bucket_count_default;       /* default.bucket.number, at least 1 */
    int32_t bucket_count_max;           /* max.bucket.num, of one table */
    int32_t replication_factor_default; /* default.replication.factor */
    int32_t tablet_server_count;        /* replicas can't be more than these: 1 */
    bool log_tables_allowed;            /* allow.create.log.tables */
    bool kv_tables_allowed;             /* allow.create.kv.tables */
    enum lake_format lake_format;       /* datalake.format; LAKE_NONE: no lake */
    bool lake_enabled;                  /* datalake.enabled, by default: a format is set */
};

/* The cluster of a server that was given no options: 1 bucket, at most 4096, no lake. */
struct table_cluster table_cluster_default(void);

/* Fills in, in this order: bucket count, replication factor, no partitions ahead of time where partitions by time have
 * several keys, the cluster's lake format (whether the table's lake is
 * enabled or not: it decides key encoding and bucketing for ever), delete behaviour IGNORE of a primary-key table with
 * a merge engine, kv format version 2 of a primary-key table. What is set stays. The descriptor's lists grow in arena.
 */
void table_defaults_apply(struct arena *arena, const struct table_cluster *cluster, struct table_descriptor *table);

/* Checks a descriptor after the defaults and table_descriptor_normalize().
 * errors   INVALID_CONFIG_EXCEPTION (an option unknown, of a wrong form, or not served), INVALID_TABLE_EXCEPTION,
 *          BUCKET_MAX_NUM_EXCEPTION, INVALID_REPLICATION_FACTOR. */
MUST_CHECK enum err_code table_validate(const struct table_cluster *cluster, const struct table_descriptor *table,
                                        struct err *err);

/* ---- partitions ---- */

/* Of a partition's name: with "-p{id}" it names a directory. */
#define PARTITION_NAME_BYTES_MAX 230

/* The name of a partition to be made, in arena. spec: its values by key, in any order.
 * errors   TABLE_NOT_PARTITIONED_EXCEPTION; PARTITION_SPEC_INVALID_EXCEPTION: a key is missing, not the table's or
 *          there twice, or a value is no value of the key's type or can't be in a name. */
MUST_CHECK enum err_code table_partition_check_new(const struct table_descriptor *table, const struct properties *spec,
                                                   struct arena *arena, struct slice *name, struct err *err);
/* The name that such values have, whether there can be such a partition or not. errors: as above, but for values. */
MUST_CHECK enum err_code table_partition_name(const struct table_descriptor *table, const struct properties *spec,
                                              struct arena *arena, struct slice *name, struct err *err);
/* The reverse: each key with its value, in key order. errors: as partition_name_split. */
MUST_CHECK enum err_code table_partition_values(const struct table_descriptor *table, struct slice name,
                                                struct arena *arena, struct properties *spec, struct err *err);
/* Some of the keys with values, as LIST PARTITIONS has them: one place a key, ptr NULL where any value will do.
 * errors: as table_partition_name, keys may be missing. */
MUST_CHECK enum err_code table_partition_filter(const struct table_descriptor *table, const struct properties *spec,
                                                struct arena *arena, struct slice **filter, struct err *err);
bool table_partition_matches(const struct slice *filter, const struct properties *values);

/* ---- partitions by time ---- */

struct time_partitions;

/* The value of the partition that is `count` units away from the one of an instant, in arena. What Java's
 * ZonedDateTime.plus and DateTimeFormatter give. False for years that have no four digits. */
bool time_partition_value(const struct time_partitions *time, const struct zone *zone, int64_t utc_s, int64_t count,
                          struct arena *arena, struct slice *value);
/* Whether a value is of the table's format. */
bool time_partition_matches(const struct time_partitions *time, struct slice value);
/* Whether it lies before all that the retention keeps. Values of another form never do. */
bool time_partition_is_past(const struct time_partitions *time, const struct zone *zone, int64_t utc_s,
                            struct slice value, struct arena *arena);
/* A partition that somebody wants to make by hand, spec as for table_partition_check_new: of the format, and not so old
 * that it would go at once. Where the table has no partitions by time and no format anything will do.
 * errors   PARTITION_SPEC_INVALID_EXCEPTION. */
MUST_CHECK enum err_code time_partition_check_new(const struct time_partitions *time, const struct zone *zone,
                                                  int64_t utc_s, struct slice value, struct arena *arena,
                                                  struct err *err);

/* ---- options ---- */

enum table_option {
#define OPTION(name, key, type, fallback, values, served, alterable, text) TABLE_OPTION_##name,
#include "meta/table/table_options.def"
#undef OPTION
    TABLE_OPTION_COUNT
};

enum table_option_type { OPTION_BOOL, OPTION_INT, OPTION_LONG, OPTION_DURATION, OPTION_STRING, OPTION_ENUM };

struct table_option_info {
    const char *key;
    enum table_option_type type;
    const char *fallback; /* the value where none is set; NULL: none */
    const char *values;   /* OPTION_ENUM: the words, with '|' between them */
    const char *served;   /* which values weir serves: "*" all, else words with '|'; "" none: it must not be set */
    bool alterable;       /* by ALTER TABLE */
    const char *text;     /* for the manual */
};

const struct table_option_info *table_option_info(enum table_option option);
/* False where no option has this key. */
bool table_option_find(struct slice key, enum table_option *option);
/* The text of the table's value, or of the fallback; ptr NULL where there is neither. */
struct slice table_option_get(const struct table_descriptor *table, enum table_option option);

/* "10 min", "30s", "7 d", "500 ms", "1500" (milliseconds), "-1" (-1 ms): the forms that table options take.
 * False if it is none of them or does not fit into 64 bits of milliseconds. */
MUST_CHECK bool duration_from_text(struct slice text, int64_t *ms);

enum table_compression { COMPRESSION_NONE, COMPRESSION_LZ4_FRAME, COMPRESSION_ZSTD };
enum table_merge { MERGE_NONE, MERGE_FIRST_ROW, MERGE_VERSIONED, MERGE_AGGREGATION };
enum table_delete { DELETE_ALLOW, DELETE_IGNORE, DELETE_DISABLE };
enum time_unit { TIME_UNIT_YEAR, TIME_UNIT_QUARTER, TIME_UNIT_MONTH, TIME_UNIT_DAY, TIME_UNIT_HOUR };
enum table_image { IMAGE_FULL, IMAGE_WAL };
enum table_choice { CHOICE_UNSET = -1, CHOICE_OFF = 0, CHOICE_ON = 1 };

/* table.auto-partition.*: partitions that stand for a stretch of time each. */
struct time_partitions {
    bool enabled;
    uint32_t key; /* which of the partition keys holds the time */
    enum time_unit unit;
    struct slice format; /* as long as the descriptor; ptr NULL: the unit's own */
    struct slice zone;   /* an id, as long as the descriptor; ptr NULL: the zone of the machine */
    int32_t precreate;   /* partitions that are there from the present one on; none below 1 */
    int32_t retention;   /* past ones that stay; negative: all */
};

/* The options that code asks for, as values. */
struct table_settings {
    enum log_format log_format;
    enum row_format kv_format; /* ROW_COMPACTED or ROW_INDEXED */
    enum table_compression log_compression;
    int32_t zstd_level;
    int64_t log_ttl_ms;        /* <= 0: never */
    int32_t kv_format_version; /* 1 where it is not set */
    enum table_delete delete_behavior;
    enum table_merge merge_engine;
    enum table_image changelog_image;
    int64_t auto_increment_cache; /* at least 1 */
    struct slice version_column;  /* of MERGE_VERSIONED: a column's name, as long as the descriptor; empty: none */
    bool lake_enabled;
    enum lake_format lake_format;
    int64_t lake_freshness_ms; /* -1: not set, the server's default holds */
    bool lake_auto_compaction;
    enum table_choice lake_auto_expire; /* a stock option set explicitly wins over weir's default */
    struct time_partitions time;
};

/* errors: INVALID_CONFIG_EXCEPTION, INVALID_TABLE_EXCEPTION, never on a table that passed table_validate(). */
MUST_CHECK enum err_code table_settings_read(const struct table_descriptor *table, struct table_settings *settings,
                                             struct err *err);

#endif
