#include "wire/wire_int.h"

const struct wire_api wire_apis[] = {
#define API(name, key, version_min, version_max, request, response, role, note) \
    {key, version_min, version_max, WIRE_ROLE_##role, #name, &wire_##request##_desc, &wire_##response##_desc, note},
#include "apis.def"
#undef API
};
const size_t wire_api_count = ARRAY_LEN(wire_apis);

const struct wire_api *wire_api_find(int16_t key)
{
    size_t i = (size_t)(key - wire_apis[0].key); /* the keys are without gaps, as the tests see to */
    return key >= wire_apis[0].key && i < wire_api_count ? &wire_apis[i] : NULL;
}

const char *wire_api_name(int16_t key)
{
    const struct wire_api *api = wire_api_find(key);
    return api ? api->name : "UNKNOWN";
}

const struct wire_desc *wire_desc_find(struct slice name)
{
    for (size_t i = 0; i < wire_desc_count; i++)
        if (slice_is(name, wire_descs[i]->name))
            return wire_descs[i];
    return NULL;
}
