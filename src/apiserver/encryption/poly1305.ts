/**
 * Poly1305, the one-time authenticator of RFC 8439, section 2.5: a polynomial over the message's blocks, modulo 2^130 - 5.
 *
 * 1. Numbers are ten limbs of 13 bits: products and their sums stay whole in a double.
 * 2. A key is good for one message only.
 */
const LIMBS = 10;
const BITS = 13;
const MASK = (1 << BITS) - 1;

export function poly1305(message: Uint8Array, key: Uint8Array): Uint8Array {
  const r = limbsOf(clamped(key.subarray(0, 16)), 0);
  const h = new Float64Array(LIMBS);
  const block = new Uint8Array(16);
  for (let at = 0; at < message.length; at += 16) {
    const part = message.subarray(at, at + 16);
    block.fill(0);
    block.set(part);
    if (part.length < 16) block[part.length] = 1;
    const m = limbsOf(block, part.length < 16 ? 0 : 1);
    for (let i = 0; i < LIMBS; i++) h[i] = (h[i] ?? 0) + (m[i] ?? 0);
    multiply(h, r);
  }
  return tagOf(reduced(h), key.subarray(16, 32));
}

function clamped(r: Uint8Array): Uint8Array {
  const out = Uint8Array.from(r);
  for (const i of [3, 7, 11, 15]) out[i] = (out[i] ?? 0) & 15;
  for (const i of [4, 8, 12]) out[i] = (out[i] ?? 0) & 252;
  return out;
}

/** Little-endian bytes, and one bit above them. */
function limbsOf(bytes: Uint8Array, top: number): Float64Array {
  const limbs = new Float64Array(LIMBS);
  let [held, bits, limb] = [0, 0, 0];
  for (let i = 0; i <= 16; i++) {
    held |= (i < 16 ? (bytes[i] ?? 0) : top) << bits;
    bits += 8;
    if (bits >= BITS) {
      limbs[limb++] = held & MASK;
      held >>>= BITS;
      bits -= BITS;
    }
  }
  if (limb < LIMBS) limbs[limb] = held & MASK;
  return limbs;
}

/** h = h * r mod 2^130 - 5, not yet unique. What goes beyond 2^130 comes back five times. */
function multiply(h: Float64Array, r: Float64Array): void {
  const product = new Float64Array(LIMBS);
  for (let i = 0; i < LIMBS; i++) {
    let sum = 0;
    for (let j = 0; j < LIMBS; j++) {
      sum += j <= i ? (h[j] ?? 0) * (r[i - j] ?? 0) : 5 * (h[j] ?? 0) * (r[i - j + LIMBS] ?? 0);
    }
    product[i] = sum;
  }
  carry(product);
  h.set(product);
}

function carry(limbs: Float64Array): void {
  for (let round = 0; round < 2; round++) {
    let over = 0;
    for (let i = 0; i < LIMBS; i++) {
      const value = (limbs[i] ?? 0) + over;
      over = Math.floor(value / (MASK + 1));
      limbs[i] = value - over * (MASK + 1);
    }
    limbs[0] = (limbs[0] ?? 0) + 5 * over;
  }
}

/** The one number below 2^130 - 5 that is congruent. */
function reduced(h: Float64Array): Float64Array {
  carry(h);
  const less = Float64Array.from(h);
  less[0] = (less[0] ?? 0) + 5;
  let over = 0;
  for (let i = 0; i < LIMBS; i++) {
    const value = (less[i] ?? 0) + over;
    over = value > MASK ? 1 : 0;
    less[i] = value - over * (MASK + 1);
  }
  return over === 1 ? less : h;
}

function tagOf(h: Float64Array, s: Uint8Array): Uint8Array {
  const tag = new Uint8Array(16);
  let [held, bits, limb, over] = [0, 0, 0, 0];
  for (let i = 0; i < 16; i++) {
    while (bits < 8) {
      held |= (h[limb++] ?? 0) << bits;
      bits += BITS;
    }
    const sum = (held & 255) + (s[i] ?? 0) + over;
    tag[i] = sum & 255;
    over = sum >>> 8;
    held >>>= 8;
    bits -= 8;
  }
  return tag;
}
