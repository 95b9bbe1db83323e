/* Powers of ten for shortest_double.c: 10^k = (high * 2^64 + low) * 2^e, rounded up, with the top
 * bit set. Made by tools/make-powers-of-ten, which checks every one.
 *
 * 10^k is the product of a large power, a multiple of 27, and a small one, 10^0 to 10^26.  Large
 * powers have 192 bits, rounded down, small ones are exact (5^26 has 61 bits), so 128 bits of the
 * product, rounded up, are the same as those of the exact power. */
#ifndef TRACETTA_BASE_POWERS_OF_TEN_H
#define TRACETTA_BASE_POWERS_OF_TEN_H

#include <stdint.h>

#include "base/wide.h"

struct power_of_ten {
    uint64_t high, low;
};

/* Returns the 128 most significant bits of 10^k, for -297 <= k <= 350. */
static inline struct power_of_ten get_power_of_ten(int k)
{
    static const uint64_t large_powers[][3] = {
        {0xa76c582338ed2621u, 0xaf2af2b80af6f24eu, 0x657c8f4d43323a36u},
        {0x873e4f75e2224e68u, 0x5a7744a6e804a291u, 0xcc35eddfcf0996d7u},
        {0xda7f5bf590966848u, 0xaf39a475506a899eu, 0xa30294cc2934e662u},
        {0xb080392cc4349decu, 0xbd8d794d96aacfb3u, 0xfe13a5c86af64418u},
        {0x8e938662882af53eu, 0x547eb47b7282ee9cu, 0x41b0230e1421487du},
        {0xe65829b3046b0afau, 0x0cb4a5a3112a5112u, 0xa3b561b1cb208396u},
        {0xba121a4650e4ddebu, 0x92f34d62616ce413u, 0x21a0183e10583cd3u},
        {0x964e858c91ba2655u, 0x3a6a07f8d510f86fu, 0xe9082f25e9c5e9ecu},
        {0xf2d56790ab41c2a2u, 0xfae27299423fb9c3u, 0x3695dad7e8858901u},
        {0xc428d05aa4751e4cu, 0xaa97e14c3c26b886u, 0x96842dc95323f5a8u},
        {0x9e74d1b791e07e48u, 0x775ea264cf55347du, 0xca49f1c05120c9c7u},
        {0x8000000000000000u, 0x0000000000000000u, 0x0000000000000000u},
        {0xcecb8f27f4200f3au, 0x0000000000000000u, 0x0000000000000000u},
        {0xa70c3c40a64e6c51u, 0x999090b65f67d924u, 0x0000000000000000u},
        {0x86f0ac99b4e8dafdu, 0x69a028bb3ded71a3u, 0xdf9f915627c04e28u},
        {0xda01ee641a708de9u, 0xe80e6f4820cc9495u, 0xd74baad03bc1d8d3u},
        {0xb01ae745b101e9e4u, 0x5ec05dcff72e7f8fu, 0xc04c79ffe324301fu},
        {0x8e41ade9fbebc27du, 0x14588f13be847307u, 0x23bd6a2059c002f5u},
        {0xe5d3ef282a242e81u, 0x8f1668c8a86da5fau, 0xf0b5ccf5176ecc7cu},
        {0xb9a74a0637ce2ee1u, 0x6d953e2bd7173692u, 0x88efb0037ac08bdeu},
        {0x95f83d0a1fb69cd9u, 0x4abdaf101564f98eu, 0x0d5a4af7b3a98e47u},
        {0xf24a01a73cf2dccfu, 0xbc633b39673c8cecu, 0x3d9c44cd2f36917cu},
        {0xc3b8358109e84f07u, 0x0a862f80ec4700c8u, 0x02606ea01029dc37u},
        {0x9e19db92b4e31ba9u, 0x6c07a2c26a8346d1u, 0x4944d9f52cd0dec2u},
    };
    static const uint64_t small_powers[] = {
        0x8000000000000000u, 0xa000000000000000u, 0xc800000000000000u, 0xfa00000000000000u,
        0x9c40000000000000u, 0xc350000000000000u, 0xf424000000000000u, 0x9896800000000000u,
        0xbebc200000000000u, 0xee6b280000000000u, 0x9502f90000000000u, 0xba43b74000000000u,
        0xe8d4a51000000000u, 0x9184e72a00000000u, 0xb5e620f480000000u, 0xe35fa931a0000000u,
        0x8e1bc9bf04000000u, 0xb1a2bc2ec5000000u, 0xde0b6b3a76400000u, 0x8ac7230489e80000u,
        0xad78ebc5ac620000u, 0xd8d726b7177a8000u, 0x878678326eac9000u, 0xa968163f0a57b400u,
        0xd3c21bcecceda100u, 0x84595161401484a0u, 0xa56fa5b99019a5c8u,
    };
    const uint64_t *large = large_powers[(k + 297) / 27], small = small_powers[(k + 297) % 27];
    const uint128 third = (uint128)large[2] * small,
                  second = (uint128)large[1] * small + (uint64_t)(third >> 64),
                  first = (uint128)large[0] * small + (uint64_t)(second >> 64);
    uint128 power = first;
    uint64_t rest = (uint64_t)second;
    if (!(power >> 127)) {
        power = power << 1 | rest >> 63;
        rest <<= 1;
    }
    power += (rest | (uint64_t)third) != 0;
    return (struct power_of_ten){(uint64_t)(power >> 64), (uint64_t)power};
}

#endif
