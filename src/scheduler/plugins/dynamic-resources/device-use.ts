/**
 * Which devices are allocated, and how much of the capacity of devices that several claims share.
 *
 * 1. Each claim counts once, whoever reported it last: the cache, or this scheduler for an allocation that the cache
 *    does not show yet.
 * 2. Admin access does not count as use.
 */
import { addQuantities, parseQuantity, type Quantity, type resource, subtractQuantities } from "#api";
import { deviceIdOf, poolIdOf } from "./device-pools.ts";

type Result = resource.DeviceRequestAllocationResult;
const NOTHING: readonly Result[] = [];

export type Amounts = Map<string, Quantity>;

interface Share {
  claims: number;
  readonly consumed: Amounts;
}

export class DeviceUse {
  readonly #claims = new Map<string, readonly Result[]>();
  readonly #devices = new Map<string, number>();
  readonly #shares = new Map<string, Share>();
  readonly #onChange: (pool: string) => void;

  /** `onChange`: called with each pool whose devices have changed. */
  constructor(onChange: (pool: string) => void = () => {}) {
    this.#onChange = onChange;
  }

  /** Replaces what the claim uses. */
  set(uid: string, allocation: resource.AllocationResult | undefined): void {
    const before = this.#claims.get(uid) ?? NOTHING;
    const now = (allocation?.devices?.results ?? NOTHING).filter(({ adminAccess }) => adminAccess !== true);
    if (before.length === 0 && now.length === 0) return;
    if (isSame(before, now)) return;
    for (const result of before) this.#count(result, -1);
    for (const result of now) this.#count(result, 1);
    if (now.length === 0) this.#claims.delete(uid);
    else this.#claims.set(uid, now);
    for (const pool of new Set([...before, ...now].map((each) => poolIdOf(each.driver, each.pool))))
      this.#onChange(pool);
  }

  /** Whether a claim has the whole device. */
  isTaken(device: string): boolean {
    return this.#devices.has(device);
  }

  /** Of a device that several claims may share; undefined if none does. */
  consumed(device: string): ReadonlyMap<string, Quantity> | undefined {
    return this.#shares.get(device)?.consumed;
  }

  isUsed(device: string): boolean {
    return this.#devices.has(device) || this.#shares.has(device);
  }

  #count(result: Result, by: 1 | -1): void {
    const id = deviceIdOf(result);
    if (result.shareID === undefined) {
      const count = (this.#devices.get(id) ?? 0) + by;
      if (count === 0) this.#devices.delete(id);
      else this.#devices.set(id, count);
      return;
    }
    const share = this.#shares.get(id) ?? { claims: 0, consumed: new Map() };
    share.claims += by;
    for (const [name, value] of Object.entries(result.consumedCapacity ?? {}))
      (by === 1 ? plus : minus)(share.consumed, name, parseQuantity(value));
    if (share.claims === 0) this.#shares.delete(id);
    else this.#shares.set(id, share);
  }
}

export function plus(amounts: Amounts, name: string, value: Quantity): void {
  const known = amounts.get(name);
  amounts.set(name, known === undefined ? value : addQuantities(known, value));
}

export function minus(amounts: Amounts, name: string, value: Quantity): void {
  const known = amounts.get(name);
  if (known !== undefined) amounts.set(name, subtractQuantities(known, value));
}

function isSame(a: readonly Result[], b: readonly Result[]): boolean {
  return (
    a.length === b.length &&
    a.every((result, i) => {
      const other = b[i];
      return (
        other !== undefined &&
        result.device === other.device &&
        result.pool === other.pool &&
        result.driver === other.driver &&
        result.shareID === other.shareID
      );
    })
  );
}
