/**
 * Applies virtual addresses with nft: the whole table first, then differences.
 *
 * 1. A refused difference means that the kernel's table is not as expected: the whole table is replaced.
 * 2. Session affinity to an endpoint ends when the endpoint is gone.
 */
import type { Logger } from "#base";
import { type Family, familyOf, nftNames } from "../../kernel/ip-family.ts";
import { type Program, ProgramError } from "../../kernel/program.ts";
import type { VirtualAddress } from "../virtual-addresses.ts";
import { NftablesState } from "./changes.ts";
import { TABLE } from "./table.ts";

export interface NftablesOptions {
  readonly families: readonly Family[];
  readonly podCidrs: readonly string[];
  readonly run: Program;
  readonly log: Logger;
}

export class Nftables {
  readonly #options: NftablesOptions;
  readonly #states: ReadonlyMap<Family, NftablesState>;
  readonly #sticky = new Map<string, readonly VirtualAddress[]>();
  #isWhole = false;

  constructor(options: NftablesOptions) {
    this.#options = options;
    this.#states = new Map(
      options.families.map((family) => [family, new NftablesState(family, cidrsOf(family, options.podCidrs))]),
    );
  }

  async apply(services: ReadonlyMap<string, readonly VirtualAddress[]>, signal: AbortSignal): Promise<void> {
    const changes = [...this.#states.values()].map((state) => state.change(services));
    const differences = changes.flatMap((change) => (change.kind === "difference" ? [change.script] : []));
    if (!this.#isWhole || changes.some(({ kind }) => kind === "whole")) await this.resync(signal);
    else if (differences.length > 0) await this.#applyDifference(differences.join("\n"), signal);
    await this.#endAffinityToGone(services, signal);
  }

  /** Replaces the whole table in one transaction. Connections and session affinity survive. */
  async resync(signal: AbortSignal): Promise<void> {
    const scripts: string[] = [];
    for (const [family, state] of this.#states) {
      scripts.push(state.whole(), ...this.#affinityCommands(family, await this.#affinities(family, signal)));
    }
    this.#isWhole = false;
    await this.#options.run("nft", ["-f", "-"], scripts.join("\n"), signal);
    this.#isWhole = true;
  }

  async remove(signal: AbortSignal): Promise<void> {
    const tables = [...this.#states.keys()].map((family) => `${nftNames(family).family} ${TABLE}`);
    const script = tables.map((table) => `table ${table}\ndelete table ${table}`).join("\n");
    await this.#options.run("nft", ["-f", "-"], script, signal);
  }

  async #applyDifference(script: string, signal: AbortSignal): Promise<void> {
    const { run, log } = this.#options;
    try {
      await run("nft", ["-f", "-"], script, signal);
    } catch (error) {
      if (!(error instanceof ProgramError)) throw error;
      log.warn("the proxy's table is not as expected and is replaced", { error });
      await this.resync(signal);
    }
  }

  /** Removes session affinity to endpoints that a Service no longer has. */
  async #endAffinityToGone(
    services: ReadonlyMap<string, readonly VirtualAddress[]>,
    signal: AbortSignal,
  ): Promise<void> {
    const gone = new Set<string>();
    for (const [key, addresses] of services) {
      const now = addresses.filter(({ affinitySeconds }) => affinitySeconds !== undefined);
      const left = new Set(now.flatMap(endpointKeys));
      for (const each of (this.#sticky.get(key) ?? []).flatMap(endpointKeys)) if (!left.has(each)) gone.add(each);
      if (now.length === 0) this.#sticky.delete(key);
      else this.#sticky.set(key, now);
    }
    if (gone.size === 0) return;
    for (const family of this.#states.keys()) await this.#forget(family, gone, signal);
  }

  async #forget(family: Family, gone: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const { run } = this.#options;
    const { family: ip } = nftNames(family);
    const all = await this.#affinities(family, signal);
    const stale = all.filter(({ vip, endpoint }) => gone.has(`${vip} ${endpoint}`));
    // One by one: an element that has timed out meanwhile must not fail the others.
    for (const { client } of stale) {
      await run("nft", ["-f", "-"], `delete element ${ip} ${TABLE} affinity { ${client} }`, signal).catch(
        (error: unknown) => {
          if (!(error instanceof ProgramError)) throw error;
        },
      );
    }
  }

  /** Empty if there is no such table yet. */
  async #affinities(family: Family, signal: AbortSignal): Promise<readonly Affinity[]> {
    const { family: ip } = nftNames(family);
    try {
      return affinitiesIn(await this.#options.run("nft", ["-j", "list", "map", ip, TABLE, "affinity"], "", signal));
    } catch (error) {
      if (error instanceof ProgramError) return [];
      throw error;
    }
  }

  #affinityCommands(family: Family, all: readonly Affinity[]): string[] {
    if (all.length === 0) return [];
    const { family: ip } = nftNames(family);
    const elements = all.map(
      ({ client, seconds, left, endpoint }) =>
        `${client} timeout ${seconds}s expires ${left}s : ${endpoint.replace(" ", " . ")}`,
    );
    return [`add element ${ip} ${TABLE} affinity { ${elements.join(", ")} }`];
  }
}

/** A client and its endpoint. */
interface Affinity {
  readonly client: string;
  readonly vip: string;
  readonly endpoint: string;
  readonly seconds: number;
  /** Remaining seconds. */
  readonly left: number;
}

type Concatenated = readonly (string | number)[];

/** Reads the output of `nft -j list map`. */
function affinitiesIn(json: string): Affinity[] {
  const { nftables } = JSON.parse(json) as { nftables: readonly { map?: { elem?: readonly unknown[] } }[] };
  return nftables
    .flatMap(({ map }) => map?.elem ?? [])
    .flatMap((entry) => {
      const [key, value] = entry as [
        { elem?: { val?: { concat?: Concatenated }; timeout?: number; expires?: number } },
        { concat?: Concatenated },
      ];
      const { val, timeout: seconds = 0, expires: left = 0 } = key.elem ?? {};
      if (val?.concat === undefined || value.concat === undefined || left === 0) return [];
      const [, address, protocol, port] = val.concat;
      const vip = `${address} ${protocol} ${port}`;
      return [{ client: val.concat.join(" . "), vip, endpoint: value.concat.join(" "), seconds, left }];
    });
}

function endpointKeys({ address, protocol, port, endpoints, endpointsFromInside = [] }: VirtualAddress): string[] {
  return [...endpoints, ...endpointsFromInside].map(
    (each) => `${address} ${protocol} ${port} ${each.address} ${each.port}`,
  );
}

function cidrsOf(family: Family, cidrs: readonly string[]): string[] {
  return cidrs.filter((cidr) => familyOf(cidr) === family);
}
