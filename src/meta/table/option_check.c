#include "meta/table/table_int.h"

int option_word(const char *words, struct slice word)
{
    int at = 0;
    for (const char *start = words; *start; at++) {
        size_t len = strcspn(start, "|");
        if (slice_equal_nocase(slice_of(start, len), word))
            return at;
        start += len + (start[len] == '|');
    }
    return -1;
}

bool option_bool(struct slice text, bool *value)
{
    bool is_true = slice_equal_nocase(text, SLICE("true"));
    if (!is_true && !slice_equal_nocase(text, SLICE("false")))
        return false;
    *value = is_true;
    return true;
}

bool option_int(struct slice text, int64_t least, int64_t most, int64_t *value)
{
    if (text.len > 1 && text.ptr[0] == '+' && text.ptr[1] != '-') {
        text.ptr++;
        text.len--;
    }
    int64_t number;
    if (!slice_to_i64(text, &number) || number < least || number > most)
        return false;
    *value = number;
    return true;
}

static bool form_is_right(const struct table_option_info *info, struct slice value)
{
    bool yes;
    int64_t number;
    switch (info->type) {
    case OPTION_BOOL:
        return option_bool(value, &yes);
    case OPTION_INT:
        return option_int(value, INT32_MIN, INT32_MAX, &number);
    case OPTION_LONG:
        return option_int(value, INT64_MIN, INT64_MAX, &number);
    case OPTION_DURATION:
        return duration_from_text(value, &number);
    case OPTION_ENUM:
        return option_word(info->values, value) >= 0;
    case OPTION_STRING:
        return true;
    }
    return false;
}

static const char *form_name(const struct table_option_info *info)
{
    static const char *const names[] = {[OPTION_BOOL] = "true or false",
                                        [OPTION_INT] = "a whole number of 32 bits",
                                        [OPTION_LONG] = "a whole number of 64 bits",
                                        [OPTION_DURATION] = "a duration like '30 s' or '10 min'",
                                        [OPTION_STRING] = "a text"};
    return info->type == OPTION_ENUM ? info->values : names[info->type];
}

enum err_code option_check(enum table_option option, struct slice value, struct err *err)
{
    const struct table_option_info *info = table_option_info(option);
    int shown = (int)MIN(value.len, 60);
    if (!form_is_right(info, value))
        return err_set(err, ERR_INVALID_CONFIG_EXCEPTION, "Invalid value '%.*s' for '%s': it must be %s.", shown,
                       (const char *)value.ptr, info->key, form_name(info));
    if (strcmp(info->served, "*") == 0 || option_word(info->served, value) >= 0)
        return OK;
    if (!*info->served)
        return err_set(err, ERR_INVALID_CONFIG_EXCEPTION, "weir does not serve '%s' yet; leave it out.", info->key);
    return err_set(err, ERR_INVALID_CONFIG_EXCEPTION, "weir does not serve '%s' = '%.*s' yet; served: %s.", info->key,
                   shown, (const char *)value.ptr, info->served);
}
