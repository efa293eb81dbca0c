/** The Endpoints of a Service: the predecessor of EndpointSlices, for one IP family. */
import { type core, equalJson, type Json, kinds, repackSubsets } from "#api";
import { isReady } from "../pods/index.ts";
import type { Outcome, Plan, Write } from "../runtime/index.ts";
import {
  addressesOf,
  earliestTrigger,
  failureText,
  familyOf,
  hostnameFor,
  type IpFamily,
  isReachable,
  targetPort,
  withTriggerTime,
} from "../services/index.ts";
import { truncated } from "./capacity.ts";
import { type Address, type Offer, offersOf, type Port, type Subset, sameSubsets, subsetsOf } from "./subsets.ts";

const HEADLESS = "service.kubernetes.io/headless";
const MANAGED_BY = "endpoints.kubernetes.io/managed-by";
const MANAGER = "endpoint-controller";
const OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity";

export function planEndpoints(
  service: core.Service,
  pods: readonly core.Pod[],
  current: core.Endpoints | undefined,
): Plan {
  const all = repackSubsets(subsetsOf(pods.flatMap((pod) => offers(pod, service))));
  const cut = truncated(all);
  const subsets = cut ?? all;
  const labels = labelsOf(service);
  const wasCut = current?.metadata.annotations?.[OVER_CAPACITY] === "truncated";
  if (
    current !== undefined &&
    sameSubsets(subsets, current.subsets ?? []) &&
    equalJson(labels as Json, (current.metadata.labels ?? {}) as Json) &&
    wasCut === (cut !== undefined)
  )
    return {};
  const time = earliestTrigger(service, current === undefined, changedPods(pods, current?.subsets ?? [], subsets));
  const { [OVER_CAPACITY]: _, ...rest } = withTriggerTime(current?.metadata.annotations, time);
  const annotations = cut === undefined ? rest : { ...rest, [OVER_CAPACITY]: "truncated" };
  const { name = "", namespace = "" } = service.metadata;
  const metadata = { ...(current?.metadata ?? { name, namespace }), labels, annotations };
  const object: core.Endpoints = { apiVersion: "v1", kind: "Endpoints", metadata, subsets };
  const write: Write = { verb: current === undefined ? "create" : "update", resource: kinds.Endpoints, object };
  return { steps: [[write]], eventFor: (_write, outcome) => eventAbout(object, current === undefined, outcome) };
}

function offers(pod: core.Pod, service: core.Service): readonly Offer[] {
  const { publishNotReadyAddresses = false, ports = [], clusterIP } = service.spec ?? {};
  if (!isReachable(pod, publishNotReadyAddresses)) return [];
  const address = addressOf(pod, service);
  if (address === undefined) return [];
  const ready = publishNotReadyAddresses || isReady(pod);
  if (ports.length === 0) return clusterIP === "None" ? [{ address, port: undefined, ready }] : [];
  return ports.flatMap((each) => {
    const found = targetPort(pod, each);
    return found === undefined ? [] : [{ address, port: portOf(each, found), ready }];
  });
}

function portOf({ name = "", protocol = "TCP", appProtocol }: core.ServicePort, port: number): Port {
  return { ...(name !== "" && { name }), port, protocol, ...(appProtocol !== undefined && { appProtocol }) };
}

function addressOf(pod: core.Pod, service: core.Service): Address | undefined {
  const [ip] = addressesOf(pod, familyFor(pod, service));
  if (ip === undefined) return undefined;
  const { name = "", namespace = "", uid = "" } = pod.metadata;
  const hostname = hostnameFor(pod, service);
  return {
    ip,
    ...(hostname !== undefined && { hostname }),
    ...(pod.spec?.nodeName !== undefined && { nodeName: pod.spec.nodeName }),
    targetRef: { kind: "Pod", namespace, name, uid },
  };
}

function familyFor(pod: core.Pod, { spec }: core.Service): IpFamily {
  const [first] = spec?.ipFamilies ?? [];
  if (first === "IPv4" || first === "IPv6") return first;
  const { clusterIP = "" } = spec ?? {};
  return familyOf(clusterIP === "" || clusterIP === "None" ? (pod.status?.podIP ?? "") : clusterIP);
}

function labelsOf({ metadata, spec }: core.Service): Readonly<Record<string, string>> {
  const { [HEADLESS]: _, ...own } = metadata.labels ?? {};
  const { clusterIP = "" } = spec ?? {};
  const headless = clusterIP === "" || clusterIP === "None";
  return { ...own, ...(headless && { [HEADLESS]: "" }), [MANAGED_BY]: MANAGER };
}

/** Pods that are new, or whose readiness has changed. */
function changedPods(
  pods: readonly core.Pod[],
  before: readonly Subset[],
  after: readonly Subset[],
): readonly core.Pod[] {
  const states = (subsets: readonly Subset[]) =>
    new Map(offersOf(subsets).map(({ address, ready }) => [address.targetRef?.uid ?? "", `${address.ip} ${ready}`]));
  const known = states(before);
  const now = states(after);
  return pods.filter(({ metadata: { uid = "" } }) => now.has(uid) && now.get(uid) !== known.get(uid));
}

function eventAbout(about: core.Endpoints, created: boolean, outcome: Outcome) {
  if (outcome.ok) return undefined;
  const { name = "", namespace = "" } = about.metadata;
  const why = failureText(outcome.error);
  if (why === undefined) return undefined;
  const note = created
    ? `Failed to create endpoint for service ${namespace}/${name}: ${why}`
    : `Failed to update endpoint ${namespace}/${name}: ${why}`;
  const reason = created ? "FailedToCreateEndpoint" : "FailedToUpdateEndpoint";
  return { about, type: "Warning", reason, note } as const;
}
