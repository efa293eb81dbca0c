/**
 * Places endpoints into slices so that few slices are written: each write is sent to every node.
 *
 * 1. Every endpoint is in exactly one slice, and no slice has more than `max`.
 * 2. An endpoint stays in its slice. Slices that are written anyway are filled first, the fullest first.
 * 3. The rest goes into one existing slice with enough room, the one that it fills best; otherwise into new slices.
 * 4. Slices are never merged: half-empty slices cost less than writes.
 */
import type { discovery } from "#api";
import { type Endpoint, identityOf, sameEndpoint } from "./endpoint.ts";

export type Slice = discovery.EndpointSlice;

export interface Placement {
  readonly create: readonly (readonly Endpoint[])[];
  readonly update: readonly { readonly slice: Slice; readonly endpoints: readonly Endpoint[] }[];
  readonly remove: readonly Slice[];
  readonly unchanged: readonly Slice[];
}

interface Kept {
  readonly slice: Slice;
  readonly endpoints: Endpoint[];
  changed: boolean;
}

export function place(existing: readonly Slice[], desired: readonly Endpoint[], max: number): Placement {
  const missing = new Map(desired.map((endpoint) => [identityOf(endpoint), endpoint]));
  const kept = existing.map((slice) => keep(slice, missing));
  const left = [...missing.values()];
  fill(
    kept.filter(({ changed, endpoints }) => changed && endpoints.length > 0),
    left,
    max,
  );
  const create: Endpoint[][] = [];
  while (left.length > 0) {
    const roomy = left.length < max ? bestFit(kept, left.length, max) : undefined;
    if (roomy !== undefined) {
      roomy.endpoints.push(...left.splice(0));
      roomy.changed = true;
    } else create.push(left.splice(0, max));
  }
  const changed = kept.filter((each) => each.changed);
  return {
    create,
    update: changed.filter(({ endpoints }) => endpoints.length > 0),
    remove: changed.filter(({ endpoints }) => endpoints.length === 0).map(({ slice }) => slice),
    unchanged: kept.filter((each) => !each.changed).map(({ slice }) => slice),
  };
}

/** The endpoints that stay in a slice. Removes them from `missing`, so that no second slice keeps them. */
function keep(slice: Slice, missing: Map<string, Endpoint>): Kept {
  const before = slice.endpoints ?? [];
  const endpoints: Endpoint[] = [];
  let changed = false;
  for (const endpoint of before) {
    const identity = identityOf(endpoint);
    const wanted = missing.get(identity);
    if (wanted === undefined) continue;
    missing.delete(identity);
    endpoints.push(wanted);
    if (!sameEndpoint(wanted, endpoint)) changed = true;
  }
  return { slice, endpoints, changed: changed || endpoints.length !== before.length };
}

function fill(slices: readonly Kept[], left: Endpoint[], max: number): void {
  for (const { endpoints } of [...slices].sort((a, b) => b.endpoints.length - a.endpoints.length))
    endpoints.push(...left.splice(0, Math.max(0, max - endpoints.length)));
}

function bestFit(slices: readonly Kept[], count: number, max: number): Kept | undefined {
  return slices
    .filter(({ changed, endpoints }) => !changed && endpoints.length + count <= max)
    .reduce<Kept | undefined>(
      (best, each) => (best === undefined || each.endpoints.length > best.endpoints.length ? each : best),
      undefined,
    );
}
