#ifndef BASE64_BLOCKS_H
#define BASE64_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Whether this processor has the instructions that `base64_blocks` needs: AVX2, which x86-64 servers have had since 2013.
bool base64_blocks_works(void);

/// Decodes base64 (RFC 4648, 4) without padding, in blocks of 32 characters, 24 bytes each.
///
/// It stops where fewer than 44 characters are left, or where fewer than 32 bytes have room, since a block is stored with eight
/// bytes of its successor. So it reads nothing beyond `count` characters, and writes nothing beyond `capacity` bytes.
///
/// Call it only where `base64_blocks_works`; built for another architecture, it decodes nothing.
///
/// - Returns: how many characters were decoded, or -1 if one of them is not in the alphabet.
ptrdiff_t base64_blocks(const uint8_t *text, size_t count, uint8_t *bytes, size_t capacity);

#endif
