/** What the Pods of a node have been given together: kept up to date change by change, however many they are. */
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

const ONE = parseQuantity("1");

interface Share {
  readonly amounts: Totals;
  readonly ports: readonly string[];
}

export class Usage {
  readonly #shares = new Map<string, Share>();
  readonly #totals = new Map<string, Quantity>();
  readonly #ports = new Map<string, number>();

  /** What a Pod has from now on, instead of what it had. */
  set(uid: string, pod: core.Pod): void {
    this.delete(uid);
    const share = { amounts: requestsOf(pod), ports: hostPorts(pod) };
    this.#shares.set(uid, share);
    for (const [name, amount] of Object.entries(share.amounts))
      this.#totals.set(name, addQuantities(this.#totals.get(name) ?? zeroQuantity, amount));
    for (const port of share.ports) this.#ports.set(port, (this.#ports.get(port) ?? 0) + 1);
  }

  /** False if it had nothing. */
  delete(uid: string): boolean {
    const share = this.#shares.get(uid);
    if (share === undefined) return false;
    this.#shares.delete(uid);
    for (const [name, amount] of Object.entries(share.amounts))
      this.#totals.set(name, subtractQuantities(this.#totals.get(name) ?? zeroQuantity, amount));
    for (const port of share.ports) this.#ports.set(port, (this.#ports.get(port) ?? 0) - 1);
    return true;
  }

  /** Of one resource, what all but one Pod have. */
  without(uid: string, resource: string): Quantity {
    const total = this.#totals.get(resource) ?? zeroQuantity;
    const own = this.#shares.get(uid)?.amounts[resource];
    return own === undefined ? total : subtractQuantities(total, own);
  }

  isTaken(port: string): boolean {
    return (this.#ports.get(port) ?? 0) > 0;
  }
}

export function requestsOf(pod: core.Pod): Totals {
  return { pods: ONE, ...podRequests(pod) };
}

export function hostPorts({ spec }: core.Pod): readonly string[] {
  return (spec?.containers ?? []).flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort = 0, hostIP, protocol = "TCP" }) =>
      hostPort === 0 ? [] : [`${hostIP || "0.0.0.0"}/${protocol}/${hostPort}`],
    ),
  );
}
