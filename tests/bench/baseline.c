/* The same work in C, by hand, for the column "C" of the table: what a compiled core could come near to.
 *
 * Only the inner loops: memory to memory, input that is known to be well formed, no errors to report. tests/bench/baseline.py
 * compiles it and says what every function takes; the cases compare what it gives with what the other sides give.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t byte;

/* ---- protobuf's varints, and rows as messages ---- */

static inline byte *put_varint(byte *at, uint64_t value) {
    while (value >= 0x80) {
        *at++ = (byte)(value | 0x80);
        value >>= 7;
    }
    *at++ = (byte)value;
    return at;
}

static inline const byte *get_varint(const byte *at, uint64_t *value) {
    uint64_t found = 0;
    int shift = 0;
    byte next;
    do {
        next = *at++;
        found |= (uint64_t)(next & 0x7f) << shift;
        shift += 7;
    } while (next & 0x80);
    *value = found;
    return at;
}

/* repeated Row rows = 1, where column c is the uint64 field c + 1; zeros are left out. Gives the size. */
int64_t encode_rows(const uint64_t *const *columns, int64_t column_count, int64_t count, byte *out) {
    byte *at = out;
    byte row[256];
    for (int64_t i = 0; i < count; i++) {
        byte *end = row;
        for (int64_t c = 0; c < column_count; c++) {
            uint64_t value = columns[c][i];
            if (value) {
                *end++ = (byte)((c + 1) << 3);
                end = put_varint(end, value);
            }
        }
        *at++ = 0x0a;
        at = put_varint(at, (uint64_t)(end - row));
        memcpy(at, row, (size_t)(end - row));
        at += end - row;
    }
    return at - out;
}

/* The way back, into columns that hold zeros. Gives the number of rows. */
int64_t decode_rows(const byte *data, int64_t size, uint64_t *const *columns) {
    const byte *at = data, *end = data + size;
    int64_t i = 0;
    for (; at < end; i++) {
        uint64_t length, key;
        at = get_varint(at + 1, &length);
        const byte *stop = at + length;
        while (at < stop) {
            at = get_varint(at, &key);
            at = get_varint(at, &columns[(key >> 3) - 1][i]);
        }
    }
    return i;
}

int64_t sum_column(const uint32_t *values, int64_t count) {
    int64_t total = 0;
    for (int64_t i = 0; i < count; i++) total += values[i];
    return total;
}

/* ---- Chrome's JSON ---- */

static inline byte *put_text(byte *at, const char *text, int64_t length) {
    memcpy(at, text, (size_t)length);
    return at + length;
}
#define PUT(at, literal) put_text(at, literal, sizeof(literal) - 1)

static inline byte *put_number(byte *at, uint64_t value) {
    byte digits[20];
    int length = 0;
    do {
        digits[length++] = (byte)('0' + value % 10);
        value /= 10;
    } while (value);
    while (length) *at++ = digits[--length];
    return at;
}

static inline byte *put_us(byte *at, uint64_t ns) {
    at = put_number(at, ns / 1000);
    *at++ = '.';
    *at++ = (byte)('0' + ns / 100 % 10);
    *at++ = (byte)('0' + ns / 10 % 10);
    *at++ = (byte)('0' + ns % 10);
    return at;
}

/* Slices as columns; the names are put together as i{instance}_{sequence}_W{workload}_{stage}_{command}. */
typedef struct {
    const int64_t *start_ns, *duration_ns, *sequence, *workload, *arguments; /* arguments: three a slice */
    const int32_t *track, *stage, *command, *instance;
    const char *stages;          /* all names of stages, one after the other */
    const int64_t *stage_ends;   /* where each ends; the first begins at 0 */
} Slices;

static byte *put_name(byte *at, const Slices *s, int64_t i) {
    int32_t stage = s->stage[i];
    int64_t begin = stage ? s->stage_ends[stage - 1] : 0;
    *at++ = 'i';
    at = put_number(at, (uint64_t)s->instance[i]);
    *at++ = '_';
    at = put_number(at, (uint64_t)s->sequence[i]);
    at = PUT(at, "_W");
    at = put_number(at, (uint64_t)s->workload[i]);
    *at++ = '_';
    at = put_text(at, s->stages + begin, s->stage_ends[stage] - begin);
    *at++ = '_';
    return put_number(at, (uint64_t)s->command[i]);
}

/* Slices first..last as events with a comma after each; gives the size. */
int64_t write_json(const Slices *s, int64_t first, int64_t last, byte *out) {
    byte *at = out;
    for (int64_t i = first; i < last; i++) {
        at = PUT(at, "{\"ph\":\"X\",\"cat\":\"kernel\",\"pid\":1,\"tid\":");
        at = put_number(at, (uint64_t)s->track[i]);
        at = PUT(at, ",\"name\":\"");
        at = put_name(at, s, i);
        at = PUT(at, "\",\"ts\":");
        at = put_us(at, (uint64_t)(s->start_ns[i] - s->start_ns[0]));
        at = PUT(at, ",\"dur\":");
        at = put_us(at, (uint64_t)s->duration_ns[i]);
        at = PUT(at, ",\"args\":{\"launch_id\":");
        at = put_number(at, (uint64_t)s->arguments[3 * i]);
        at = PUT(at, ",\"compute_cycles\":");
        at = put_number(at, (uint64_t)s->arguments[3 * i + 1]);
        at = PUT(at, ",\"size_bytes\":");
        at = put_number(at, (uint64_t)s->arguments[3 * i + 2]);
        at = PUT(at, "}},");
    }
    return at - out;
}

/* ---- Perfetto's packets ---- */

/* One packet with a track event. All of it is shorter than 16,384 bytes, so that two bytes hold each length. */
static byte *put_packet(byte *at, uint64_t time_ns, int kind, uint64_t track, const Slices *s, int64_t i) {
    byte event[512], *end = event;
    *end++ = 9 << 3; /* type */
    *end++ = (byte)kind;
    *end++ = 11 << 3; /* track_uuid */
    end = put_varint(end, track);
    if (kind == 1) {
        byte name[256];
        int64_t length = put_name(name, s, i) - name;
        *end++ = 3 << 3; /* category_iids */
        *end++ = 1;
        *end++ = (byte)(23 << 3 | 2); /* name */
        *end++ = 1;
        end = put_varint(end, (uint64_t)length);
        end = put_text(end, (const char *)name, length);
        byte stage[16], *stage_end = stage; /* debug_annotations: name_iid, string_value_iid */
        *stage_end++ = 1 << 3;
        *stage_end++ = 100;
        *stage_end++ = (17 << 3 & 0x7f) | 0x80;
        *stage_end++ = 1;
        stage_end = put_varint(stage_end, (uint64_t)s->stage[i]);
        *end++ = 4 << 3 | 2;
        *end++ = (byte)(stage_end - stage);
        end = put_text(end, (const char *)stage, stage_end - stage);
        for (int a = 0; a < 3; a++) { /* debug_annotations: name_iid, int_value */
            byte value[16], *stop = value;
            *stop++ = 1 << 3;
            *stop++ = (byte)(a + 1);
            *stop++ = 4 << 3;
            stop = put_varint(stop, (uint64_t)s->arguments[3 * i + a]);
            *end++ = 4 << 3 | 2;
            *end++ = (byte)(stop - value);
            end = put_text(end, (const char *)value, stop - value);
        }
    }
    int64_t size = end - event;
    byte head[16], *stop = head;
    *stop++ = 8 << 3; /* timestamp */
    stop = put_varint(stop, time_ns);
    *stop++ = 10 << 3; /* trusted_packet_sequence_id */
    *stop++ = 1;
    *stop++ = 13 << 3; /* sequence_flags */
    *stop++ = 2;
    *stop++ = 11 << 3 | 2; /* track_event */
    *at++ = 1 << 3 | 2;
    at = put_varint(at, (uint64_t)((stop - head) + size + (size < 128 ? 1 : 2)));
    at = put_text(at, (const char *)head, stop - head);
    at = put_varint(at, (uint64_t)size);
    return put_text(at, (const char *)event, size);
}

int64_t write_packets(const Slices *s, int64_t first, int64_t last, byte *out) {
    byte *at = out;
    for (int64_t i = first; i < last; i++) {
        uint64_t track = (uint64_t)s->track[i] + 1;
        at = put_packet(at, (uint64_t)s->start_ns[i], 1, track, s, i);
        at = put_packet(at, (uint64_t)(s->start_ns[i] + s->duration_ns[i]), 2, track, s, i);
    }
    return at - out;
}

/* ---- Kineto's JSON ---- */

typedef struct {
    const char *text;
    int64_t *start_ns, *duration_ns, *tid, *external_id, *event_index;
    int32_t *name;              /* number of the name, in order of first appearance */
    int64_t *name_at;           /* where each name stands first */
    int32_t *name_length;
    int32_t *table;             /* hash table of names + 1; size is a power of two */
    int64_t table_size;
    int32_t names;
} Events;

static int32_t intern(Events *e, const char *at, int32_t length) {
    uint64_t hash = 14695981039346656037u;
    for (int32_t i = 0; i < length; i++) hash = (hash ^ (byte)at[i]) * 1099511628211u;
    for (int64_t slot = (int64_t)(hash >> 20) & (e->table_size - 1);; slot = (slot + 1) & (e->table_size - 1)) {
        int32_t known = e->table[slot] - 1;
        if (known < 0) {
            e->name_at[e->names] = at - e->text;
            e->name_length[e->names] = length;
            e->table[slot] = ++e->names;
            return e->names - 1;
        }
        if (e->name_length[known] == length && !memcmp(e->text + e->name_at[known], at, (size_t)length)) return known;
    }
}

static const char *string_end(const char *at) {
    for (; *at != '"'; at++)
        if (*at == '\\') at++;
    return at;
}

/* A number with up to three decimals in thousandths, or a whole one. */
static const char *get_number(const char *at, int64_t *value, int is_thousandths) {
    int64_t found = 0, sign = 1;
    if (*at == '-') sign = -1, at++;
    for (; *at >= '0' && *at <= '9'; at++) found = found * 10 + (*at - '0');
    if (is_thousandths) {
        int digits = 0;
        if (*at == '.')
            for (at++; *at >= '0' && *at <= '9'; at++)
                if (digits < 3) found = found * 10 + (*at - '0'), digits++;
        for (; digits < 3; digits++) found *= 10;
    }
    *value = sign * found;
    return at;
}

/* Events of an array whose first bracket is at `at`; gives their number. A key decides what its value is taken for, at any depth. */
int64_t scan_events(Events *e, int64_t at_byte, int64_t size) {
    const char *at = e->text + at_byte, *end = e->text + size;
    int64_t count = 0, whole;
    int depth = 0;
    for (; at < end; at++) {
        if (*at == '{') depth++;
        else if (*at == '}') {
            if (--depth == 0) count++;
        } else if (*at == ']' && !depth) break;
        else if (*at == '"') {
            const char *key = at + 1, *stop = string_end(key);
            int64_t length = stop - key;
            at = stop;
            if (stop[1] != ':') continue;
            at = stop + 2;
            while (*at == ' ') at++;
            if (*at == '"') {
                const char *value = at + 1;
                at = string_end(value);
                if (depth == 1 && length == 4 && !memcmp(key, "name", 4)) e->name[count] = intern(e, value, (int32_t)(at - value));
            } else if ((*at >= '0' && *at <= '9') || *at == '-') {
                if (length == 2 && !memcmp(key, "ts", 2)) at = get_number(at, &e->start_ns[count], 1);
                else if (length == 3 && !memcmp(key, "dur", 3)) at = get_number(at, &e->duration_ns[count], 1);
                else if (length == 3 && !memcmp(key, "tid", 3)) at = get_number(at, &e->tid[count], 0);
                else if (length == 11 && !memcmp(key, "External id", 11)) at = get_number(at, &e->external_id[count], 0);
                else if (length == 6 && !memcmp(key, "Ev Idx", 6)) at = get_number(at, &e->event_index[count], 0);
                else at = get_number(at, &whole, 1);
                at--;
            } else at--;
        }
    }
    return count;
}

/* ---- analyses ---- */

/* Launches and records both in order of launch id. */
void join_launches(const int64_t *ids, int64_t launches, const int64_t *wanted, int64_t count, int64_t *row) {
    int64_t at = 0;
    for (int64_t i = 0; i < count; i++) {
        while (at < launches && ids[at] < wanted[i]) at++;
        row[i] = at < launches && ids[at] == wanted[i] ? at : -1;
    }
}

/* Rows in torch's order within each lane, lane after lane; gives each row's duration without its direct calls. */
void self_times(const int64_t *lane, const int64_t *start_ns, const int64_t *end_ns, int64_t count, int64_t *self_ns, int64_t *stack) {
    int64_t depth = 0;
    for (int64_t i = 0; i < count; i++) {
        if (i && lane[i] != lane[i - 1]) depth = 0;
        while (depth && (end_ns[stack[depth - 1]] <= start_ns[i] || end_ns[stack[depth - 1]] < end_ns[i])) depth--;
        self_ns[i] = end_ns[i] - start_ns[i];
        if (depth) self_ns[stack[depth - 1]] -= self_ns[i];
        stack[depth++] = i;
    }
}

/* Sorts by digits of 11 bits, as many as the greatest key needs; gives which of the two arrays of each pair holds the result. */
static int radix_sort(uint64_t *keys[2], uint32_t *rows[2], int64_t count) {
    uint64_t greatest = 0;
    int now = 0;
    for (int64_t i = 0; i < count; i++) greatest |= keys[0][i];
    for (int shift = 0; shift < 64 && greatest >> shift; shift += 11, now = !now) {
        int64_t place[2049] = {0};
        for (int64_t i = 0; i < count; i++) place[(keys[now][i] >> shift & 2047) + 1]++;
        for (int d = 0; d < 2048; d++) place[d + 1] += place[d];
        for (int64_t i = 0; i < count; i++) {
            int64_t to = place[keys[now][i] >> shift & 2047]++;
            keys[!now][to] = keys[now][i];
            if (rows) rows[!now][to] = rows[now][i];
        }
    }
    return now;
}

/* Slices in any order; gaps of each of up to 64 lanes in order of their ends. Gives how many, and their length together. */
int64_t idle_gaps(const int64_t *lane, const int64_t *start_ns, const int64_t *end_ns, int64_t count, int64_t *total_ns) {
    uint64_t *keys[2] = {malloc(8 * (size_t)count), malloc(8 * (size_t)count)};
    uint32_t *rows[2] = {malloc(4 * (size_t)count), malloc(4 * (size_t)count)};
    int64_t reach[64], gaps = 0, total = 0;
    for (int l = 0; l < 64; l++) reach[l] = INT64_MAX;
    for (int64_t i = 0; i < count; i++) keys[0][i] = (uint64_t)start_ns[i], rows[0][i] = (uint32_t)i;
    const uint32_t *order = rows[radix_sort(keys, rows, count)];
    for (int64_t i = 0; i < count; i++) {
        int64_t row = order[i], own = lane[row];
        if (start_ns[row] > reach[own]) gaps++, total += start_ns[row] - reach[own];
        if (reach[own] == INT64_MAX || end_ns[row] > reach[own]) reach[own] = end_ns[row];
    }
    for (int k = 0; k < 2; k++) free(keys[k]), free(rows[k]);
    *total_ns = total;
    return gaps;
}

/* Values of groups below 2^20, each value below 2^44; for each group and percentage the value of that nearest rank. */
void percentiles(const int64_t *group, const int64_t *values, int64_t count, int64_t groups, const int64_t *percents, int64_t wanted,
                 int64_t *found) {
    uint64_t *keys[2] = {malloc(8 * (size_t)count), malloc(8 * (size_t)count)};
    int64_t *sizes = calloc((size_t)groups, 8);
    for (int64_t i = 0; i < count; i++) {
        keys[0][i] = (uint64_t)group[i] << 44 | (uint64_t)values[i];
        sizes[group[i]]++;
    }
    const uint64_t *sorted = keys[radix_sort(keys, NULL, count)];
    for (int64_t g = 0, first = 0; g < groups; first += sizes[g++])
        for (int64_t p = 0; p < wanted && sizes[g]; p++) {
            int64_t rank = (percents[p] * sizes[g] + 99) / 100;
            found[p * groups + g] = (int64_t)(sorted[first + (rank ? rank - 1 : 0)] & (((uint64_t)1 << 44) - 1));
        }
    free(keys[0]), free(keys[1]), free(sizes);
}
