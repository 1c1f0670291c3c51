/* Hashes and checksums that formats or tables need. */
#ifndef WEIR_BASE_HASH_H
#define WEIR_BASE_HASH_H

#include "base/slice.h"

/* For hash tables in memory; not stable between versions, never written anywhere. */
uint64_t hash64(struct slice s);

/* SipHash-2-4-128 under a key: the same for ever, so it may be kept and shown. The first 8 bytes of the usual spelling
 * are the low half, in little-endian order. */
unsigned __int128 hash128(uint64_t key0, uint64_t key1, struct slice bytes);

/* CRC-32C (Castagnoli) as Java's CRC32C gives it; crc is 0 to start, or the result so far. */
uint32_t crc32c(uint32_t crc, struct slice s);

/* CRC-32 (IEEE) as zlib and Avro's snappy codec have it; crc as above. */
uint32_t crc32_zip(uint32_t crc, struct slice s);

#endif
