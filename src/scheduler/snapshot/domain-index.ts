/**
 * The topology domains of all nodes for one label, as numbers.
 *
 * 1. A value keeps its number while a node has it; then the number may be reused.
 */
import type { Domains } from "../framework/index.ts";

export class DomainIndex implements Domains {
  readonly #numbers = new Map<string, number>();
  readonly #values: string[] = [];
  readonly #nodes: number[] = [];
  readonly #free: number[] = [];
  of: Int32Array<ArrayBuffer>;

  constructor(capacity: number) {
    this.of = new Int32Array(capacity).fill(-1);
  }

  get size(): number {
    return this.#values.length;
  }

  valueOf(domain: number): string {
    return this.#values[domain] ?? "";
  }

  numberOf(value: string): number | undefined {
    return this.#numbers.get(value);
  }

  grow(capacity: number): void {
    const next = new Int32Array(capacity).fill(-1);
    next.set(this.of);
    this.of = next;
  }

  /** Undefined: the node does not have the label, or was removed. */
  set(node: number, value: string | undefined): void {
    const before = this.of[node] ?? -1;
    if (before !== -1) {
      if (this.#values[before] === value) return;
      this.#leave(before);
    }
    this.of[node] = value === undefined ? -1 : this.#enter(value);
  }

  #enter(value: string): number {
    let number = this.#numbers.get(value);
    if (number === undefined) {
      number = this.#free.pop() ?? this.#values.length;
      this.#numbers.set(value, number);
      this.#values[number] = value;
      this.#nodes[number] = 0;
    }
    this.#nodes[number] = (this.#nodes[number] ?? 0) + 1;
    return number;
  }

  #leave(number: number): void {
    const left = (this.#nodes[number] ?? 0) - 1;
    this.#nodes[number] = left;
    if (left > 0) return;
    this.#numbers.delete(this.#values[number] ?? "");
    this.#free.push(number);
  }
}
