/**
 * The Service through which pods reach the API: `kubernetes` in `default`, on the first address of the first service
 * range. With `--kubernetes-service-node-port` it has that port on every node.
 *
 * 1. Its endpoints are the addresses of the API servers: see endpoint-addresses.ts.
 * 2. A loopback or unspecified address is not published: no other machine could reach it.
 */
import { type core, equalJson, type Json, type KubeObject, parseIp } from "#api";
import { addressRange } from "../allocate/address-range.ts";
import type { Ensure, Wanted } from "../loopback/ensure.ts";

const NAME = "kubernetes";
const NAMESPACE = "default";

export interface Advertised {
  readonly serviceCidr: string;
  readonly port: number;
  /** 0 or absent: the Service has no node port. */
  readonly nodePort?: number | undefined;
}

/** From the addresses that are there to those that should be. */
type Addresses = (present: readonly string[]) => readonly string[];

export async function publishService(ensure: Ensure, advertised: Advertised): Promise<void> {
  await ensure.one(service(advertised));
}

/** `create`: whether endpoints that do not exist are made. */
export async function publishEndpoints(
  ensure: Ensure,
  port: number,
  addresses: Addresses,
  { create }: { readonly create: boolean },
): Promise<void> {
  const present = ensure.find("", "endpoints", NAMESPACE, NAME) as core.Endpoints | undefined;
  if (!create && present === undefined) return;
  await ensure.one(endpoints(addresses, port));
  await ensure.one(endpointSlice(addressesIn(ensure.find("", "endpoints", NAMESPACE, NAME)), port));
}

/** Whether another machine can reach the address. */
export function isReachable(address: string): boolean {
  const bytes = parseIp(address)?.bytes;
  if (bytes === undefined || bytes.every((byte) => byte === 0)) return false;
  return bytes.length === 4 ? bytes[0] !== 127 : !bytes.every((byte, i) => byte === (i === 15 ? 1 : 0));
}

/** The ports of this server are those of the Service. */
function service({ serviceCidr, port, nodePort = 0 }: Advertised): Wanted {
  const range = addressRange(serviceCidr);
  const isOnNodes = nodePort > 0;
  const type = isOnNodes ? "NodePort" : "ClusterIP";
  const ports: core.ServicePort[] = [
    { name: "https", protocol: "TCP", port: 443, targetPort: port, ...(isOnNodes && { nodePort }) },
  ];
  const clusterIP = range?.addressOf(range.first) ?? "";
  const object = {
    metadata: { name: NAME, namespace: NAMESPACE, labels: { component: "apiserver", provider: "kubernetes" } },
    spec: { ports, clusterIP, type, sessionAffinity: "None", ipFamilyPolicy: "SingleStack" },
  };
  return {
    group: "",
    plural: "services",
    object: object as KubeObject,
    revise: (found) => {
      const { spec } = found as core.Service;
      const isRight = same(spec?.ports, ports) && spec?.type === type;
      return isRight ? undefined : ({ ...found, spec: { ...spec, ports, type } } as KubeObject);
    },
  };
}

function endpoints(addresses: Addresses, port: number): Wanted {
  const subsetsOf = (present: readonly string[]) => {
    const all = addresses(present).map((ip) => ({ ip }));
    return all.length === 0 ? [] : [{ addresses: all, ports: [{ name: "https", port, protocol: "TCP" }] }];
  };
  const labels = { "endpointslice.kubernetes.io/skip-mirror": "true" };
  const object = { metadata: { name: NAME, namespace: NAMESPACE, labels }, subsets: subsetsOf([]) };
  return {
    group: "",
    plural: "endpoints",
    object: object as KubeObject,
    revise: (found) => {
      const subsets = subsetsOf(addressesIn(found));
      return same((found as core.Endpoints).subsets ?? [], subsets) ? undefined : ({ ...found, subsets } as KubeObject);
    },
  };
}

/** Of Endpoints in the form that API servers give them: one subset. */
function addressesIn(found: KubeObject | undefined): readonly string[] {
  const { subsets = [] } = (found ?? {}) as core.Endpoints;
  return subsets.length === 1 ? (subsets[0]?.addresses ?? []).map(({ ip }) => ip) : [];
}

function endpointSlice(addresses: readonly string[], port: number): Wanted {
  const content = {
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports: [{ name: "https", protocol: "TCP", port }],
  };
  const object = {
    metadata: { name: NAME, namespace: NAMESPACE, labels: { "kubernetes.io/service-name": NAME } },
    addressType: addresses[0]?.includes(":") ? "IPv6" : "IPv4",
    ...content,
  };
  return {
    group: "discovery.k8s.io",
    plural: "endpointslices",
    object: object as KubeObject,
    revise: (found) => {
      const { endpoints, ports } = found as unknown as typeof content;
      return same({ endpoints: endpoints ?? [], ports }, content)
        ? undefined
        : ({ ...found, ...content } as KubeObject);
    },
  };
}

function same(a: unknown, b: unknown): boolean {
  return equalJson((a ?? null) as Json, (b ?? null) as Json);
}
