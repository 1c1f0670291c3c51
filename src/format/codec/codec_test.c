#include "format/codec/codec.h"
#include "lib/test.h"

static void fill(struct buf *buf, size_t len)
{
    for (size_t i = 0; i < len; i++)
        buf_put_u8(buf, (uint8_t)(i * i >> 5));
}

static void every_codec_gives_back_what_it_took(void **state)
{
    (void)state;
    static const size_t lens[] = {0, 1, 63, 1000, 300000};
    struct err err = {0};
    struct codec_state codecs = {0};
    for (int codec = 0; codec < CODEC_COUNT; codec++)
        for (size_t i = 0; i < ARRAY_LEN(lens); i++) {
            struct buf plain = {0}, packed = {0}, back = {0};
            fill(&plain, lens[i]);
            buf_put(&back, "before", 6);
            MUST(codec_compress(&codecs, codec, 1, buf_view(&plain), &packed, &err));
            MUST(codec_decompress(&codecs, codec, buf_view(&packed), lens[i], &back, &err));
            assert_int_equal(back.len, 6 + lens[i]);
            assert_slice_equal(slice_of(back.ptr + 6, lens[i]), buf_view(&plain));
            if (codec != CODEC_LZ4_RAW) {
                buf_reset(&back);
                MUST(codec_decompress_max(&codecs, codec, buf_view(&packed), lens[i], &back, &err));
                assert_slice_equal(buf_view(&back), buf_view(&plain));
            }
            buf_deinit(&plain);
            buf_deinit(&packed);
            buf_deinit(&back);
        }
    codec_state_deinit(&codecs);
}

static void a_plain_length_that_is_not_so_is_refused(void **state)
{
    (void)state;
    struct err err = {0};
    struct codec_state codecs = {0};
    struct buf plain = {0}, packed = {0}, back = {0};
    fill(&plain, 200000);
    for (int codec = 0; codec < CODEC_COUNT; codec++) {
        buf_reset(&packed);
        MUST(codec_compress(&codecs, codec, 1, buf_view(&plain), &packed, &err));
        MUST_FAIL(ERR_CORRUPT, codec_decompress(&codecs, codec, buf_view(&packed), plain.len + 1, &back, &err));
        MUST_FAIL(ERR_CORRUPT, codec_decompress(&codecs, codec, buf_view(&packed), plain.len - 1, &back, &err));
        if (codec != CODEC_LZ4_RAW)
            MUST_FAIL(ERR_LIMIT, codec_decompress_max(&codecs, codec, buf_view(&packed), plain.len - 1, &back, &err));
    }
    buf_deinit(&plain);
    buf_deinit(&packed);
    buf_deinit(&back);
    codec_state_deinit(&codecs);
}

static void every_cut_off_block_is_refused(void **state)
{
    (void)state;
    struct err err = {0};
    struct codec_state codecs = {0};
    struct buf plain = {0}, packed = {0}, back = {0};
    fill(&plain, 3000);
    for (int codec = CODEC_ZSTD; codec < CODEC_COUNT; codec++) {
        buf_reset(&packed);
        MUST(codec_compress(&codecs, codec, 1, buf_view(&plain), &packed, &err));
        for (size_t cut = 0; cut < packed.len; cut++) {
            struct slice part = slice_of(packed.ptr, cut);
            MUST_FAIL(ERR_CORRUPT, codec_decompress(&codecs, codec, part, plain.len, &back, &err));
            buf_reset(&back);
        }
    }
    buf_deinit(&plain);
    buf_deinit(&packed);
    buf_deinit(&back);
    codec_state_deinit(&codecs);
}

TESTS("format.codec", TEST(every_codec_gives_back_what_it_took), TEST(a_plain_length_that_is_not_so_is_refused),
      TEST(every_cut_off_block_is_refused))
