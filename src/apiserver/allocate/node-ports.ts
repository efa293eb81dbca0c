/**
 * Node ports. A port is taken by creating the key of its number, and free again when that is deleted:
 *
 *     /registry/ranges/servicenodeports/30080 → {"namespace":"default","name":"web"}
 *
 * 1. Creation is the lock: of any number of servers on one store, one gets the port. What the feed has reported only
 *    saves attempts. (Kubernetes keeps one bitmap of all ports, which every Service with a node port has to rewrite.)
 * 2. A port is given back only on behalf of the Service that it was given to, at the revision that gave it.
 */
import type { MetricsRegistry } from "#base";
import type { Change, Entry, Revision } from "#store";
import type { Subscriber } from "../cache/feed.ts";
import { STORE_PREFIX } from "../rest/resource.ts";
import type { StorageContext } from "../rest/server-context.ts";
import { storeCall } from "../rest/store-call.ts";
import { type PortMetrics, portMetrics } from "./allocator-metrics.ts";
import { lowerBand, places, portBands } from "./bands.ts";
import { full, type Owner, type Refusal, sameOwner } from "./owner.ts";

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

export const defaultNodePorts: PortRange = { first: 30_000, last: 32_767 };

const FIRST_IMAGINED = 32_769;

interface Taken {
  readonly owner: Owner;
  readonly revision: Revision;
}

export interface NodePortsOptions {
  readonly storage: StorageContext;
  readonly range: PortRange;
  readonly metrics: MetricsRegistry;
}

export class NodePorts implements Subscriber {
  readonly prefix = `${STORE_PREFIX}ranges/servicenodeports/`;
  readonly #storage: StorageContext;
  readonly #range: PortRange;
  readonly #taken = new Map<number, Taken>();
  readonly #metrics: PortMetrics;

  /** To be called before the feed loads. */
  constructor({ storage, range, metrics }: NodePortsOptions) {
    this.#storage = storage;
    this.#range = range;
    this.#metrics = portMetrics(metrics, range, () => this.#taken.size);
    storage.feed.subscribe(this);
  }

  async take(port: number, owner: Owner, dryRun: boolean): Promise<Refusal | undefined> {
    const { first, last } = this.#range;
    if (port < first || port > last) {
      return { why: `provided port is not in the valid range. The range of valid ports is ${first}-${last}` };
    }
    const free = dryRun ? !this.#taken.has(port) : await this.#create(port, owner);
    if (!dryRun) this.#metrics.allocated("static", free);
    return free ? undefined : { why: "provided port is already allocated" };
  }

  async takeNext(owner: Owner): Promise<number | Refusal> {
    const { first, last } = this.#range;
    const upper = first + lowerBand(last - first + 1, portBands);
    for (const port of places(first, last, upper, this.#storage.random)) {
      if (this.#taken.has(port) || !(await this.#create(port, owner))) continue;
      this.#metrics.allocated("dynamic", true);
      return port;
    }
    this.#metrics.allocated("dynamic", false);
    return full;
  }

  /**
   * The port that a dry run shows, as Kubernetes does: a number outside the range. `shown`: those that it has shown
   * already.
   */
  static imagined(shown: ReadonlySet<number>): number {
    return (shown.size === 0 ? FIRST_IMAGINED - 1 : Math.max(...shown)) + 1;
  }

  /** Frees a port, if it belongs to this owner. */
  async free(port: number, owner: Owner): Promise<boolean> {
    const taken = this.#taken.get(port);
    if (taken === undefined || !sameOwner(taken.owner, owner)) return false;
    const { store, feed } = this.#storage;
    const outcome = await storeCall(() => store.delete(this.#key(port), taken.revision));
    if (outcome.ok) await storeCall(() => feed.reached(outcome.revision));
    return outcome.ok;
  }

  *taken(): Generator<{ readonly port: number; readonly owner: Owner }> {
    for (const [port, { owner }] of this.#taken) yield { port, owner };
  }

  has(port: number): boolean {
    return this.#taken.has(port);
  }

  replace(entries: readonly Entry[]): void {
    this.#taken.clear();
    for (const entry of entries) this.#set(entry);
  }

  change({ key, entry }: Change): void {
    if (entry === undefined) this.#taken.delete(this.#portOf(key));
    else this.#set(entry);
  }

  async #create(port: number, owner: Owner): Promise<boolean> {
    const { store, feed } = this.#storage;
    const value = Buffer.from(JSON.stringify({ namespace: owner.namespace, name: owner.name }));
    const outcome = await storeCall(() => store.create(this.#key(port), value));
    if (outcome.ok) await storeCall(() => feed.reached(outcome.revision));
    return outcome.ok;
  }

  #set({ key, value, revision }: Entry): void {
    this.#taken.set(this.#portOf(key), { owner: this.#ownerIn(key, value), revision });
  }

  /** A value that cannot be read is nobody's: the repair frees its port. */
  #ownerIn(key: string, value: Buffer): Owner {
    try {
      return JSON.parse(value.toString("utf8")) as Owner;
    } catch (error) {
      this.#storage.feed.reportUnreadable(key, error);
      return { namespace: "", name: "" };
    }
  }

  #key(port: number): string {
    return `${this.prefix}${port}`;
  }

  #portOf(key: string): number {
    return Number(key.slice(this.prefix.length));
  }
}
