/**
 * Numbers resources, so that amounts can be kept in arrays.
 *
 * 1. The first four are fixed (see NodeInfo); others get the next number when they are first seen, and keep it.
 * 2. Amounts are integers: thousandths of a cpu, units of everything else, rounded up, and at most MAX_SAFE_INTEGER.
 */
import { parseQuantity, type Quantity, scaledValue } from "#api";

const FIXED = ["cpu", "memory", "ephemeral-storage", "pods"];

export class ResourceNames {
  readonly #indexes = new Map<string, number>(FIXED.map((name, index) => [name, index]));
  readonly #names = [...FIXED];

  indexOf(name: string): number {
    let index = this.#indexes.get(name);
    if (index === undefined) {
      index = this.#names.length;
      this.#indexes.set(name, index);
      this.#names.push(name);
    }
    return index;
  }

  get size(): number {
    return this.#names.length;
  }

  /** Amounts by resource. */
  amounts(list: Readonly<Record<string, string>> | undefined): Float64Array {
    const entries = Object.entries(list ?? {}).filter(([name]) => isCounted(name));
    const indexes = entries.map(([name]) => this.indexOf(name));
    const array = new Float64Array(Math.max(FIXED.length, ...indexes.map((index) => index + 1)));
    for (const [at, [name, text]] of entries.entries()) array[indexes[at] ?? 0] = amountOf(name, parseQuantity(text));
    return array;
  }
}

export function amountOf(name: string, quantity: Quantity): number {
  return Math.min(Number(scaledValue(quantity, name === "cpu" ? -3 : 0)), Number.MAX_SAFE_INTEGER);
}

/** Whether kube-scheduler counts the resource: the fixed four, and scalar resources. */
export function isCounted(name: string): boolean {
  return (
    FIXED.includes(name) ||
    name.includes("/") ||
    name.startsWith("hugepages-") ||
    name.startsWith("attachable-volumes-")
  );
}
