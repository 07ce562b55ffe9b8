/* The yardstick: shoes of 8 decks, cut 7, no burn, shuffled from xoshiro256++ and dealt by table.
 *
 * Usage: reference SHOES. Prints the coups dealt, the seconds it took, and player, banker and tie.
 *
 * The same draws as protocol §5 (words of 32 bits, multiplied and rejected exactly; Lemire, ACM TOMACS 29, 2019),
 * the same forward Fisher-Yates and the same end of the shoe as §6. Only the words are cheaper: xoshiro256++
 * (Blackman and Vigna, ACM TOMS 47, 2021), each output split in two. It is fast, and predictable from its outputs.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DECKS = 8, SIZE = 52 * DECKS, CUT = SIZE - 7 };

static uint64_t state[4];
static uint64_t spare;
static int has_spare;

static inline uint64_t rotate(uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }

static inline uint64_t next64(void) {
    uint64_t result = rotate(state[0] + state[3], 23) + state[0];
    uint64_t shifted = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = rotate(state[3], 45);
    return result;
}

static inline uint32_t next32(void) {
    if (has_spare) {
        has_spare = 0;
        return (uint32_t)(spare >> 32);
    }
    spare = next64();
    has_spare = 1;
    return (uint32_t)spare;
}

static inline uint32_t below(uint32_t bound) {
    uint64_t product = (uint64_t)next32() * bound;
    if ((uint32_t)product < bound) {
        uint32_t threshold = -bound % bound; /* 2^32 mod bound */
        while ((uint32_t)product < threshold)
            product = (uint64_t)next32() * bound;
    }
    return (uint32_t)(product >> 32);
}

/* Cards used, and the outcome 0 player, 1 banker, 2 tie, by both two-card totals and the points of the next two. */
static uint8_t used_by[10000], outcome_by[10000];

static void fill_tables(void) {
    static const int banker_draws_up_to[10] = {3, 3, 4, 4, 5, 5, 6, 6, 2, 3};
    for (int at = 0; at < 10000; at++) {
        int player = at / 1000, banker = at / 100 % 10, next[2] = {at / 10 % 10, at % 10}, used = 4;
        if (player < 8 && banker < 8) {
            int up_to = 5, two_cards = banker;
            if (player < 6) {
                up_to = banker_draws_up_to[next[0]];
                player = (player + next[0]) % 10;
                used++;
            }
            if (two_cards <= up_to) {
                banker = (banker + next[used - 4]) % 10;
                used++;
            }
        }
        used_by[at] = (uint8_t)used;
        outcome_by[at] = player > banker ? 0 : player < banker ? 1 : 2;
    }
}

int main(int count, char **arguments) {
    if (count != 2)
        return 2;
    long shoes = atol(arguments[1]);
    static uint8_t fresh[SIZE], sum_mod_10[20];
    uint64_t outcomes[3] = {0, 0, 0};
    for (int i = 0; i < SIZE; i++)
        fresh[i] = (uint8_t)(i % 13 < 9 ? i % 13 + 1 : 0);
    for (int i = 0; i < 20; i++)
        sum_mod_10[i] = (uint8_t)(i % 10);
    fill_tables();
    for (int i = 0; i < 4; i++)
        state[i] = 0x9e3779b97f4a7c15u * (uint64_t)(i + 1);

    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (long shoe = 0; shoe < shoes; shoe++) {
        uint8_t points[SIZE];
        __builtin_memcpy(points, fresh, SIZE);
        for (int i = 0; i < SIZE - 1; i++) {
            uint32_t j = (uint32_t)i + below((uint32_t)(SIZE - i));
            uint8_t card = points[i];
            points[i] = points[j];
            points[j] = card;
        }
        for (int at = 0; at <= CUT;) {
            int player = sum_mod_10[points[at] + points[at + 2]], banker = sum_mod_10[points[at + 1] + points[at + 3]];
            int entry = player * 1000 + banker * 100 + points[at + 4] * 10 + points[at + 5];
            outcomes[outcome_by[entry]]++;
            at += used_by[entry];
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
    printf("%llu %.9f %llu %llu %llu\n", (unsigned long long)(outcomes[0] + outcomes[1] + outcomes[2]), seconds,
           (unsigned long long)outcomes[0], (unsigned long long)outcomes[1], (unsigned long long)outcomes[2]);
    return 0;
}
