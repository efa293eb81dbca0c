/**
 * Topology-aware routing: hints that keep traffic in its zone (`service.kubernetes.io/topology-mode: Auto`).
 *
 *     zone shares, ready endpoints ──► endpoints wanted by zone ──► hints: own zone, some for zones with too few
 *
 * 1. Each zone gets endpoints in proportion to its CPUs. If that would overload an endpoint by more than 20 %, there
 *    are no hints at all.
 * 2. Slices that are not written anyway keep their hints, if these leave every other zone its minimum.
 * 3. Every ready endpoint has exactly one hint, and no other endpoint has any: consumers use hints only if all have
 *    one.
 */
import type { core } from "#api";
import type { IpFamily } from "../services/index.ts";
import { type Endpoint, sameEndpoint } from "./endpoint.ts";
import type { ZoneShares } from "./zone-shares.ts";

const MODE = "service.kubernetes.io/topology-mode";
const OLD_MODE = "service.kubernetes.io/topology-aware-hints";
/** The accepted overload of an endpoint. */
const OVERLOAD = 0.2;

export function asksForHints({ metadata: { annotations = {} } }: Pick<core.Service, "metadata">): boolean {
  const { [OLD_MODE]: old, [MODE]: mode = "" } = annotations;
  return ["Auto", "auto"].includes(old ?? mode);
}

type Slice = { readonly endpoints?: readonly Endpoint[] };

/** Slices of one IP family. */
export interface FamilySlices<C extends Slice, S extends Slice> {
  readonly create: readonly C[];
  readonly update: readonly S[];
  readonly unchanged: readonly S[];
}

/** `why`: the reason why there are no hints. */
export type Hinted<C extends Slice, S extends Slice> = FamilySlices<C, S> & { readonly why?: string };

export function addHints<C extends Slice, S extends Slice>(
  slices: FamilySlices<C, S>,
  shares: ZoneShares | undefined,
): Hinted<C, S> {
  const without = (why: string) => ({ ...removeHints(slices), why });
  const ready = [...slices.create, ...slices.update, ...slices.unchanged].flatMap(readyOf);
  const wanted = allocate(shares, ready.length);
  if (typeof wanted === "string") return without(wanted);
  const given = new Map<string, number>();
  const kept = slices.unchanged.filter((slice) => keeps(slice, wanted, given));
  const open = [...slices.create, ...slices.update, ...slices.unchanged.filter((slice) => !kept.includes(slice))];
  const endpoints = open.flatMap(readyOf);
  if (endpoints.some(({ zone = "" }) => zone === "")) return without(NO_ZONE);
  for (const { zone = "" } of endpoints) count(given, zone);
  const moves = movesBetween(wanted, given);
  const hint = hinter(moves);
  const create = slices.create.map(hint);
  const update = slices.update.map(hint);
  const looked = slices.unchanged.map((slice) => ({ slice, next: kept.includes(slice) ? slice : hint(slice) }));
  const changed = looked.filter(({ slice, next }) => !sameEndpoints(slice, next));
  return {
    create,
    update: [...update, ...changed.map(({ next }) => next)],
    unchanged: looked.filter((each) => !changed.includes(each)).map(({ slice }) => slice),
  };
}

export function removeHints<C extends Slice, S extends Slice>(slices: FamilySlices<C, S>): FamilySlices<C, S> {
  const bare = <T extends Slice>(slice: T) => withEndpoints(slice, withoutHints);
  const isHinted = ({ endpoints }: Slice) => endpoints?.some(({ hints }) => hints !== undefined) === true;
  return {
    create: slices.create.map(bare),
    update: [...slices.update, ...slices.unchanged.filter(isHinted)].map(bare),
    unchanged: slices.unchanged.filter((slice) => !isHinted(slice)),
  };
}

interface Allocation {
  readonly least: number;
  readonly most: number;
  readonly desired: number;
}

/** The wanted endpoints by zone, or why it is impossible. */
function allocate(shares: ZoneShares | undefined, count: number): ReadonlyMap<string, Allocation> | string {
  if (shares === undefined) return NO_NODE_INFO;
  const sizes = `(${count} endpoints, ${shares.size} zones)`;
  if (shares.size > count) return `${TOO_FEW} ${sizes}`;
  const parts = [...shares].map(([zone, share]) => {
    const desired = share * count;
    const least = Math.ceil(desired * (1 / (1 + OVERLOAD)));
    return { zone, least, desired: Math.max(desired, least) };
  });
  const spare = count - parts.reduce((sum, { least }) => sum + least, 0);
  if (spare < 0) return `${OVERLOADED} ${sizes}`;
  return new Map(parts.map(({ zone, least, desired }) => [zone, { least, desired, most: least + spare }]));
}

/** Whether a slice can keep its hints, which then count for its zones. */
function keeps(slice: Slice, wanted: ReadonlyMap<string, Allocation>, given: Map<string, number>): boolean {
  const own = new Map<string, number>();
  for (const { hints } of readyOf(slice)) {
    const zones = hints?.forZones ?? [];
    if (zones.length === 0) return false;
    for (const { name } of zones) count(own, name);
  }
  for (const [zone, more] of own) if ((given.get(zone) ?? 0) + more > (wanted.get(zone)?.most ?? 0)) return false;
  for (const [zone, more] of own) count(given, zone, more);
  return true;
}

interface Moves {
  readonly from: Map<string, number>;
  readonly to: Map<string, number>;
}

/** How many endpoints zones with too many give to zones with too few: one by one, from the largest surplus. */
function movesBetween(wanted: ReadonlyMap<string, Allocation>, given: ReadonlyMap<string, number>): Moves {
  const [spare, missing] = [new Map<string, number>(), new Map<string, number>()];
  for (const [zone, { desired }] of wanted) {
    const more = (given.get(zone) ?? 0) - desired;
    if (more > 0) spare.set(zone, more);
    else if (more < 0) missing.set(zone, -more);
  }
  const moves: Moves = { from: new Map(), to: new Map() };
  for (;;) {
    const [[from, has], [to, lacks]] = [mostOf(spare), mostOf(missing)];
    // A difference of half an endpoint is ignored, unless the other zone is off by a whole one.
    if (Math.max(has, lacks) < 1 || Math.min(has, lacks) < 0.5) return moves;
    count(moves.from, from);
    count(moves.to, to);
    count(spare, from, -1);
    count(missing, to, -1);
  }
}

function mostOf(zones: ReadonlyMap<string, number>): readonly [zone: string, amount: number] {
  return [...zones].reduce<readonly [string, number]>((most, each) => (each[1] > most[1] ? each : most), ["", 0]);
}

/** Uses up the transfers, in the order of the slices. */
function hinter({ from, to }: Moves) {
  const zoneFor = (own: string) => {
    const next = (from.get(own) ?? 0) > 0 ? [...to].find(([, left]) => left > 0)?.[0] : undefined;
    if (next === undefined) return own;
    count(from, own, -1);
    count(to, next, -1);
    return next;
  };
  const hint = (endpoint: Endpoint): Endpoint =>
    isReady(endpoint)
      ? { ...endpoint, hints: { forZones: [{ name: zoneFor(endpoint.zone ?? "") }] } }
      : withoutHints(endpoint);
  return <T extends Slice>(slice: T) => withEndpoints(slice, hint);
}

function withEndpoints<T extends Slice>(slice: T, next: (endpoint: Endpoint) => Endpoint): T {
  return { ...slice, endpoints: (slice.endpoints ?? []).map(next) };
}

function count(counts: Map<string, number>, zone: string, more = 1): void {
  counts.set(zone, (counts.get(zone) ?? 0) + more);
}

function readyOf({ endpoints }: Slice): readonly Endpoint[] {
  return (endpoints ?? []).filter(isReady);
}

function isReady({ conditions }: Endpoint): boolean {
  return conditions?.ready === true;
}

function withoutHints({ hints: _, ...endpoint }: Endpoint): Endpoint {
  return endpoint;
}

function sameEndpoints({ endpoints: before }: Slice, { endpoints: after }: Slice): boolean {
  return (before ?? []).every((each, at) => sameEndpoint(each, after?.[at] ?? each));
}

const NO_ZONE = "One or more endpoints do not have a zone specified";
const NO_NODE_INFO = "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes";
const TOO_FEW = "Insufficient number of endpoints";
const OVERLOADED = "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold";

/** Events for the user: hints were added, are impossible, or were removed. */
export function hintsEvent(
  service: core.Service,
  family: IpFamily,
  what: "enabled" | "disabled" | { readonly why: string },
) {
  const note = typeof what === "string" ? `Topology Aware Hints has been ${what}` : what.why;
  const [type, reason] =
    what === "enabled"
      ? (["Normal", "TopologyAwareHintsEnabled"] as const)
      : (["Warning", "TopologyAwareHintsDisabled"] as const);
  return { about: service, type, reason, note: `${note}, addressType: ${family}` };
}
