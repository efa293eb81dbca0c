/** The Service that has an address or port, and the reason why it does not get one. */
import type { KubeObject } from "#api";

export interface Owner {
  readonly namespace: string;
  readonly name: string;
}

export interface Refusal {
  readonly why: string;
}

export const full: Refusal = { why: "range is full" };

export function ownerFrom({ metadata }: Pick<KubeObject, "metadata">): Owner {
  return { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
}

export function sameOwner(a: Owner | undefined, b: Owner): boolean {
  return a !== undefined && a.namespace === b.namespace && a.name === b.name;
}
