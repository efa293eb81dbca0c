/**
 * The CIDRs of nodes: those in Node objects, and those given out that no Node shows yet.
 *
 * 1. A node has a CIDR of each pool, or none.
 * 2. A CIDR stays with its node until the Node shows another one or is deleted: a write that seemed to fail may have
 *    succeeded.
 */
import type { core } from "#api";
import type { Change } from "#client";
import { CidrPool, CidrPoolError } from "./cidr-pool.ts";

export interface NodeCidrsOptions {
  /** `--cluster-cidr`: at most one of each IP family. */
  readonly clusterCidrs: readonly string[];
  /** `--node-cidr-mask-size-ipv4` and `…-ipv6`. */
  readonly maskSize: { readonly ipv4: number; readonly ipv6: number };
  /** `--service-cluster-ip-range`: never given to nodes. */
  readonly serviceCidrs: readonly string[];
}

export class NodeCidrs {
  readonly #pools: readonly CidrPool[];
  readonly #held = new Map<string, readonly string[]>();

  constructor({ clusterCidrs, maskSize, serviceCidrs }: NodeCidrsOptions) {
    this.#pools = clusterCidrs.map((cidr) => new CidrPool(cidr, isV6(cidr) ? maskSize.ipv6 : maskSize.ipv4));
    for (const pool of this.#pools) for (const cidr of serviceCidrs) pool.take(cidr);
  }

  /** Returns whether a CIDR was released. */
  follow({ type, object }: Change<core.Node>): boolean {
    const { name = "" } = object.metadata;
    const shown = type === "deleted" ? [] : cidrsOf(object);
    // A Node without CIDRs may be one that was just given some.
    if (type !== "deleted" && shown.length === 0) return false;
    const before = this.#held.get(name) ?? [];
    if (before.join() === shown.join()) return false;
    this.#release(name);
    if (shown.length === 0) return before.length > 0;
    this.#held.set(name, shown);
    for (const [at, cidr] of shown.entries()) this.#pools[at]?.take(cidr);
    return before.length > 0;
  }

  /** CIDRs for a node that has none; undefined if a pool is exhausted. */
  give(name: string): readonly string[] | undefined {
    const before = this.#held.get(name);
    if (before !== undefined) return before;
    const given: string[] = [];
    for (const pool of this.#pools) {
      const cidr = pool.takeNext();
      if (cidr === undefined) {
        for (const [at, each] of given.entries()) this.#pools[at]?.free(each);
        return undefined;
      }
      given.push(cidr);
    }
    this.#held.set(name, given);
    return given;
  }

  #release(name: string): void {
    for (const [at, cidr] of (this.#held.get(name) ?? []).entries()) this.#pools[at]?.free(cidr);
    this.#held.delete(name);
  }
}

/** Throws CidrPoolError. */
export function checkRanges(options: NodeCidrsOptions): void {
  const { clusterCidrs } = options;
  if (new Set(clusterCidrs.map(isV6)).size < clusterCidrs.length)
    throw new CidrPoolError(`${clusterCidrs.join(",")}: at most one CIDR of each IP family`);
  new NodeCidrs(options);
}

function isV6(cidr: string): boolean {
  return cidr.includes(":");
}

export function cidrsOf({ spec }: core.Node): readonly string[] {
  if (spec?.podCIDRs !== undefined && spec.podCIDRs.length > 0) return spec.podCIDRs;
  return (spec?.podCIDR ?? "") === "" ? [] : [spec?.podCIDR ?? ""];
}
