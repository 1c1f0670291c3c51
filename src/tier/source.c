/* A table on both sides: what the server says of it, and what the lake holds. */
#include "tier/tier_int.h"

#define TABLE_OPTIONS "table.datalake.paimon."

struct slice source_offsets_path(const struct paimon_snapshot *snapshot)
{
    const struct slice *path = properties_get(&snapshot->properties, PAIMON_OFFSETS_PROPERTY);
    return path ? *path : (struct slice){0};
}

static enum err_code open_table(struct source *source, struct client *client, struct client_path path, int64_t table_id,
                                struct err *err)
{
    TRY(client_table_open(client, path, &source->table, err));
    if (source->table->id != table_id)
        return err_set(err, ERR_TABLE_NOT_EXIST, "%.*s.%.*s was dropped and made anew", SLICE_ARGS(path.database),
                       SLICE_ARGS(path.table));
    if (!source->table->lake_enabled)
        return err_set(err, ERR_TABLE_NOT_EXIST, "%.*s.%.*s is not for the lake any more", SLICE_ARGS(path.database),
                       SLICE_ARGS(path.table));
    return OK;
}

static enum err_code open_lake(struct tier *tier, struct source *source, struct err *err)
{
    const struct client_table *table = source->table;
    const struct slice *format = properties_get(&table->descriptor.properties, "table.datalake.format");
    struct paimon_place place = {.database = table->path.database, .table = table->path.table};
    if (format && !slice_equal_nocase(*format, SLICE("paimon")))
        return err_set(err, ERR_NOT_SUPPORTED, "weir tiers to Paimon, not to %.*s", SLICE_ARGS(*format));
    TRY(paimon_warehouse(&table->descriptor.properties, TABLE_OPTIONS, &place.warehouse, err));
    enum err_code code = paimon_table_open(tier->config.os, &place, &source->lake, err);
    if (code == ERR_NOT_FOUND)
        return err_set(err, ERR_LAKE, "the lake at %.*s has no table %.*s.%.*s", SLICE_ARGS(place.warehouse),
                       SLICE_ARGS(place.database), SLICE_ARGS(place.table));
    return code;
}

static enum err_code look_up_registered(struct source *source, struct arena *arena, struct err *err)
{
    struct err why = {0};
    enum err_code code = client_lake_snapshot(source->table, CLIENT_LAKE_LATEST, 0, arena, &source->registered, &why);
    if (code == ERR_LAKE_SNAPSHOT_NOT_EXIST) {
        source->registered = (struct client_lake_snapshot){0, client_unknown_offsets(source->table, arena)};
        return OK;
    }
    if (code != OK && err)
        *err = why;
    return code;
}

/* Whoever committed it ended before the server was told. The stock job fails its round here and starts anew. */
static enum err_code adopt(struct tier *tier, struct source *source, struct arena *arena, struct err *err)
{
    struct slice path = source_offsets_path(&source->newest);
    if (!path.len || memchr(path.ptr, '{', path.len))
        return err_set(err, ERR_LAKE,
                       "lake snapshot %lld is newer than what the server knows, but has no " PAIMON_OFFSETS_PROPERTY
                       ": what it holds is not known",
                       (long long)source->newest.id);
    struct client_lake_commit commit = {.snapshot_id = source->newest.id,
                                        .offsets_path = path,
                                        .readable = true,
                                        .has_keep = true,
                                        .keep_snapshot_id = -1};
    TRY(client_lake_commit(source->table, &commit, err));
    trace_info(tier->config.trace, "tier", "snapshot_adopted", trace_slice("database", source->table->path.database),
               trace_slice("table", source->table->path.table), trace_i64("snapshot", source->newest.id));
    return look_up_registered(source, arena, err);
}

/* What was registered must be there, else rows would be missing for ever without a word. */
static enum err_code check_not_lost(struct source *source, struct err *err)
{
    int64_t earliest, latest;
    TRY(paimon_snapshot_range(source->lake, &earliest, &latest, err));
    if (latest >= source->registered.id)
        return OK;
    return err_set(err, ERR_LAKE,
                   "the lake table lost its snapshots: the server knows of %lld, the newest there is %lld",
                   (long long)source->registered.id, (long long)latest);
}

enum err_code source_open(struct tier *tier, struct client *client, struct client_path path, int64_t table_id,
                          struct arena *arena, struct source *source, struct err *err)
{
    *source = (struct source){0};
    TRY(open_table(source, client, path, table_id, err));
    TRY(open_lake(tier, source, err));
    TRY(look_up_registered(source, arena, err));
    TRY(paimon_snapshot_newest_of(source->lake, PAIMON_TIERING_USER, arena, &source->newest, err));
    if (source->newest.id > source->registered.id)
        return adopt(tier, source, arena, err);
    return check_not_lost(source, err);
}

void source_close(struct source *source)
{
    paimon_table_close(source->lake);
    client_table_unref(source->table);
    *source = (struct source){0};
}
