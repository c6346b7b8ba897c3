"""The hash functions, in plain integers. Twin of `native/hash.hpp`. All constants are part of the format."""

from __future__ import annotations

M64 = (1 << 64) - 1
M32 = (1 << 32) - 1
K0, K1, K2, K3 = 0xFFA0761D6478BD64, 0xFFE7037ED1A0B428, 0x8EBC6AF09C88C6E3, 0x589965CC75374CC3


def token_hash(token: bytes) -> int:
    """Hash a token to 64 bits, 16 bytes at a time, by 64 × 64 → 128 bit products (the way of wyhash, Wang Yi 2019)."""
    a, b = K0, K1 ^ len(token)
    while len(token) > 16:
        product = (a ^ int.from_bytes(token[:8], "little")) * (b ^ int.from_bytes(token[8:16], "little"))
        a, b = product & M64 ^ K2, product >> 64 ^ K3
        token = token[16:]
    product = (a ^ int.from_bytes(token[:8], "little")) * (b ^ int.from_bytes(token[8:], "little"))
    product = (product & M64 ^ K2) * (product >> 64 ^ K3)
    return product & M64 ^ product >> 64


def avalanche(x: int) -> int:
    """Mix 64 bits bijectively: SplitMix64's finalizer (Steele, Lea, Flood, OOPSLA 2014)."""
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & M64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & M64
    return x ^ x >> 31


def avalanche32(x: int) -> int:
    """Mix 32 bits bijectively: MurmurHash3's 32-bit finalizer (Appleby)."""
    x = (x ^ x >> 16) * 0x85EBCA6B & M32
    x = (x ^ x >> 13) * 0xC2B2AE35 & M32
    return x ^ x >> 16
