/**
 * When V8 optimizes a function for good.
 *
 * A server runs thousands of functions once for each request. V8's default compiles each of them with its slowest
 * compiler after 3,000 calls: a fifth to a quarter of the processor time of the first requests, on other threads and,
 * where a compilation ends, on this one. Later is cheaper, and code of the faster compiler is nearly as good: patches
 * 9,000 to 15,000 of a Pod take the same.
 *
 * kbench (2026-11-20, two rounds each in turn, a machine with much other load, µs of processor), with 40,000 calls: the
 * first 3,000 Pods 479, 522 → 377, 371; the 6,000 patches after them 423, 419 → 306, 332. GET and ConfigMaps as before,
 * within the noise.
 */
import { setFlagsFromString } from "node:v8";

const CALLS = 20_000;

export function optimizeLater(): void {
  setFlagsFromString(`--invocation-count-for-turbofan=${CALLS}`);
}
