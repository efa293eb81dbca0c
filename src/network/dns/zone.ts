/**
 * The records of the cluster's zone by name, replaced one Service at a time.
 *
 * 1. A name exists if it, or a name below it, has a record: then a missing type is NODATA, not NXDOMAIN.
 * 2. Replacing the records of a Service costs the same however large the zone is.
 */
import type { DnsRecord } from "./records.ts";
import { undashed } from "./reverse.ts";

export const SPECIFICATION = "1.1.0";

export interface ZoneOptions {
  /** For example `cluster.local`. */
  readonly zone: string;
  /** The addresses of `ns.dns.<zone>`. */
  readonly serverAddresses: readonly string[];
}

export type Found =
  | { readonly kind: "records"; readonly records: readonly DnsRecord[] }
  /** The name exists, but has no record of this type. */
  | { readonly kind: "nothing" }
  | { readonly kind: "absent" };

export class Zone {
  readonly name: string;
  readonly #records = new Map<string, readonly DnsRecord[]>();
  /** The number of records at or below a name. */
  readonly #below = new Map<string, number>();
  readonly #owned = new Map<string, readonly DnsRecord[]>();
  readonly #namespaces = new Set<string>();
  /** Incremented by each change. */
  generation = 0;

  constructor({ zone, serverAddresses }: ZoneOptions) {
    this.name = zone;
    const server = `ns.dns.${zone}`;
    this.set("", [
      { name: zone, type: "NS", target: server },
      { name: `dns-version.${zone}`, type: "TXT", text: SPECIFICATION },
      ...serverAddresses.map(
        (address) => ({ name: server, type: address.includes(":") ? "AAAA" : "A", address }) as const,
      ),
    ]);
  }

  /** Replaces the records of one owner, and returns the previous ones. */
  set(owner: string, records: readonly DnsRecord[]): readonly DnsRecord[] {
    const before = this.#owned.get(owner) ?? [];
    for (const [name, old] of Map.groupBy(before, nameOf)) this.#remove(name, old);
    if (records.length === 0) this.#owned.delete(owner);
    else this.#owned.set(owner, records);
    for (const [name, more] of Map.groupBy(records, nameOf)) this.#add(name, more);
    this.generation += 1;
    return before;
  }

  setNamespaces(names: Iterable<string>): void {
    this.#namespaces.clear();
    for (const name of names) this.#namespaces.add(name);
    this.generation += 1;
  }

  /** Whether a name belongs to this zone. */
  contains(name: string): boolean {
    return name === this.name || name.endsWith(`.${this.name}`);
  }

  /** Whether there is a record of this name outside of the zone, such as a PTR: others are forwarded. */
  knows(name: string): boolean {
    return this.#records.has(name);
  }

  find(name: string, type: string): Found {
    const records = this.#records.get(name) ?? this.#podRecords(name);
    if (records.length > 0) {
      const wanted = records.filter((record) => record.type === type || type === "ANY");
      if (wanted.length > 0) return { kind: "records", records: wanted };
      const alias = records.filter((record) => record.type === "CNAME");
      return alias.length > 0 ? { kind: "records", records: alias } : { kind: "nothing" };
    }
    return this.#below.has(name) || this.#isBranch(name) ? { kind: "nothing" } : { kind: "absent" };
  }

  /** `10-0-0-1.<namespace>.pod.<zone>` resolves for every address, whether such a Pod exists or not. */
  #podRecords(name: string): readonly DnsRecord[] {
    const suffix = `.pod.${this.name}`;
    if (!name.endsWith(suffix)) return [];
    const [label = "", namespace = "", ...more] = name.slice(0, -suffix.length).split(".");
    const address = undashed(label);
    if (address === undefined || more.length > 0 || !this.#namespaces.has(namespace)) return [];
    return [{ name, type: address.includes(":") ? "AAAA" : "A", address }];
  }

  /** The names of Namespaces exist even if they are empty. */
  #isBranch(name: string): boolean {
    if (!name.endsWith(`.${this.name}`)) return name === this.name;
    const rest = name.slice(0, -this.name.length - 1);
    if (rest === "svc" || rest === "pod") return true;
    const [namespace = "", branch = "", ...more] = rest.split(".");
    return more.length === 0 && (branch === "svc" || branch === "pod") && this.#namespaces.has(namespace);
  }

  /** All records of one name at once: a headless Service may have a thousand. */
  #add(name: string, more: readonly DnsRecord[]): void {
    this.#records.set(name, [...(this.#records.get(name) ?? []), ...more]);
    for (const above of this.#pathOf(name)) this.#below.set(above, (this.#below.get(above) ?? 0) + more.length);
  }

  #remove(name: string, gone: readonly DnsRecord[]): void {
    const all = new Set(gone);
    const left = (this.#records.get(name) ?? []).filter((each) => !all.has(each));
    if (left.length === 0) this.#records.delete(name);
    else this.#records.set(name, left);
    for (const above of this.#pathOf(name)) {
      const count = (this.#below.get(above) ?? 0) - gone.length;
      if (count <= 0) this.#below.delete(above);
      else this.#below.set(above, count);
    }
  }

  /** The name and its parents within the zone. */
  *#pathOf(name: string): Generator<string> {
    for (let at = name; this.contains(at); at = at.slice(at.indexOf(".") + 1)) {
      yield at;
      if (at === this.name) return;
    }
  }
}

function nameOf({ name }: DnsRecord): string {
  return name;
}
