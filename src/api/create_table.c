#include "api/api_int.h"

/* What CREATE TABLE does, in Fluss's order with the checks for names first, so that a refused table leaves nothing in
 * the lake: names, JSON, defaults, validation, the lake table, the metadata, the buckets, the partitions by time. The
 * answer comes when every bucket is there. */
struct creation {
    struct api *api;
    struct slice database;
    struct slice name;
    struct table_descriptor descriptor;
    const struct table_info *table;
};

static enum err_code descriptor_read(struct api_call *call, struct creation *c, struct slice json, struct err *err)
{
    const struct table_cluster *cluster = &c->api->config.cluster;
    TRY(table_descriptor_from_json(&call->arena, json, &c->descriptor, err));
    table_defaults_apply(&call->arena, cluster, &c->descriptor);
    TRY(table_descriptor_normalize(&call->arena, &c->descriptor, err));
    return table_validate(cluster, &c->descriptor, err);
}

static enum err_code zone_check(struct creation *c, struct err *err)
{
    struct table_settings settings;
    struct zone *zone;
    TRY(table_settings_read(&c->descriptor, &settings, err));
    if (!settings.time.zone.ptr)
        return OK;
    TRY(api_time_zone(c->api, &settings.time, &zone, err));
    zone_close(zone);
    return OK;
}

static enum err_code lake_create(struct creation *c, struct err *err)
{
    struct table_settings settings;
    TRY(table_settings_read(&c->descriptor, &settings, err));
    if (!settings.lake_enabled)
        return OK;
    const struct api_config *config = &c->api->config;
    if (!config->lake_create)
        return err_set(err, ERR_INVALID_TABLE_EXCEPTION,
                       "table.datalake.enabled needs a lake: set datalake.format in the server's options");
    return config->lake_create(config->lake_arg, c->database, c->name, &c->descriptor, err);
}

/* On failure the table is taken back, so that the name is free again. */
static enum err_code buckets_make(struct creation *c, struct err *err)
{
    const struct api_config *config = &c->api->config;
    enum err_code code = api_table_open(c->api, c->table, err);
    int64_t dropped;
    if (code != OK && meta_table_drop(config->meta, c->database, c->name, true, &dropped, NULL) == OK)
        api_table_remove(c->api, c->table->table_id);
    return code;
}

static enum err_code create(struct api_call *call, struct err *err)
{
    const struct wire_create_table_request *req = call->request;
    struct creation c = {
        .api = call->api, .database = req->table_path.database_name, .name = req->table_path.table_name};
    struct meta *meta = call->api->config.meta;
    bool exists = false;
    TRY(meta_table_check_new(meta, c.database, c.name, req->ignore_if_exists ? &exists : NULL, err));
    if (exists)
        return OK;
    TRY(descriptor_read(call, &c, req->table_json, err));
    TRY(zone_check(&c, err));
    TRY(lake_create(&c, err));
    enum err_code code = meta_table_create(meta, c.database, c.name, &c.descriptor, &c.table, err);
    if (code == ERR_TABLE_ALREADY_EXIST && req->ignore_if_exists)
        return OK;
    TRY(code);
    code = buckets_make(&c, err);
    if (code == OK)
        api_time_partitions(c.api, c.table, false);
    table_unref(c.table);
    return code;
}

enum err_code create_table(struct api_call *call, struct err *err)
{
    os_mutex_lock(&call->api->ddl);
    enum err_code code = create(call, err);
    os_mutex_unlock(&call->api->ddl);
    return code;
}
