/**
 * The nft script that turns the present table into the wanted one. nft applies it as a whole or not at all.
 *
 * An element that several Services claim (the hairpin of an endpoint behind two of them) stays until the last claim
 * ends.
 */
import { type Family, nftNames } from "../../kernel/ip-family.ts";
import type { VirtualAddress } from "../virtual-addresses.ts";
import { type Element, elementsOf, needsOf, type SetName } from "./elements.ts";
import { emptyTable, learnChain, pickChains, TABLE } from "./table.ts";

/** nft is slow with longer lists: commands are split. */
const ELEMENTS_PER_COMMAND = 2000;

/** Claims on an element by Service, oldest first: the value of the oldest counts. */
type Claims = Map<string, Element>;

/** Chains for up to this many endpoints exist from the start. */
const INITIAL_PICKS = 32;
const DEFAULT_AFFINITY_SECONDS = 10_800;

export type TableChange =
  | { readonly kind: "nothing" }
  | { readonly kind: "difference"; readonly script: string }
  /**
   * A chain is missing. nft cannot add it, because it fails to read back a table with such rules: replace the table.
   */
  | { readonly kind: "whole" };

export class NftablesState {
  readonly #family: Family;
  readonly #podCidrs: readonly string[];
  readonly #owned = new Map<string, readonly Element[]>();
  readonly #claims = new Map<string, Claims>();
  readonly #picks = new Set(Array.from({ length: INITIAL_PICKS }, (_, at) => at + 1));
  readonly #learns = new Set([DEFAULT_AFFINITY_SECONDS]);

  constructor(family: Family, podCidrs: readonly string[]) {
    this.#family = family;
    this.#podCidrs = podCidrs;
  }

  /** The script for the whole table: at the start, and when the kernel's state is in doubt. */
  whole(): string {
    const { family } = nftNames(this.#family);
    const all = [...this.#claims.values()].flatMap((claims) => current(claims) ?? []);
    return [
      emptyTable(this.#family, this.#podCidrs),
      ...[...this.#picks].map((count) => pickChains(family, count)),
      ...[...this.#learns].map((seconds) => learnChain(family, seconds)),
      ...this.#commands("add", all),
    ].join("\n");
  }

  /** Replaces the addresses of these Services. */
  change(services: ReadonlyMap<string, readonly VirtualAddress[]>): TableChange {
    const before = new Map<string, Element | undefined>();
    const chains = this.#picks.size + this.#learns.size;
    for (const [owner, all] of services) {
      const addresses = all.filter((address) => address.family === this.#family);
      const { picks, affinitySeconds } = needsOf(addresses);
      for (const count of picks) this.#picks.add(count);
      for (const seconds of affinitySeconds) this.#learns.add(seconds);
      this.#own(owner, elementsOf(addresses), before);
    }
    if (this.#picks.size + this.#learns.size > chains) return { kind: "whole" };
    const removed: Element[] = [];
    const added: Element[] = [];
    for (const [id, old] of before) {
      const now = current(this.#claims.get(id));
      if (old?.value === now?.value && (old === undefined) === (now === undefined)) continue;
      if (old !== undefined) removed.push(old);
      if (now !== undefined) added.push(now);
    }
    // An element with the same key and another value has to be removed first.
    const script = [...this.#commands("delete", removed), ...this.#commands("add", added)].join("\n");
    return script === "" ? { kind: "nothing" } : { kind: "difference", script };
  }

  /** `before`: receives the element at each touched place, unless it is there already. */
  #own(owner: string, elements: readonly Element[], before: Map<string, Element | undefined>): void {
    const touch = (id: string) => {
      if (!before.has(id)) before.set(id, current(this.#claims.get(id)));
    };
    for (const element of this.#owned.get(owner) ?? []) {
      const id = idOf(element);
      touch(id);
      const claims = this.#claims.get(id);
      claims?.delete(owner);
      if (claims?.size === 0) this.#claims.delete(id);
    }
    if (elements.length === 0) this.#owned.delete(owner);
    else this.#owned.set(owner, elements);
    for (const element of elements) {
      const id = idOf(element);
      touch(id);
      const claims = this.#claims.get(id);
      if (claims === undefined) this.#claims.set(id, new Map([[owner, element]]));
      else claims.set(owner, element);
    }
  }

  #commands(verb: "add" | "delete", elements: readonly Element[]): string[] {
    const { family } = nftNames(this.#family);
    const bySet = new Map<SetName, string[]>();
    for (const { set, key, value } of elements) {
      const text = value === undefined ? key : `${key} : ${value}`;
      const list = bySet.get(set);
      if (list === undefined) bySet.set(set, [text]);
      else list.push(text);
    }
    return [...bySet].flatMap(([set, all]) =>
      chunks(all).map((list) => `${verb} element ${family} ${TABLE} ${set} { ${list.join(", ")} }`),
    );
  }
}

function current(claims: Claims | undefined): Element | undefined {
  return claims?.values().next().value;
}

/** The place of an element: two Services that claim the same address and port share it. */
function idOf({ set, key }: Element): string {
  return `${set} ${key}`;
}

function chunks<T>(all: readonly T[]): T[][] {
  const count = Math.ceil(all.length / ELEMENTS_PER_COMMAND);
  return Array.from({ length: count }, (_, at) =>
    all.slice(at * ELEMENTS_PER_COMMAND, (at + 1) * ELEMENTS_PER_COMMAND),
  );
}
