/**
 * The sum of what the Pods of a node use: requests and host ports. Kept by changes, because a fleet admits thousands of
 * Pods; a test compares it with the sum made from scratch.
 */
import {
  addQuantities,
  type core,
  parseQuantity,
  podRequests,
  type Quantity,
  subtractQuantities,
  type Totals,
  zeroQuantity,
} from "#api";
import { isSidecar } from "../lifecycle/index.ts";

const ONE = parseQuantity("1");
const ANY = "0.0.0.0";

interface Share {
  readonly amounts: Totals;
  readonly ports: readonly HostPort[];
}

interface HostPort {
  /** Protocol and number. */
  readonly key: string;
  readonly ip: string;
}

export class Usage {
  readonly #shares = new Map<string, Share>();
  readonly #totals = new Map<string, Quantity>();
  /** By protocol and number: how many Pods have the port on each address. */
  readonly #ports = new Map<string, Map<string, number>>();

  static of(pods: Iterable<core.Pod>): Usage {
    const usage = new Usage();
    for (const pod of pods) usage.set(pod);
    return usage;
  }

  /** What a Pod uses from now on, instead of what it used before. */
  set(pod: core.Pod): void {
    const { uid = "" } = pod.metadata;
    this.delete(uid);
    const share = { amounts: requestsOf(pod), ports: hostPorts(pod) };
    this.#shares.set(uid, share);
    for (const [name, amount] of Object.entries(share.amounts))
      this.#totals.set(name, addQuantities(this.#totals.get(name) ?? zeroQuantity, amount));
    for (const port of share.ports) this.#count(port, 1);
  }

  /** False if the Pod used nothing. */
  delete(uid: string): boolean {
    const share = this.#shares.get(uid);
    if (share === undefined) return false;
    this.#shares.delete(uid);
    for (const [name, amount] of Object.entries(share.amounts))
      this.#totals.set(name, subtractQuantities(this.#totals.get(name) ?? zeroQuantity, amount));
    for (const port of share.ports) this.#count(port, -1);
    return true;
  }

  /** How much of a resource all Pods but this one use. */
  without(uid: string, resource: string): Quantity {
    const total = this.#totals.get(resource) ?? zeroQuantity;
    const own = this.#shares.get(uid)?.amounts[resource];
    return own === undefined ? total : subtractQuantities(total, own);
  }

  /** Whether another Pod has one of the Pod's ports. */
  hasPortsOf(pod: core.Pod): boolean {
    return hostPorts(pod).some(({ key, ip }) => {
      const taken = this.#ports.get(key);
      return taken !== undefined && (ip === ANY || taken.has(ANY) || taken.has(ip));
    });
  }

  #count({ key, ip }: HostPort, by: 1 | -1): void {
    const taken = this.#ports.get(key) ?? new Map<string, number>();
    const count = (taken.get(ip) ?? 0) + by;
    if (count > 0) taken.set(ip, count);
    else taken.delete(ip);
    if (taken.size > 0) this.#ports.set(key, taken);
    else this.#ports.delete(key);
  }
}

export function requestsOf(pod: core.Pod): Totals {
  return { pods: ONE, ...podRequests(pod) };
}

function hostPorts({ spec }: core.Pod): readonly HostPort[] {
  const { initContainers = [], containers = [] } = spec ?? {};
  const ports: HostPort[] = [];
  for (const { ports: wanted = [] } of [...initContainers.filter(isSidecar), ...containers])
    for (const { hostPort = 0, hostIP = "", protocol = "TCP" } of wanted)
      if (hostPort > 0) ports.push({ key: `${protocol}/${hostPort}`, ip: hostIP === "" ? ANY : hostIP });
  return ports;
}
