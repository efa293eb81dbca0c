/**
 * The endpoints behind a Service's port, in round-robin order.
 *
 * 1. Requests go to endpoints directly, not through the Service's address. The endpoints are looked up when the next
 *    request comes.
 * 2. An unreachable endpoint is tried last for a while: its slice may not show it yet.
 */
import type { core, discovery } from "#api";
import type { Clock, Random } from "#base";
import type { Family } from "../kernel/ip-family.ts";
import { chooseEndpoints, type Endpoint, type NodeFacts } from "../proxy/endpoints.ts";
import type { BackendTls } from "./backend-tls.ts";
import type { Backend } from "./route.ts";

export interface BackendSources {
  service(key: string): core.Service | undefined;
  slices(service: string): readonly discovery.EndpointSlice[];
  /** How to speak TLS with a port of a Service; undefined: without TLS. `closed`: not at all. */
  readonly tlsOf?: ((service: string, portName: string) => BackendTls | "closed" | undefined) | undefined;
}

interface Rotation {
  readonly endpoints: readonly Endpoint[];
  next: number;
}

const AVOIDED_MS = 2000;
const H2C = "kubernetes.io/h2c";
const FAMILIES: readonly Family[] = ["IPv4", "IPv6"];
const EVERYWHERE: NodeFacts = { name: "", addresses: [], podCidrs: [] };

export class Backends {
  readonly #sources: BackendSources;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #rotations = new Map<string, Map<string, Rotation>>();
  readonly #avoided = new Map<string, number>();

  constructor(sources: BackendSources, clock: Clock, random: Random) {
    this.#sources = sources;
    this.#clock = clock;
    this.#random = random;
  }

  /** This Service or its slices have changed. */
  forget(service: string): void {
    this.#rotations.delete(service);
  }

  /** The endpoints in the order in which to try them. */
  choose(backend: Backend): readonly Endpoint[] {
    const rotation = this.#rotationOf(backend);
    const { length } = rotation.endpoints;
    if (length < 2) return rotation.endpoints;
    const first = rotation.next % length;
    rotation.next = first + 1;
    const order = [...rotation.endpoints.slice(first), ...rotation.endpoints.slice(0, first)];
    return this.#avoided.size === 0 ? order : this.#avoidedLast(order);
  }

  /** Whether its endpoints speak HTTP/2 without TLS: the Service's port says so by its appProtocol. */
  speaksHttp2({ service, port: wanted, http2 }: Backend): boolean {
    if (http2 !== undefined) return http2;
    return this.#portOf(service, wanted)?.appProtocol === H2C;
  }

  /** How to speak TLS with its endpoints; `closed`: its policy cannot be carried out. */
  tlsOf({ service, port }: Backend): BackendTls | "closed" | undefined {
    return this.#sources.tlsOf?.(service, this.#portOf(service, port)?.name ?? "");
  }

  /** The endpoint could not be reached. */
  avoid({ address, port }: Endpoint): void {
    this.#avoided.set(`${address} ${port}`, this.#clock.monotonic() + AVOIDED_MS);
  }

  #avoidedLast(order: readonly Endpoint[]): Endpoint[] {
    const now = this.#clock.monotonic();
    for (const [key, until] of this.#avoided) if (until <= now) this.#avoided.delete(key);
    const isAvoided = ({ address, port }: Endpoint) => this.#avoided.has(`${address} ${port}`);
    return [...order.filter((each) => !isAvoided(each)), ...order.filter(isAvoided)];
  }

  #rotationOf({ service, port }: Backend): Rotation {
    let ports = this.#rotations.get(service);
    if (ports === undefined) {
      ports = new Map();
      this.#rotations.set(service, ports);
    }
    const key = `${typeof port} ${port}`;
    let rotation = ports.get(key);
    if (rotation === undefined) {
      const endpoints = this.#endpointsOf(service, port);
      rotation = { endpoints, next: this.#random.integer(Math.max(1, endpoints.length)) };
      ports.set(key, rotation);
    }
    return rotation;
  }

  #portOf(key: string, wanted: string | number): core.ServicePort | undefined {
    const ports = this.#sources.service(key)?.spec?.ports;
    return ports?.find(({ name, port }) => (typeof wanted === "string" ? name : port) === wanted);
  }

  #endpointsOf(key: string, wanted: string | number): readonly Endpoint[] {
    const service = this.#sources.service(key);
    // With an ExternalName, the author of a Service could send our requests anywhere.
    if (service === undefined || service.spec?.type === "ExternalName") return [];
    const port = this.#portOf(key, wanted);
    if (port === undefined || (port.protocol ?? "TCP") !== "TCP") return [];
    const slices = this.#sources.slices(key);
    // One IP family only: with both, a dual-stack endpoint would get twice the requests.
    for (const family of service.spec?.ipFamilies ?? FAMILIES) {
      const { cluster } = chooseEndpoints(slices, port.name ?? "", "TCP", family as Family, EVERYWHERE);
      if (cluster.length > 0) return cluster;
    }
    return [];
  }
}
