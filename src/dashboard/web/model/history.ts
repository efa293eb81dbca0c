/**
 * Figures over time, of many things: a bounded number of points for each, in one array.
 *
 * 1. What a round no longer has is forgotten; what it has for the first time begins there.
 * 2. The oldest point makes room for the newest.
 */
export interface Point {
  readonly atMs: number;
  readonly value: number;
}

interface Ring {
  readonly values: Float64Array;
  count: number;
  next: number;
}

export class History {
  readonly #length: number;
  #rings = new Map<string, Ring>();

  constructor(length: number) {
    this.#length = length;
  }

  get size(): number {
    return this.#rings.size;
  }

  /** All figures of one moment. */
  add(atMs: number, round: ReadonlyMap<string, number>): void {
    const kept = new Map<string, Ring>();
    for (const [key, value] of round) {
      const ring = this.#rings.get(key) ?? { values: new Float64Array(2 * this.#length), count: 0, next: 0 };
      ring.values[2 * ring.next] = atMs;
      ring.values[2 * ring.next + 1] = value;
      ring.next = (ring.next + 1) % this.#length;
      ring.count = Math.min(this.#length, ring.count + 1);
      kept.set(key, ring);
    }
    this.#rings = kept;
  }

  /** The oldest first. */
  of(key: string): readonly Point[] {
    const ring = this.#rings.get(key);
    if (ring === undefined) return [];
    const { values, count, next } = ring;
    return Array.from({ length: count }, (_, at) => {
      const index = (next - count + at + this.#length) % this.#length;
      return { atMs: values[2 * index] ?? 0, value: values[2 * index + 1] ?? 0 };
    });
  }

  last(key: string): number | undefined {
    const ring = this.#rings.get(key);
    return ring?.values[2 * ((ring.next - 1 + this.#length) % this.#length) + 1];
  }

  /** Of several things together, moment by moment; moments at which none has a figure are left out. */
  sum(keys: Iterable<string>): readonly Point[] {
    const sums = new Map<number, number>();
    for (const key of keys) for (const { atMs, value } of this.of(key)) sums.set(atMs, (sums.get(atMs) ?? 0) + value);
    return [...sums].map(([atMs, value]) => ({ atMs, value })).sort((a, b) => a.atMs - b.atMs);
  }
}
