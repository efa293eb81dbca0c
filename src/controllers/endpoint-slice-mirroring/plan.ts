/** Mirrors custom Endpoints to EndpointSlices: one slice for each IP family and set of ports. */
import { type core, equalJson, type Json, kinds, type ObjectMeta, parseIp } from "#api";
import type { RecordedEvent } from "#client";
import {
  type Endpoint,
  type EndpointPort,
  MANAGED_BY,
  portsKey,
  SERVICE_NAME,
  type Slice,
  slicePrefix,
} from "../endpoint-slice/index.ts";
import { LEADER, offersOf, subsetsOf } from "../endpoints/index.ts";
import { isEnding } from "../pods/index.ts";
import { type Outcome, ownedBy, type Plan, type Write } from "../runtime/index.ts";
import { failureText, familyOf, type IpFamily, TRIGGER_TIME } from "../services/index.ts";

export const MANAGER = "endpointslicemirroring-controller.k8s.io";
export const MAX_ADDRESSES = 1000;

const SKIP = "endpointslice.kubernetes.io/skip-mirror";
const NOT_MIRRORED = new Set([TRIGGER_TIME, "kubectl.kubernetes.io/last-applied-configuration"]);

/** Whether another controller writes slices for them, or mirroring is disabled. */
export function isMirrored(endpoints: core.Endpoints | undefined, service: core.Service | undefined): boolean {
  if (endpoints === undefined || service === undefined) return false;
  const { labels, annotations } = endpoints.metadata;
  const selects = Object.keys(service.spec?.selector ?? {}).length > 0;
  return !selects && labels?.[SKIP] !== "true" && annotations?.[LEADER] === undefined;
}

export function planRemoval(slices: readonly Slice[]): Plan {
  return { steps: [slices.map((object) => ({ verb: "delete", resource: kinds.EndpointSlice, object }))] };
}

type Content = Pick<Slice, "addressType" | "endpoints" | "ports">;

export function planMirror(endpoints: core.Endpoints, existing: readonly Slice[], max = MAX_ADDRESSES): Plan {
  const { wanted, events } = contentsOf(endpoints, max);
  const free = new Set(existing);
  const kept = new Map<Content, Slice>();
  for (const content of wanted) {
    const found = existing.find((slice) => free.has(slice) && keyOf(slice) === keyOf(content));
    if (found === undefined) continue;
    free.delete(found);
    kept.set(content, found);
  }
  // A group without a slice takes one that is no longer needed.
  for (const content of wanted) {
    const spare = [...free].find(({ addressType }) => addressType === content.addressType);
    if (kept.has(content) || spare === undefined) continue;
    free.delete(spare);
    kept.set(content, spare);
  }
  const create = wanted.filter((content) => !kept.has(content));
  const update = [...kept].filter(([content, slice]) => !isSame(content, slice, endpoints));
  const steps: Write[][] = [
    isEnding(endpoints) ? [] : create.map((content) => creation(endpoints, content)),
    update.map(([content, slice]) => updating(endpoints, content, slice)),
    [...free].map((object) => ({ verb: "delete", resource: kinds.EndpointSlice, object })),
  ];
  return { steps, events, eventFor: (write, outcome) => eventAbout(endpoints, write, outcome) };
}

function contentsOf(
  endpoints: core.Endpoints,
  max: number,
): { wanted: readonly Content[]; events: readonly RecordedEvent[] } {
  const groups = new Map<string, Content & { readonly endpoints: Endpoint[] }>();
  let invalid = 0;
  let skipped = 0;
  for (const { ports, addresses = [], notReadyAddresses = [] } of subsetsOf(offersOf(endpoints.subsets ?? []))) {
    let added = 0;
    const all = [
      ...addresses.map((address) => ({ address, ready: true })),
      ...notReadyAddresses.map((address) => ({ address, ready: false })),
    ];
    for (const { address, ready } of all) {
      if (added >= max) skipped += 1;
      else if (parseIp(address.ip) === undefined) invalid += 1;
      else {
        const content = { addressType: familyOf(address.ip), ports: (ports ?? []).map(portOf), endpoints: [] };
        const group = groups.get(keyOf(content)) ?? content;
        groups.set(keyOf(content), group);
        group.endpoints.push(endpointOf(address, ready));
        added += 1;
      }
    }
  }
  return { wanted: [...groups.values()], events: warnings(endpoints, { invalid, skipped, max }) };
}

function warnings(
  about: core.Endpoints,
  { invalid, skipped, max }: { readonly invalid: number; readonly skipped: number; readonly max: number },
): readonly RecordedEvent[] {
  const both = { about, type: "Warning" } as const;
  const events: RecordedEvent[] = [];
  if (invalid > 0) {
    const note = `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`;
    events.push({ ...both, reason: "InvalidIPAddress", note });
  }
  if (skipped > 0) {
    const note = `A max of ${max} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped + invalid} addresses were skipped`;
    events.push({ ...both, reason: "TooManyAddressesToMirror", note });
  }
  return events;
}

function endpointOf({ ip, hostname = "", nodeName, targetRef }: core.EndpointAddress, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname !== "" && { hostname }),
    ...(targetRef !== undefined && { targetRef }),
    ...(nodeName !== undefined && { nodeName }),
  };
}

function portOf({ name = "", port, protocol = "TCP", appProtocol }: core.EndpointPort): EndpointPort {
  return { name, port, protocol, ...(appProtocol !== undefined && { appProtocol }) };
}

function keyOf({ addressType, ports }: Content): `${IpFamily | "FQDN"} ${string}` {
  return `${addressType} ${portsKey(ports)}`;
}

function isSame(content: Content, slice: Slice, endpoints: core.Endpoints): boolean {
  const { labels, annotations } = mirroredMetadata(endpoints);
  return (
    keyOf(content) === keyOf(slice) &&
    equalJson(asJson(content.endpoints), asJson(slice.endpoints)) &&
    equalJson(asJson(labels), asJson(slice.metadata.labels ?? {})) &&
    equalJson(asJson(annotations), asJson(slice.metadata.annotations ?? {}))
  );
}

function asJson(value: unknown): Json {
  return (value ?? []) as Json;
}

function mirroredMetadata({ metadata }: core.Endpoints) {
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => !NOT_MIRRORED.has(key));
  return {
    labels: { ...metadata.labels, [SERVICE_NAME]: metadata.name ?? "", [MANAGED_BY]: MANAGER },
    annotations: Object.fromEntries(annotations),
  };
}

function creation(endpoints: core.Endpoints, content: Content): Write {
  const { name = "", namespace = "" } = endpoints.metadata;
  const metadata: ObjectMeta = {
    generateName: slicePrefix(name),
    namespace,
    ...mirroredMetadata(endpoints),
    ownerReferences: [ownedBy(endpoints, { apiVersion: "v1", kind: "Endpoints" })],
  };
  const object: Slice = { ...content, metadata };
  return { verb: "create", resource: kinds.EndpointSlice, object };
}

function updating(endpoints: core.Endpoints, content: Content, slice: Slice): Write {
  const object: Slice = { ...slice, ...content, metadata: { ...slice.metadata, ...mirroredMetadata(endpoints) } };
  return { verb: "update", resource: kinds.EndpointSlice, object };
}

function eventAbout(about: core.Endpoints, { verb, object }: Write, outcome: Outcome) {
  if (outcome.ok) return undefined;
  const { name = "", namespace = "" } = about.metadata;
  const which = verb === "create" ? "" : `${object.metadata.name ?? ""} `;
  const why = failureText(outcome.error);
  if (why === undefined) return undefined;
  const note =
    `Error updating Endpoint Slices for Endpoints ${namespace}/${name}: ` +
    `failed to ${verb} ${which}EndpointSlice for Endpoints ${namespace}/${name}: ${why}`;
  return { about, type: "Warning", reason: "FailedToUpdateEndpointSlices", note } as const;
}
