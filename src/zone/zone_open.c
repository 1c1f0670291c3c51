/* Zones by their ids. */
#include "zone/zone_int.h"

#include "base/buf.h"

/* The three-letter ids that Java keeps from its first version (ZoneId.SHORT_IDS), where the tz database has none or
 * another. */
static const struct {
    const char *id, *zone;
} shorts[] = {
    {"ACT", "Australia/Darwin"},
    {"AET", "Australia/Sydney"},
    {"AGT", "America/Argentina/Buenos_Aires"},
    {"ART", "Africa/Cairo"},
    {"AST", "America/Anchorage"},
    {"BET", "America/Sao_Paulo"},
    {"BST", "Asia/Dhaka"},
    {"CAT", "Africa/Harare"},
    {"CNT", "America/St_Johns"},
    {"CST", "America/Chicago"},
    {"CTT", "Asia/Shanghai"},
    {"EAT", "Africa/Addis_Ababa"},
    {"ECT", "Europe/Paris"},
    {"EST", "GMT-05:00"},
    {"HST", "GMT-10:00"},
    {"IET", "America/Indiana/Indianapolis"},
    {"IST", "Asia/Kolkata"},
    {"JST", "Asia/Tokyo"},
    {"MIT", "Pacific/Apia"},
    {"MST", "GMT-07:00"},
    {"NET", "Asia/Yerevan"},
    {"NST", "Pacific/Auckland"},
    {"PLT", "Asia/Karachi"},
    {"PNT", "America/Phoenix"},
    {"PRT", "America/Puerto_Rico"},
    {"PST", "America/Los_Angeles"},
    {"SST", "Pacific/Guadalcanal"},
    {"VST", "Asia/Ho_Chi_Minh"},
};

/* "GMT+8", "GMT-0530", "GMT+05:30": hours to 23, minutes to 59. */
static bool fixed_id(struct slice id, int32_t *offset_s)
{
    int digits[4], count = 0;
    if (!slice_starts_with(id, SLICE("GMT")) || id.len < 5 || (id.ptr[3] != '+' && id.ptr[3] != '-'))
        return false;
    bool colon = false;
    for (size_t i = 4; i < id.len; i++) {
        uint8_t c = id.ptr[i];
        if (c == ':' && !colon && (count == 1 || count == 2) && id.len - i == 3)
            colon = true;
        else if (c >= '0' && c <= '9' && count < 4)
            digits[count++] = c - '0';
        else
            return false;
    }
    int hours, minutes = 0;
    if (count <= 2 && !colon) {
        hours = count == 1 ? digits[0] : digits[0] * 10 + digits[1];
    } else if (count >= 3) {
        hours = count == 3 ? digits[0] : digits[0] * 10 + digits[1];
        minutes = digits[count - 2] * 10 + digits[count - 1];
    } else {
        return false;
    }
    *offset_s = (id.ptr[3] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
    return hours <= 23 && minutes <= 59;
}

/* Of a file below ZONE_DIR, and nowhere else. */
static bool id_is_name(struct slice id)
{
    if (!id.len || id.len > ZONE_ID_BYTES_MAX || slice_starts_with(id, SLICE("right/")) ||
        slice_starts_with(id, SLICE("posix/")))
        return false;
    for (size_t i = 0; i < id.len; i++) {
        uint8_t c = id.ptr[i];
        bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        bool inner = (c >= '0' && c <= '9') || c == '_' || c == '+' || c == '-';
        bool slash = c == '/' && i > 0 && i + 1 < id.len && id.ptr[i - 1] != '/';
        if (!letter && !(inner && i > 0) && !slash)
            return false;
    }
    return true;
}

static enum err_code file_open(struct os *os, const char *path, struct zone **zone, struct err *err)
{
    struct buf bytes = {0};
    enum err_code code = os_read_whole(os, path, ZONE_BYTES_MAX, &bytes, err);
    if (code == OK)
        code = zone_parse(buf_view(&bytes), zone, err);
    buf_deinit(&bytes);
    return code;
}

static enum err_code unknown(struct slice id, struct err *err)
{
    return err_set(err, ERR_INVALID_ARGUMENT,
                   "'%.*s' is no time zone that this machine knows: give a name of the tz database (Europe/Berlin), or "
                   "GMT+hh:mm",
                   (int)MIN(id.len, ZONE_ID_BYTES_MAX), (const char *)id.ptr);
}

static enum err_code named_open(struct os *os, struct slice id, struct zone **zone, struct err *err)
{
    char path[sizeof ZONE_DIR + 1 + ZONE_ID_BYTES_MAX];
    struct os_stat stat;
    if (!id_is_name(id))
        return unknown(id, err);
    size_t dir = sizeof ZONE_DIR;
    memcpy(path, ZONE_DIR "/", dir);
    memcpy(path + dir, id.ptr, id.len);
    path[dir + id.len] = 0;
    if (os_stat(os, path, &stat, NULL) != OK || stat.is_dir)
        return unknown(id, err);
    return file_open(os, path, zone, err);
}

enum err_code zone_open(struct os *os, struct slice id, struct zone **zone, struct err *err)
{
    int32_t offset_s;
    for (size_t i = 0; i < ARRAY_LEN(shorts); i++)
        if (slice_is(id, shorts[i].id))
            id = slice_str(shorts[i].zone);
    if (slice_is(id, "UTC") || slice_is(id, "GMT"))
        offset_s = 0; /* also where the machine has no tz database */
    else if (!fixed_id(id, &offset_s))
        return named_open(os, id, zone, err);
    *zone = zone_fixed(offset_s);
    return OK;
}

struct zone *zone_open_system(struct os *os)
{
    struct zone *zone;
    const char *id = os_environment(os, "TZ");
    if (id && *id == ':')
        id++;
    if (id && zone_open(os, slice_str(id), &zone, NULL) == OK)
        return zone;
    return file_open(os, "/etc/localtime", &zone, NULL) == OK ? zone : zone_utc();
}
