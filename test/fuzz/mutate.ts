/** Changes valid inputs: cut off, repeated, spliced with another, flipped, and with lengths that are too large. */
import type { Random } from "#base";

const LARGE = [0x7f, 0x80, 0xff] as const;

export function mutated(random: Random, seeds: readonly Buffer[]): Buffer {
  let bytes: Buffer = Buffer.from(random.pick(seeds));
  for (let left = random.integer(4); left > 0; left--) bytes = once(random, bytes, seeds);
  return bytes;
}

function once(random: Random, bytes: Buffer, seeds: readonly Buffer[]): Buffer {
  const at = random.integer(bytes.length + 1);
  const to = at + random.integer(Math.min(bytes.length - at, 40) + 1);
  switch (random.integer(6)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)]);
    case 2:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(to)]);
    case 3: {
      const other = random.pick(seeds);
      return Buffer.concat([bytes.subarray(0, at), other.subarray(random.integer(other.length + 1))]);
    }
    case 4:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from(random.bytes(random.integer(8))), bytes.subarray(to)]);
    default: {
      const copy = Buffer.from(bytes);
      if (at < copy.length) copy[at] = random.pick(LARGE);
      return copy;
    }
  }
}
