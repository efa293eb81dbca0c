/** Sums by topology domain, and deltas on top of them for trials. */
import type { Domains } from "../../framework/index.ts";

export interface Tally {
  readonly domains: Domains;
  /** By domain. */
  readonly sums: Float64Array;
}

export function emptyTally(domains: Domains): Tally {
  return { domains, sums: new Float64Array(domains.size) };
}

/** Adds `weight` for each counted pod to the domain of its node. Returns whether there was any. */
export function addCounts({ domains, sums }: Tally, counts: Int32Array, nodes: number, weight = 1): boolean {
  const { of } = domains;
  let any = false;
  for (let node = 0; node < nodes; node++) {
    const count = counts[node] ?? 0;
    const domain = of[node] ?? -1;
    if (count === 0 || domain === -1) continue;
    sums[domain] = (sums[domain] ?? 0) + weight * count;
    any = true;
  }
  return any;
}

/** One tally by topology key. */
export class Tallies {
  readonly #of = new Map<string, Tally>();
  readonly #domains: (topologyKey: string) => Domains;

  constructor(domains: (topologyKey: string) => Domains) {
    this.#domains = domains;
  }

  get all(): readonly Tally[] {
    return [...this.#of.values()];
  }

  of(topologyKey: string): Tally {
    let tally = this.#of.get(topologyKey);
    if (tally === undefined) {
      tally = emptyTally(this.#domains(topologyKey));
      this.#of.set(topologyKey, tally);
    }
    return tally;
  }
}

/** Changes by tally and domain. Immutable. */
export type Deltas = ReadonlyMap<Tally, ReadonlyMap<number, number>>;

export const NO_DELTAS: Deltas = new Map();

export function sumAt(tally: Tally, domain: number, deltas: Deltas): number {
  return (tally.sums[domain] ?? 0) + (deltas.size === 0 ? 0 : (deltas.get(tally)?.get(domain) ?? 0));
}

export function changed(deltas: Deltas, tally: Tally, domain: number, by: number): Deltas {
  if (domain === -1) return deltas;
  const own = new Map(deltas.get(tally));
  own.set(domain, (own.get(domain) ?? 0) + by);
  return new Map(deltas).set(tally, own);
}
