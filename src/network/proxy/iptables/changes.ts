/**
 * The input of iptables-restore --noflush that turns the present chains into the wanted ones. Chains that it does not
 * name stay as they are, with their counters. Each table is changed as a whole or not at all.
 *
 * A rule that several Services claim (the hairpin of an endpoint behind two of them, an address with two ports) stays
 * until the last claim ends.
 */
import type { Family } from "../../kernel/ip-family.ts";
import type { VirtualAddress } from "../virtual-addresses.ts";
import { fixedChains, SHARED } from "./chains.ts";
import { compiled, type Line, OWN_PREFIX, type OwnChain, type Table } from "./rules.ts";

const TABLES: readonly Table[] = ["filter", "nat"];

interface Owned {
  readonly lines: readonly Line[];
  readonly chains: readonly OwnChain[];
}

type Claims<T> = Map<string, Map<string, T>>;

export class IptablesState {
  readonly #family: Family;
  readonly #podCidrs: readonly string[];
  readonly #owned = new Map<string, Owned>();
  readonly #lines: Claims<Line> = new Map();
  readonly #chains: Claims<OwnChain> = new Map();

  constructor(family: Family, podCidrs: readonly string[]) {
    this.#family = family;
    this.#podCidrs = podCidrs;
  }

  /** The script for everything. `present`: existing chains of the nat table; those that nobody claims are removed. */
  whole(present: Iterable<string>): string {
    const fixed = fixedChains(this.#podCidrs);
    const stale = [...present].filter((name) => name.startsWith(OWN_PREFIX) && !this.#chains.has(name));
    const own = [...this.#chains.values()].flatMap((claims) => current(claims) ?? []).sort(byName);
    return TABLES.map((table) => {
      const lines = [...this.#lines.values()].flatMap((claims) => current(claims) ?? []);
      const chains = new Map<string, readonly string[]>([
        ...fixed[table],
        ...SHARED[table].map((chain): [string, string[]] => [
          chain,
          lines.filter((line) => line.table === table && line.chain === chain).map(({ rule }) => rule),
        ]),
        ...(table === "nat" ? own.map(({ name, rules }): [string, readonly string[]] => [name, rules]) : []),
      ]);
      // iptables-restore keeps chains in a list sorted by name: in descending order each is inserted at once.
      const names = [...chains.keys()].reverse();
      return script(table, { chains, names, removed: table === "nat" ? stale : [], deleted: [], added: [] });
    }).join("");
  }

  /** Replaces the addresses of these Services. Empty if nothing changes. */
  change(services: ReadonlyMap<string, readonly VirtualAddress[]>): string {
    const lines = new Map<string, Line | undefined>();
    const chains = new Map<string, OwnChain | undefined>();
    for (const [owner, all] of services) this.#own(owner, all, lines, chains);
    const rewritten = new Map<string, readonly string[]>();
    const removed: string[] = [];
    for (const [name, old] of chains) {
      const now = current(this.#chains.get(name));
      if (now === undefined) {
        if (old !== undefined) removed.push(name);
      } else if (old === undefined || !sameRules(old, now)) rewritten.set(name, now.rules);
    }
    const deleted: Line[] = [];
    const added: Line[] = [];
    for (const [id, old] of lines) {
      const now = current(this.#lines.get(id));
      if (old !== undefined && now === undefined) deleted.push(old);
      if (old === undefined && now !== undefined) added.push(now);
    }
    return TABLES.map((table) =>
      script(table, {
        chains: table === "nat" ? rewritten : new Map(),
        removed: table === "nat" ? removed : [],
        deleted: deleted.filter((line) => line.table === table),
        added: added.filter((line) => line.table === table),
      }),
    ).join("");
  }

  /** `lines`, `chains`: receive the present state of each touched place, unless it is there already. */
  #own(
    owner: string,
    all: readonly VirtualAddress[],
    lines: Map<string, Line | undefined>,
    chains: Map<string, OwnChain | undefined>,
  ): void {
    const before = this.#owned.get(owner) ?? { lines: [], chains: [] };
    const parts = all.filter(({ family }) => family === this.#family).map((vip) => compiled(vip, this.#podCidrs));
    const after = { lines: parts.flatMap((part) => part.lines), chains: parts.flatMap((part) => part.chains) };
    replace(this.#lines, owner, before.lines, after.lines, idOf, lines);
    replace(this.#chains, owner, before.chains, after.chains, ({ name }) => name, chains);
    if (after.lines.length + after.chains.length === 0) this.#owned.delete(owner);
    else this.#owned.set(owner, after);
  }
}

function replace<T>(
  claims: Claims<T>,
  owner: string,
  before: readonly T[],
  after: readonly T[],
  idOf: (each: T) => string,
  touched: Map<string, T | undefined>,
): void {
  const touch = (id: string) => {
    if (!touched.has(id)) touched.set(id, current(claims.get(id)));
  };
  for (const each of before) {
    const id = idOf(each);
    touch(id);
    const owners = claims.get(id);
    owners?.delete(owner);
    if (owners?.size === 0) claims.delete(id);
  }
  for (const each of after) {
    const id = idOf(each);
    touch(id);
    const owners = claims.get(id);
    if (owners === undefined) claims.set(id, new Map([[owner, each]]));
    else owners.set(owner, each);
  }
}

interface Script {
  /** Created or emptied, then filled. */
  readonly chains: ReadonlyMap<string, readonly string[]>;
  /** The order in which the chains are created. Default: that of `chains`. */
  readonly names?: readonly string[];
  readonly removed: readonly string[];
  readonly deleted: readonly Line[];
  readonly added: readonly Line[];
}

function script(table: Table, { chains, names = [...chains.keys()], removed, deleted, added }: Script): string {
  if (chains.size + removed.length + deleted.length + added.length === 0) return "";
  return [
    `*${table}`,
    ...[...names, ...removed].map((name) => `:${name} - [0:0]`),
    ...[...chains].flatMap(([name, rules]) => rules.map((rule) => `-A ${name} ${rule}`)),
    ...deleted.map(({ chain, rule }) => `-D ${chain} ${rule}`),
    ...added.map(({ chain, rule }) => `-A ${chain} ${rule}`),
    ...removed.map((name) => `-X ${name}`),
    "COMMIT",
    "",
  ].join("\n");
}

/** The value of the oldest claim. */
function current<T>(owners: ReadonlyMap<string, T> | undefined): T | undefined {
  return owners?.values().next().value;
}

/** Sorted like its own list, iptables-restore reads the rules of 10,000 chains in a third of the time. */
function byName({ name: a }: OwnChain, { name: b }: OwnChain): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function idOf({ table, chain, rule }: Line): string {
  return `${table} ${chain} ${rule}`;
}

function sameRules({ rules: a }: OwnChain, { rules: b }: OwnChain): boolean {
  return a.length === b.length && a.every((rule, at) => rule === b[at]);
}
