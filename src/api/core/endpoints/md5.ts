/** MD5 (RFC 1321), for the order of endpoint subsets. Nothing here depends on its strength. */

const shifts = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];
const sines = Array.from({ length: 64 }, (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32) >>> 0);

/** In hexadecimal. */
export function md5(text: string): string {
  const message = padded(new TextEncoder().encode(text));
  const state: [number, number, number, number] = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];
  for (let at = 0; at < message.byteLength; at += 64) mix(state, message, at);
  const bytes = new DataView(new ArrayBuffer(16));
  for (const [i, word] of state.entries()) bytes.setUint32(4 * i, word, true);
  return Array.from(new Uint8Array(bytes.buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function padded(bytes: Uint8Array): DataView {
  const length = Math.ceil((bytes.length + 9) / 64) * 64;
  const whole = new Uint8Array(length);
  whole.set(bytes);
  whole[bytes.length] = 0x80;
  const view = new DataView(whole.buffer);
  view.setBigUint64(length - 8, BigInt(bytes.length) * 8n, true);
  return view;
}

function mix(state: [number, number, number, number], block: DataView, at: number): void {
  let [a, b, c, d] = state;
  for (let i = 0; i < 64; i++) {
    const round = i >> 4;
    const [f, word] = [
      () => [(b & c) | (~b & d), i] as const,
      () => [(d & b) | (~d & c), (5 * i + 1) % 16] as const,
      () => [b ^ c ^ d, (3 * i + 5) % 16] as const,
      () => [c ^ (b | ~d), (7 * i) % 16] as const,
    ][round]?.() ?? [0, 0];
    const sum = (a + f + (sines[i] ?? 0) + block.getUint32(at + 4 * word, true)) | 0;
    const shift = shifts[4 * round + (i % 4)] ?? 0;
    [a, d, c, b] = [d, c, b, (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0];
  }
  state[0] = (state[0] + a) >>> 0;
  state[1] = (state[1] + b) >>> 0;
  state[2] = (state[2] + c) >>> 0;
  state[3] = (state[3] + d) >>> 0;
}
