/* The protocol between Fluss clients and servers: frames and messages, bytes <-> structs. No I/O, no clock, no state
 * but what the caller holds. docs/formats/wire.md draws the bytes; proto/ lists the calls, the messages and the errors.
 *
 * A message is one generated struct (wire_messages.h), a table that describes it (struct wire_desc), and nothing else:
 * ProduceLogRequest of the protocol is `struct wire_produce_log_request` with `wire_produce_log_request_desc`;
 * PbTablePath is `struct wire_pb_table_path`. How the struct holds a field:
 *
 *   required int32/int64/bool/float/double   the value
 *   required string/bytes                    struct slice
 *   required message                         the struct itself
 *   optional scalar, string or bytes         the same, and `bool has_NAME`; set both with WIRE_SET
 *   optional message                         a pointer, NULL where it is absent
 *   repeated                                 a pointer to the elements and `size_t NAME_count`
 *   pieces (see proto/messages.def)          struct wire_bytes, with has_NAME if it is optional
 *
 * The zero value of every struct is the message with nothing set, so a writer starts from {0}.
 * thread: all calls work on the caller's values only. */
#ifndef WEIR_WIRE_WIRE_H
#define WEIR_WIRE_WIRE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "os/os.h"

/* ---- values inside messages ---- */

/* A part of a large bytes field: memory, or a range of a file where `file` is set. The bytes must stay as they are
 * until the piece is released; the release (NULL: none) is called once with the owner, when the piece has been sent or
 * is dropped, on the thread that sends or drops. */
struct wire_piece {
    const uint8_t *ptr;   /* memory; NULL for a range of a file */
    struct os_file *file; /* borrowed: the owner keeps it open */
    uint64_t offset;      /* in the file */
    size_t len;
    void (*release)(void *owner);
    void *owner;
};

/* The value of a `pieces` field. Decoded: `bytes`, borrowed from the frame, and no pieces. To be sent, one of two:
 * `bytes` are copied into the output; `pieces` are moved there and go out from where they lie. */
struct wire_bytes {
    struct slice bytes;
    struct wire_piece *pieces;
    size_t piece_count;
};

static inline struct wire_bytes wire_bytes_of(struct slice bytes)
{
    return (struct wire_bytes){.bytes = bytes};
}

size_t wire_bytes_len(const struct wire_bytes *bytes);
/* Releases the pieces of a message that is not going to be encoded. */
void wire_bytes_release(struct wire_bytes *bytes);

/* Sets an optional field: WIRE_SET(&bucket, high_watermark, 7). */
#define WIRE_SET(message, field, value) ((message)->has_##field = true, (void)((message)->field = (value)))

/* ---- descriptions of messages ---- */

enum wire_label { WIRE_REQUIRED, WIRE_OPTIONAL, WIRE_REPEATED, WIRE_PACKED };
enum wire_type {
    WIRE_INT32,
    WIRE_INT64,
    WIRE_BOOL,
    WIRE_FLOAT,
    WIRE_DOUBLE,
    WIRE_STRING,
    WIRE_BYTES,
    WIRE_PIECES,
    WIRE_MESSAGE
};

struct wire_desc;

struct wire_field {
    const char *name;
    uint16_t number;
    uint8_t label;                   /* enum wire_label */
    uint8_t type;                    /* enum wire_type */
    uint16_t offset;                 /* of the value, or of the pointer to it */
    uint16_t presence_offset;        /* of has_NAME (optional, not a message) or of NAME_count (repeated, packed) */
    const struct wire_desc *message; /* of a field that is a message */
};

#define WIRE_FIELD_MAX 64 /* fields of one message */

struct wire_desc {
    const char *name; /* as the protocol spells it */
    uint32_t size;    /* of the struct */
    uint32_t field_count;
    uint64_t required;               /* bit i: fields[i] is required */
    const struct wire_field *fields; /* by number */
};

#include "wire_messages.h"

/* All descriptions, by name; what tests and tools walk over. NULL: no such message. */
extern const struct wire_desc *const wire_descs[];
extern const size_t wire_desc_count;
const struct wire_desc *wire_desc_find(struct slice name);

/* ---- calls ---- */

enum wire_key {
#define API(name, key, version_min, version_max, request, response, role, note) WIRE_##name = key,
#include "apis.def"
#undef API
};

enum wire_role { WIRE_ROLE_C = 1, WIRE_ROLE_T = 2, WIRE_ROLE_CT = 3 }; /* coordinator, tablet server, both */

struct wire_api {
    int16_t key;
    int16_t version_min; /* of the protocol; what the server serves is the api module's to say */
    int16_t version_max;
    enum wire_role role;
    const char *name; /* "FETCH_LOG" */
    const struct wire_desc *request;
    const struct wire_desc *response;
    const char *note; /* how 0.9.1 differs, or "" */
};

extern const struct wire_api wire_apis[]; /* by key */
extern const size_t wire_api_count;
const struct wire_api *wire_api_find(int16_t key); /* NULL: the protocol has no such key */
const char *wire_api_name(int16_t key);            /* for traces; "UNKNOWN" where there is none */

/* ---- messages ---- */

#define WIRE_DEPTH_MAX 32 /* messages within messages; predicates are the only ones that nest without end */
/* Memory that a decoded message may take beside its own struct: a little for all, a factor of the body's size for large
 * ones (the least element of a list takes 2 bytes of a body and up to a few hundred of memory), and a bound over all.
 */
#define WIRE_DECODE_BYTES_BASE (64u << 10)
#define WIRE_DECODE_BYTES_FACTOR 16u
#define WIRE_DECODE_BYTES_MAX (256u << 20)

/* Reads a body into *message, a struct of desc->size bytes. Strings and bytes borrow from the body; lists and inner
 * messages lie in the arena. Fields may come in any order, packed lists also unpacked and the other way round; unknown
 * fields are skipped; of a field that is not repeated and comes twice the last one counts, messages as a whole. A
 * packed list that came with no element has count 0 and a pointer that is not NULL. errors  CORRUPT_MESSAGE: not a
 * message (cut off, wrong wire type, a required field missing, a string that is not UTF-8); LIMIT: deeper or larger
 * than the limits above. *message is then undefined. cost    no copy of strings and bytes: a body with one record batch
 * of 1 MiB costs as much as one of 1 KiB. */
MUST_CHECK enum err_code wire_decode(const struct wire_desc *desc, struct slice body, struct arena *arena,
                                     void *message, struct err *err);

/* The message as one line of JSON, as traces and tests want it: fields by number under the protocol's names, 64-bit
 * integers as decimal strings, bytes in hex up to bytes_max of them with "..." behind a longer one, absent fields left
 * out. Pieces of a file are shown by their length only. */
void wire_dump(struct buf *out, const struct wire_desc *desc, const void *message, size_t bytes_max);

/* ---- bytes on their way out ---- */

/* Bytes to be sent to one peer, in order: what was encoded, and pieces that stay where they are. Zero value: empty.
 * Whoever sends does, until wire_out_len is 0:
 *
 *   if (wire_out_file(out, &file, &offset, &len)) send that range of the file;
 *   else                                          send the wire_out_slices;
 *   wire_out_advance(out, how much was sent);
 */
struct wire_out {
    struct buf bytes;       /* what was encoded, back to back */
    uint64_t bytes_start;   /* how many encoded bytes were given up before bytes.ptr[0] */
    uint64_t bytes_flushed; /* how many, from the first, are in pieces */
    /* In order. One without ptr and file is a stretch of the encoded bytes; its offset counts from the first. */
    VEC(struct wire_piece) pieces;
    size_t head;       /* the first piece that is not sent */
    size_t head_sent;  /* bytes of it that are */
    uint64_t len;      /* still to be sent */
    uint64_t file_len; /* of it, what lies in files */
    /* The encoder's: lengths of inner messages, in the order they are written. */
    VEC(uint32_t) sizes;
    size_t sizes_used;
};

/* Memory for encoded bytes that an empty out keeps; more is given back. */
#define WIRE_OUT_KEEP_BYTES_MAX (256u << 10)
/* Memory pieces up to this length are copied, which is cheaper than one more element of a writev. */
#define WIRE_PIECE_COPY_BYTES_MAX 512

/* Drops what was not sent and releases its pieces. */
void wire_out_deinit(struct wire_out *out);
void wire_out_reset(struct wire_out *out); /* the same, memory of ordinary size kept */
static inline uint64_t wire_out_len(const struct wire_out *out)
{
    return out->len;
}
/* The memory among it. */
static inline uint64_t wire_out_memory(const struct wire_out *out)
{
    return out->len - out->file_len;
}
/* The memory that goes next: fills at most slice_max slices, gives how many; 0 when a file's range is next, or nothing.
 * Valid until the next call that changes the out. */
size_t wire_out_slices(const struct wire_out *out, struct slice *slices, size_t slice_max);
/* True when a range of a file is next. */
bool wire_out_file(const struct wire_out *out, struct os_file **file, uint64_t *offset, size_t *len);
/* len bytes from the front were sent; pieces that are wholly sent are released. */
void wire_out_advance(struct wire_out *out, uint64_t len);
/* Moves everything from the second behind the first; encoded bytes are copied, pieces are not. */
void wire_out_append(struct wire_out *out, struct wire_out *from);

/* ---- frames ---- */

/* The bytes are drawn in frame.c. Lengths count what follows the length field. */
#define WIRE_LENGTH_BYTES 4
#define WIRE_REQUEST_HEADER_BYTES 8
#define WIRE_FRAME_BYTES_MAX ((uint32_t)INT32_MAX) /* what the length field can say, and the Java client accepts */
#define WIRE_REQUEST_BYTES_MAX (100u << 20)        /* netty.server.max-request-size by default */

struct wire_request_header {
    int16_t key;     /* enum wire_key, or one that the protocol does not know */
    int16_t version; /* clients send what API_VERSIONS told them; Fluss does not check it */
    int32_t request_id;
};

enum wire_status {
    WIRE_SUCCESS = 0,
    WIRE_ERROR = 1,         /* the body is an ErrorResponse */
    WIRE_SERVER_FAILURE = 2 /* so is this one; no request id, and the connection is over */
};

struct wire_response_header {
    enum wire_status status;
    int32_t request_id; /* 0 for WIRE_SERVER_FAILURE */
};

/* Takes a frame without its length field apart; body borrows. errors: CORRUPT_MESSAGE (too short, unknown status). */
MUST_CHECK enum err_code wire_request_split(struct slice frame, struct wire_request_header *header, struct slice *body,
                                            struct err *err);
MUST_CHECK enum err_code wire_response_split(struct slice frame, struct wire_response_header *header,
                                             struct slice *body, struct err *err);

/* Append one whole frame. The message's type is that of desc; its pieces are moved into the out and are gone from the
 * message, all other bytes are copied, so the message may be dropped at once.
 * errors  LIMIT: the frame would be longer than WIRE_FRAME_BYTES_MAX; out and message are as before. */
MUST_CHECK enum err_code wire_request_encode(struct wire_out *out, const struct wire_request_header *header,
                                             const struct wire_desc *desc, void *message, struct err *err);
MUST_CHECK enum err_code wire_response_encode(struct wire_out *out, int32_t request_id, const struct wire_desc *desc,
                                              void *message, struct err *err);
/* An answer that is an error: the wire number of error->code and its text, or the code's own text if that is empty.
 * Never WIRE_SERVER_FAILURE: the Rust client reads a request id there that is not in it. */
void wire_error_encode(struct wire_out *out, int32_t request_id, const struct err *error);
/* The body of a WIRE_ERROR or WIRE_SERVER_FAILURE as an error of ours: gives its code and fills *err (where names the
 * caller's place). Never OK: a body that cannot be read, or an error code of 0, is CORRUPT_MESSAGE. */
MUST_CHECK enum err_code wire_error_decode(struct slice body, struct err *err);
/* A bare message, without a frame. */
MUST_CHECK enum err_code wire_message_encode(struct wire_out *out, const struct wire_desc *desc, void *message,
                                             struct err *err);
/* Releases all pieces of a message that is not going to be encoded. */
void wire_message_release(const struct wire_desc *desc, void *message);

/* ---- frames in ---- */

/* Cuts a stream of bytes into frames. The caller receives straight into its room:
 *
 *   room = wire_splitter_room(s, &len); os_recv(socket, room, len, &got, ...); wire_splitter_filled(s, got);
 *   while (wire_splitter_next(s, &frame, &have, err) == OK && have) take the frame
 *
 * Small frames are copied out of the room; of a large one only the part that came with the bytes before it, the rest is
 * received in its place. Memory for a frame is taken as its bytes arrive, never for what a length merely says. */
#define WIRE_SPLITTER_ROOM_BYTES (64u << 10)

struct wire_splitter {
    uint32_t frame_bytes_max;
    struct buf room; /* bytes received and not yet taken; from room_at */
    size_t room_at;
    struct buf frame;    /* a large frame that is being received */
    uint32_t frame_want; /* its whole length; 0: none */
    bool room_was_full;
    bool failed; /* a bad length: there is no next frame, and asking for one is a mistake */
};

/* frame_bytes_max: at most WIRE_FRAME_BYTES_MAX. */
void wire_splitter_init(struct wire_splitter *splitter, uint32_t frame_bytes_max);
void wire_splitter_deinit(struct wire_splitter *splitter);
/* Where to receive to, and how much at most (never 0). Frames that are complete must be taken first. */
uint8_t *wire_splitter_room(struct wire_splitter *splitter, size_t *len);
void wire_splitter_filled(struct wire_splitter *splitter, size_t len);
/* The next whole frame, without its length field, in *frame: its memory is reused or replaced, the caller keeps it.
 * *have is false when more bytes are needed. errors: CORRUPT_MESSAGE (negative length), LIMIT (longer than
 * frame_bytes_max); both are final, as nobody knows where the next frame would begin. */
MUST_CHECK enum err_code wire_splitter_next(struct wire_splitter *splitter, struct buf *frame, bool *have,
                                            struct err *err);
/* Nothing half received: the peer may close here without having lost anything. */
bool wire_splitter_idle(const struct wire_splitter *splitter);

#endif
