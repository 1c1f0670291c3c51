#include "conf/conf.h"
#include "meta/table/table.h"

bool duration_from_text(struct slice text, int64_t *ms)
{
    int64_t number;
    if (!slice_to_i64(text, &number))
        return conf_parse_duration_ms(text, ms);
    if (number < -1)
        return false;
    *ms = number; /* without a unit it is milliseconds; -1 is "never" in the options that know it */
    return true;
}
