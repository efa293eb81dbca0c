/**
 * The slices of a Service: for each IP family and set of ports as many as needed.
 *
 *     Pods ──► endpoints by family and ports ──► placement ──► creates, updates, deletes
 *
 * 1. Instead of deleting one slice and creating another, the first is reused.
 * 2. A Service without matching Pods has one empty slice for each IP family, so that consumers know that it was
 *    processed.
 * 3. A terminating Service gets no new slices: the garbage collector deletes them all.
 * 4. Zone hints depend on all endpoints of an IP family: see `topology-hints.ts`.
 */
import { type core, equalJson, type Json, kinds } from "#api";
import type { RecordedEvent } from "#client";
import { isEnding } from "../pods/index.ts";
import type { Outcome, Plan, Write } from "../runtime/index.ts";
import {
  earliestTrigger,
  failureText,
  familyOf,
  type IpFamily,
  isReachable,
  withTriggerTime,
} from "../services/index.ts";
import {
  type Endpoint,
  type EndpointPort,
  endpointOf,
  identityOf,
  portsKey,
  portsOf,
  sameEndpoint,
} from "./endpoint.ts";
import { place, type Slice } from "./placement.ts";
import { isOwnedBy, newSliceMetadata, sliceLabels } from "./slice-metadata.ts";
import { addHints, asksForHints, type FamilySlices, type Hinted, hintsEvent } from "./topology-hints.ts";
import type { ZoneShares } from "./zone-shares.ts";

export const MAX_ENDPOINTS = 100;

export interface ServiceView {
  readonly service: core.Service;
  /** The selected Pods. */
  readonly pods: readonly core.Pod[];
  /** The slices that this controller manages. */
  readonly slices: readonly Slice[];
  node(name: string): core.Node | undefined;
  /** Called only if hints depend on nodes. */
  shares?(): ZoneShares | undefined;
  /** The IP families that had zone hints before. */
  readonly hinted?: readonly IpFamily[];
  /** `--max-endpoints-per-slice`. Default: 100. */
  readonly maxEndpoints?: number | undefined;
}

export interface SlicesPlan extends Plan {
  /** The IP families with zone hints. */
  readonly hinted: readonly IpFamily[];
}

/** Endpoints with the same ports. */
interface Group {
  readonly ports: readonly EndpointPort[];
  readonly endpoints: Endpoint[];
}

type NewSlice = Pick<Slice, "addressType" | "endpoints" | "ports">;

/** A slice to be written. */
interface Changes {
  readonly create: NewSlice[];
  readonly update: Slice[];
  readonly remove: Slice[];
}

export function planSlices(view: ServiceView): SlicesPlan {
  const { service } = view;
  const slices = view.slices.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const families = familiesOf(service);
  const changes: Changes = { create: [], update: [], remove: [] };
  const asks = asksForHints(service);
  const shares = asks ? view.shares?.() : undefined;
  const hinted: IpFamily[] = [];
  const events: RecordedEvent[] = [];
  for (const family of families) {
    const { remove: gone, ...placed } = planFamily(
      view,
      family,
      slices.filter(({ addressType }) => addressType === family),
    );
    const { create, update, why }: Hinted<NewSlice, Slice> = asks ? addHints(placed, shares) : placed;
    changes.create.push(...create);
    changes.update.push(...update);
    changes.remove.push(...gone);
    if (why !== undefined) events.push(hintsEvent(service, family, { why }));
    else if (asks) hinted.push(family);
  }
  events.push(...hintsChanged(service, families, view.hinted ?? [], hinted));
  const { create, update, remove } = reuse(service, changes);
  remove.push(...slices.filter(({ addressType }) => !families.some((family) => family === addressType)));
  const time = earliestTrigger(service, slices.length === 0, changedPods(view, slices, [...create, ...update]));
  const steps: Write[][] = [
    isEnding(service) ? [] : create.map((slice) => creation(service, slice, time)),
    update.map((slice) => updating(slice, time)),
    remove.map((slice) => ({ verb: "delete", resource: kinds.EndpointSlice, object: slice })),
  ];
  return { steps, events, hinted, eventFor: (write, outcome) => eventAbout(service, write, outcome) };
}

/** Events that hints were added or removed. The reason why there are none is reported for each IP family. */
function hintsChanged(
  service: core.Service,
  families: readonly IpFamily[],
  before: readonly IpFamily[],
  now: readonly IpFamily[],
): readonly RecordedEvent[] {
  const [first] = now;
  if (first !== undefined) return before.length > 0 ? [] : [hintsEvent(service, first, "enabled")];
  const [any] = families;
  const isOver = any !== undefined && before.length > 0 && !asksForHints(service);
  return isOver ? [hintsEvent(service, any, "disabled")] : [];
}

interface FamilyChanges extends FamilySlices<NewSlice, Slice> {
  readonly remove: readonly Slice[];
}

function planFamily(
  { service, pods, node, maxEndpoints = MAX_ENDPOINTS }: ServiceView,
  family: IpFamily,
  slices: readonly Slice[],
): FamilyChanges {
  const own = slices.filter(({ metadata }) => isOwnedBy(metadata, service));
  const known = asksForHints(service) ? zonesHinted(own) : undefined;
  const groups = new Map<string, Group>();
  for (const pod of pods) {
    if (!isReachable(pod, true)) continue;
    const ports = portsOf(pod, service);
    const key = portsKey(ports);
    const group = groups.get(key) ?? { ports, endpoints: [] };
    groups.set(key, group);
    const home = node(pod.spec?.nodeName ?? "");
    // A Pod of a deleted node is about to be deleted, too.
    if (home === undefined && service.spec?.publishNotReadyAddresses !== true) continue;
    const endpoint =
      known === undefined ? endpointOf(pod, home, service, family) : known(endpointOf(pod, home, service, family, ""));
    if (endpoint.addresses.length > 0) group.endpoints.push(endpoint);
  }
  const labels = sliceLabels(service);
  const gone = slices.filter((slice) => !own.includes(slice));
  const create: NewSlice[] = [];
  const update: Slice[] = [];
  const unchanged: Slice[] = [];
  for (const [key, { ports, endpoints }] of groups) {
    const placed = place(
      own.filter((slice) => portsKey(slice.ports) === key),
      endpoints,
      maxEndpoints,
    );
    create.push(...placed.create.map((each) => ({ addressType: family, endpoints: each, ports })));
    update.push(
      ...placed.update.map(({ slice, endpoints: next }) => ({ ...relabelled(slice, labels), endpoints: next })),
    );
    for (const slice of placed.unchanged) {
      if (hasLabels(slice, labels)) unchanged.push(slice);
      else update.push(relabelled(slice, labels));
    }
    gone.push(...placed.remove);
  }
  gone.push(...own.filter((slice) => !groups.has(portsKey(slice.ports))));
  if (gone.length === slices.length && create.length === 0) {
    const [placeholder] = gone.length === 1 ? gone : [];
    if (placeholder !== undefined && isPlaceholder(placeholder, service, labels))
      return { create, update, unchanged, remove: [] };
    create.push({ addressType: family, endpoints: [], ports: [] });
  }
  return { create, update, unchanged, remove: gone };
}

/** Keeps the zone hint until all endpoints of the IP family are processed. */
function zonesHinted(slices: readonly Slice[]): (endpoint: Endpoint) => Endpoint {
  const zones = new Map(
    slices.flatMap(({ endpoints }) => (endpoints ?? []).map((each) => [identityOf(each), each.hints?.forZones])),
  );
  return (endpoint) => {
    const forZones = endpoint.conditions?.ready === true ? zones.get(identityOf(endpoint)) : undefined;
    return forZones === undefined ? endpoint : { ...endpoint, hints: { forZones } };
  };
}

function familiesOf({ spec }: core.Service): readonly IpFamily[] {
  const named = (spec?.ipFamilies ?? []).filter((family) => family === "IPv4" || family === "IPv6");
  if (named.length > 0) return named;
  const { clusterIP = "" } = spec ?? {};
  return clusterIP === "" || clusterIP === "None" ? ["IPv4", "IPv6"] : [familyOf(clusterIP)];
}

function reuse(service: core.Service, { create, update, remove }: Changes): Changes {
  const waiting = [...create];
  const rewritten: Slice[] = [];
  const gone = remove.filter((slice) => {
    const at = isOwnedBy(slice.metadata, service)
      ? waiting.findIndex(({ addressType }) => addressType === slice.addressType)
      : -1;
    const [next] = at === -1 ? [] : waiting.splice(at, 1);
    if (next === undefined) return true;
    rewritten.push({ ...relabelled(slice, sliceLabels(service)), ...next });
    return false;
  });
  return { create: waiting, update: [...update, ...rewritten], remove: gone };
}

/** Pods with new or changed endpoints. */
function* changedPods(
  { pods }: ServiceView,
  before: readonly Slice[],
  written: readonly Pick<Slice, "endpoints">[],
): Iterable<core.Pod> {
  if (written.length === 0) return;
  const known = new Map(before.flatMap(({ endpoints }) => endpoints ?? []).map((each) => [identityOf(each), each]));
  const changed = new Set<string>();
  for (const endpoint of written.flatMap(({ endpoints }) => endpoints ?? [])) {
    const old = known.get(identityOf(endpoint));
    if (old === undefined || !sameEndpoint(old, endpoint)) changed.add(endpoint.targetRef?.uid ?? "");
  }
  for (const pod of pods) if (changed.has(pod.metadata.uid ?? "")) yield pod;
}

function isPlaceholder(slice: Slice, service: core.Service, labels: Readonly<Record<string, string>>): boolean {
  const isEmpty = (slice.endpoints ?? []).length === 0 && (slice.ports ?? []).length === 0;
  return isEmpty && isOwnedBy(slice.metadata, service) && hasLabels(slice, labels);
}

function hasLabels({ metadata }: Slice, labels: Readonly<Record<string, string>>): boolean {
  return equalJson((metadata.labels ?? {}) as Json, labels as Json);
}

function relabelled(slice: Slice, labels: Readonly<Record<string, string>>): Slice {
  return { ...slice, metadata: { ...slice.metadata, labels } };
}

function creation(service: core.Service, slice: Changes["create"][number], time: string | undefined): Write {
  const object: Slice = { ...slice, metadata: newSliceMetadata(service, time) };
  return { verb: "create", resource: kinds.EndpointSlice, object };
}

function updating(slice: Slice, time: string | undefined): Write {
  const annotations = withTriggerTime(slice.metadata.annotations, time);
  const object: Slice = { ...slice, metadata: { ...slice.metadata, annotations } };
  return { verb: "update", resource: kinds.EndpointSlice, object };
}

function eventAbout(service: core.Service, { verb, object }: Write, outcome: Outcome) {
  if (outcome.ok) return undefined;
  const { name = "", namespace = "" } = service.metadata;
  const which = verb === "create" ? "" : `${object.metadata.name ?? ""} `;
  const why = failureText(outcome.error);
  if (why === undefined) return undefined;
  const note =
    `Error updating Endpoint Slices for Service ${namespace}/${name}: ` +
    `failed to ${verb} ${which}EndpointSlice for Service ${namespace}/${name}: ${why}`;
  return { about: service, type: "Warning", reason: "FailedToUpdateEndpointSlices", note } as const;
}
