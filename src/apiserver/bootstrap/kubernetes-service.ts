/**
 * The Service through which pods reach the API: `kubernetes` in `default`, on the first address of the first service
 * range.
 *
 * 1. Its endpoints are the addresses of the API servers whose identity Lease is alive, and this one's.
 * 2. Where the address is one of the loopback device, or of no certain one, there are no endpoints: they would be of no
 *    use to anybody.
 */
import { type core, equalJson, type Json, type KubeObject, parseIp } from "#api";
import { addressRange } from "../allocate/address-range.ts";
import type { Ensure, Wanted } from "../loopback/ensure.ts";

const NAME = "kubernetes";
const NAMESPACE = "default";

export interface Advertised {
  readonly serviceCidr: string;
  /** Where clients reach this server. */
  readonly port: number;
  readonly address?: string | undefined;
  /** Of other servers that are alive. */
  readonly others?: readonly string[];
}

export async function publishService(ensure: Ensure, advertised: Advertised): Promise<void> {
  await ensure.one(service(advertised));
  const { address, others = [], port } = advertised;
  if (address === undefined || !isReachable(address)) return;
  const addresses = [...new Set([address, ...others])].sort();
  await ensure.all([endpoints(addresses, port), endpointSlice(addresses, port)]);
}

/** The ports of this server are those of the Service. */
function service({ serviceCidr, port }: Advertised): Wanted {
  const range = addressRange(serviceCidr);
  const ports: core.ServicePort[] = [{ name: "https", protocol: "TCP", port: 443, targetPort: port }];
  const clusterIP = range?.addressOf(range.first) ?? "";
  const object = {
    metadata: { name: NAME, namespace: NAMESPACE, labels: { component: "apiserver", provider: "kubernetes" } },
    spec: { ports, clusterIP, type: "ClusterIP", sessionAffinity: "None", ipFamilyPolicy: "SingleStack" },
  };
  return {
    group: "",
    plural: "services",
    object: object as KubeObject,
    revise: (found) => {
      const { spec } = found as core.Service;
      return same(spec?.ports, ports) ? undefined : ({ ...found, spec: { ...spec, ports } } as KubeObject);
    },
  };
}

function endpoints(addresses: readonly string[], port: number): Wanted {
  const subsets = [{ addresses: addresses.map((ip) => ({ ip })), ports: [{ name: "https", port, protocol: "TCP" }] }];
  const labels = { "endpointslice.kubernetes.io/skip-mirror": "true" };
  const object = { metadata: { name: NAME, namespace: NAMESPACE, labels }, subsets };
  return {
    group: "",
    plural: "endpoints",
    object: object as KubeObject,
    revise: (found) =>
      same((found as core.Endpoints).subsets, subsets) ? undefined : ({ ...found, subsets } as KubeObject),
  };
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
      return same({ endpoints, ports }, content) ? undefined : ({ ...found, ...content } as KubeObject);
    },
  };
}

/** From another machine. */
function isReachable(address: string): boolean {
  const bytes = parseIp(address)?.bytes;
  if (bytes === undefined || bytes.every((byte) => byte === 0)) return false;
  return bytes.length === 4 ? bytes[0] !== 127 : !bytes.every((byte, i) => byte === (i === 15 ? 1 : 0));
}

function same(a: unknown, b: unknown): boolean {
  return equalJson((a ?? null) as Json, (b ?? null) as Json);
}
