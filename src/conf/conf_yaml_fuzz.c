/* server.yaml from anywhere: either it is taken, and then every option can be read, or there is an error with a text.
 */
#include "conf/conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct conf *conf = conf_create();
    struct err err = {0};
    struct conf_entry entry;
    enum err_code code = conf_parse_yaml(conf, slice_of(data, size), "server.yaml", &err);
    ASSERT(code == OK || (err.code == code && *err.text));
    if (code == OK && conf_check(conf, &err) != OK)
        ASSERT(*err.text);
    for (size_t at = 0; conf_next(conf, &at, &entry);)
        ASSERT(entry.name && entry.value);
    (void)!conf_set_assignment(conf, slice_of(data, size), NULL);
    conf_destroy(conf);
    return 0;
}
