/**
 * The Huffman code of RFC 7541, appendix B, for reading.
 *
 * The code is canonical: codes of one length follow each other in the order of their symbols, and a longer code starts
 * where the shorter ones end. So the lengths say everything. They make a tree, and the tree makes a machine that takes
 * a byte at a step: its state is the node that the bits so far lead to. No code is shorter than five bits, so a byte
 * ends at most two of them. (Taking as many bits as the next symbol has means branches that no processor foresees.)
 */

import { HpackError } from "./error.ts";

/** Bits of the code of each byte, and of the end of the string (EOS), which must not occur. */
const codeLengths: readonly number[] = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
  28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6,
  5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23,
  22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22,
  23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26,
  20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27,
  27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27,
  27, 27, 27, 26, 30,
];
const endOfString = 256;
const shortestCode = 5;
const longestPadding = 7;

/** Inner nodes: where a 0 and where a 1 leads, to another node or to ~symbol. The root is node 0. */
const zero: number[] = [];
const one: number[] = [];

/** Codes in the order of their lengths fill the tree from the left: `depth` is how many bits lead to this node. */
function grow(depth: number, leaves: (depth: number) => number | undefined): number {
  const symbol = leaves(depth);
  if (symbol !== undefined) return ~symbol;
  const node = zero.push(0) - 1;
  one.push(0);
  zero[node] = grow(depth + 1, leaves);
  one[node] = grow(depth + 1, leaves);
  return node;
}

const symbols = codeLengths
  .map((bits, symbol) => ({ bits, symbol }))
  .sort((a, b) => a.bits - b.bits || a.symbol - b.symbol);
let planted = 0;
grow(0, (depth) => (symbols[planted]?.bits === depth ? symbols[planted++]?.symbol : undefined));

/**
 * For each state << 8 | byte: the next state << 20, how many symbols end << 16, the second << 8, the first. 0: not
 * known yet. A step is found out when it is first taken: most of them never are, and all of them would delay every
 * start by milliseconds.
 */
const steps = new Int32Array(zero.length << 8);

function learn(state: number, byte: number): number {
  let node = state;
  let ended = 0;
  let found = 0;
  for (let bit = 7; bit >= 0; bit--) {
    const next = ((byte >>> bit) & 1 ? one : zero)[node] ?? 0;
    node = next >= 0 ? next : 0;
    if (next >= 0) continue;
    if (~next === endOfString) throw new HpackError("a Huffman string contains EOS");
    found |= ~next << (8 * ended++);
  }
  const step = (node << 20) | (ended << 16) | found;
  steps[(state << 8) | byte] = step;
  return step;
}

/** Whether a string may end in a state: what it has seen of the next code are ones, at most seven of them. */
const mayEnd = new Uint8Array(zero.length);
for (let node = 0, bits = 0; bits <= longestPadding; bits++, node = one[node] ?? 0) mayEnd[node] = 1;

/** How many bytes `decodeHuffman` may need for a string that is so long: it writes two at a time. */
export const huffmanRoom = (length: number) => Math.ceil((length * 8) / shortestCode) + 2;

/** Writes the string of block[start..end) to `out`, which has `huffmanRoom`, and returns its length. */
export function decodeHuffman(block: Uint8Array, start: number, end: number, out: Uint8Array): number {
  let length = 0;
  let state = 0;
  for (let at = start; at < end; at++) {
    const byte = block[at] ?? 0;
    const next = steps[(state << 8) | byte] || learn(state, byte);
    out[length] = next;
    out[length + 1] = next >>> 8;
    length += (next >>> 16) & 3;
    state = next >>> 20;
  }
  if (mayEnd[state] !== 1) throw new HpackError("a Huffman string is padded wrongly");
  return length;
}
