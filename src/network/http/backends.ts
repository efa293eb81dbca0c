/**
 * The endpoints behind a Service's port, as its slices have them, and whose turn it is.
 *
 * 1. Requests go straight to endpoints, one after the other; which ones there are is looked up when the next request comes.
 * 2. One that could not be reached is asked last for a while: its slices may not know yet.
 */
import type { core, discovery } from "#api";
import type { Clock, Random } from "#base";
import type { Backend } from "../ingress/routes.ts";
import { chooseEndpoints, type Endpoint, type NodeFacts } from "../proxy/endpoints.ts";
import type { Family } from "../proxy/virtual-addresses.ts";

export interface BackendSources {
  service(key: string): core.Service | undefined;
  slices(service: string): readonly discovery.EndpointSlice[];
}

interface Turn {
  readonly endpoints: readonly Endpoint[];
  next: number;
}

const AVOIDED_MS = 2000;
const FAMILIES: readonly Family[] = ["IPv4", "IPv6"];
const EVERYWHERE: NodeFacts = { name: "", addresses: [], podCidrs: [] };

export class Backends {
  readonly #sources: BackendSources;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #turns = new Map<string, Map<string, Turn>>();
  readonly #avoided = new Map<string, number>();

  constructor(sources: BackendSources, clock: Clock, random: Random) {
    this.#sources = sources;
    this.#clock = clock;
    this.#random = random;
  }

  /** Something about this Service or its slices has changed. */
  forget(service: string): void {
    this.#turns.delete(service);
  }

  /** In the order in which they are to be tried; none if there are none. */
  choose(backend: Backend): readonly Endpoint[] {
    const turn = this.#turnOf(backend);
    const { length } = turn.endpoints;
    if (length < 2) return turn.endpoints;
    const first = turn.next % length;
    turn.next = first + 1;
    const order = [...turn.endpoints.slice(first), ...turn.endpoints.slice(0, first)];
    return this.#avoided.size === 0 ? order : this.#avoidedLast(order);
  }

  /** It could not be reached. */
  avoid({ address, port }: Endpoint): void {
    this.#avoided.set(`${address} ${port}`, this.#clock.monotonic() + AVOIDED_MS);
  }

  #avoidedLast(order: readonly Endpoint[]): Endpoint[] {
    const now = this.#clock.monotonic();
    for (const [key, until] of this.#avoided) if (until <= now) this.#avoided.delete(key);
    const isAvoided = ({ address, port }: Endpoint) => this.#avoided.has(`${address} ${port}`);
    return [...order.filter((each) => !isAvoided(each)), ...order.filter(isAvoided)];
  }

  #turnOf({ service, port }: Backend): Turn {
    let ports = this.#turns.get(service);
    if (ports === undefined) {
      ports = new Map();
      this.#turns.set(service, ports);
    }
    const key = `${typeof port} ${port}`;
    let turn = ports.get(key);
    if (turn === undefined) {
      const endpoints = this.#endpointsOf(service, port);
      turn = { endpoints, next: this.#random.integer(Math.max(1, endpoints.length)) };
      ports.set(key, turn);
    }
    return turn;
  }

  #endpointsOf(key: string, wanted: string | number): readonly Endpoint[] {
    const service = this.#sources.service(key);
    // An ExternalName would let whoever writes a Service send our requests anywhere.
    if (service === undefined || service.spec?.type === "ExternalName") return [];
    const port = service.spec?.ports?.find(({ name, port }) => (typeof wanted === "string" ? name : port) === wanted);
    if (port === undefined || (port.protocol ?? "TCP") !== "TCP") return [];
    const slices = this.#sources.slices(key);
    // One family is enough: with both, whoever has two addresses would have two turns.
    for (const family of service.spec?.ipFamilies ?? FAMILIES) {
      const { cluster } = chooseEndpoints(slices, port.name ?? "", "TCP", family as Family, EVERYWHERE);
      if (cluster.length > 0) return cluster;
    }
    return [];
  }
}
