/**
 * The structured-parameters allocator: devices of one node for claims, all or nothing.
 *
 *     claim by claim ──► request by request ──► one alternative after the other ──► device by device
 *                                                                                        │ does not lead to a solution
 *                                                                                        └──► the next device
 *
 * 1. The first solution is taken. Devices are tried in the order of the pools, so it is always the same one.
 * 2. The devices of one request are tried in combinations, not in permutations; and not again in place of a device
 *    that differs in its name only and did not lead to a solution.
 * 3. The search is bounded in time: it is exponential in the worst case.
 */
import { compareQuantities, parseQuantity, type Quantity } from "#api";
import { consumedBy, fitsCapacity } from "./capacity.ts";
import { type Constraint, constraintOf } from "./constraints.ts";
import type { DeviceFeatures } from "./device-features.ts";
import type { NodePool, PoolDevice } from "./device-pools.ts";
import type { DeviceSelectors } from "./device-selectors.ts";
import { repelsRequest, type TaintRules } from "./device-taints.ts";
import { type Amounts, type DeviceUse, minus, plus } from "./device-use.ts";
import { claimText } from "./pod-claims.ts";
import { MAX_DEVICES, type Wanted, type WantedClaim } from "./requests.ts";

export interface Picked {
  readonly wanted: Wanted;
  readonly device: PoolDevice;
  /** Of a device that several claims may share. */
  readonly consumed: ReadonlyMap<string, Quantity> | undefined;
}

/** By claim. */
export type Solution = readonly (readonly Picked[])[];

export interface SearchContext {
  readonly pools: readonly NodePool[];
  readonly use: DeviceUse;
  readonly selectors: DeviceSelectors;
  readonly features: DeviceFeatures;
  /** Those that rules add to devices. */
  readonly taintRules: TaintRules;
  /** Whether the search has taken too long. */
  isLate(): boolean;
}

export type Found = Solution | "none" | "late" | "invalid pools";

/** Something is wrong with the claim or its class: no node can help. */
export class AllocationError extends Error {
  override readonly name = "AllocationError";
}

const STEPS_BETWEEN_LOOKS = 256;
/** A claim would have too many devices: another alternative may need fewer. */
type Outcome = "done" | "failed" | "too many";

class Late extends Error {}

export function searchDevices(claims: readonly WantedClaim[], context: SearchContext): Found {
  try {
    const search = new Search(claims, context);
    if (search.run()) return search.picked;
    return context.pools.some(({ pool }) => pool.isInvalid) ? "invalid pools" : "none";
  } catch (error) {
    if (error instanceof Late) return "late";
    throw error;
  }
}

class Search {
  readonly picked: Picked[][];
  readonly #claims: readonly WantedClaim[];
  readonly #context: SearchContext;
  readonly #candidates: readonly PoolDevice[];
  readonly #constraints: readonly (readonly Constraint[])[];
  readonly #all = new Map<Wanted, readonly PoolDevice[]>();
  /** Devices of this search, with the claims that get them. */
  readonly #taken = new Map<string, Set<number>>();
  readonly #shared = new Map<string, { count: number; readonly consumed: Amounts }>();
  readonly #counters = new Map<string, Amounts>();
  readonly #likeness = new Map<PoolDevice, string>();
  #steps = 0;

  constructor(claims: readonly WantedClaim[], context: SearchContext) {
    this.#claims = claims;
    this.#context = context;
    this.picked = claims.map(() => []);
    this.#constraints = claims.map(({ constraints }) => constraints.map(constraintOf));
    this.#candidates = context.pools.flatMap(({ pool, devices }) =>
      pool.isIncomplete || pool.isInvalid ? [] : devices,
    );
    for (const claim of claims) this.#check(claim);
  }

  run(): boolean {
    return this.#claim(0) === "done";
  }

  /** Looks up all devices of requests for all, and refuses claims for too many devices. */
  #check({ claim, requests }: WantedClaim): void {
    let least = 0;
    for (const { options } of requests) {
      const counts = options.map((wanted) => {
        if (!wanted.takesAll) return wanted.count;
        const all = this.#allFor(wanted, claimText(claim));
        this.#all.set(wanted, all);
        return all.length;
      });
      least += Math.min(...counts);
    }
    if (least > MAX_DEVICES)
      throw new AllocationError(
        `claim ${claimText(claim)}: number of requested devices ${least} exceeds the claim limit of ${MAX_DEVICES}`,
      );
  }

  #allFor(wanted: Wanted, claim: string): readonly PoolDevice[] {
    return this.#context.pools.flatMap(({ pool, devices }) => {
      const state = pool.isIncomplete ? "being updated" : pool.isInvalid ? "invalid" : undefined;
      if (state !== undefined)
        throw new AllocationError(
          `claim ${claim}, request ${wanted.request}: asks for all devices, but resource pool ${pool.id} is currently ${state}`,
        );
      return devices.filter((device) => this.#selects(wanted, device, claim) && this.#hasCapacity(wanted, device));
    });
  }

  #claim(at: number): Outcome {
    if (at >= this.#claims.length) return "done";
    return this.#request(at, 0);
  }

  #request(claimAt: number, at: number): Outcome {
    const { requests = [] } = this.#claims[claimAt] ?? {};
    const request = requests[at];
    if (request === undefined) return this.#claim(claimAt + 1) === "done" ? "done" : "failed";
    let outcome: Outcome = "too many";
    for (const wanted of request.options) {
      const tried = this.#devices(claimAt, at, wanted, 0, 0);
      if (tried === "done") return "done";
      if (tried === "failed") outcome = "failed";
    }
    return outcome;
  }

  /** `count`: devices that the request has already. `from`: the first candidate to try. */
  #devices(claimAt: number, at: number, wanted: Wanted, count: number, from: number): Outcome {
    this.#look();
    const all = this.#all.get(wanted);
    if (all?.length === 0) return "failed";
    const needed = all?.length ?? wanted.count;
    if (count >= needed) return this.#request(claimAt, at + 1);
    if ((this.picked[claimAt]?.length ?? 0) + needed - count > MAX_DEVICES) return "too many";
    if (all !== undefined) {
      const device = all[count];
      if (device === undefined || !this.#take(claimAt, wanted, device, true)) return "failed";
      const outcome = this.#devices(claimAt, at, wanted, count + 1, 0);
      if (outcome !== "done") this.#giveBack(claimAt);
      return outcome;
    }
    const failed = new Set<string>();
    for (let next = from; next < this.#candidates.length; next++) {
      const device = this.#candidates[next];
      if (device === undefined || !this.#isFree(claimAt, wanted, device)) continue;
      if (failed.size > 0 && failed.has(this.#alike(device))) continue;
      if (!this.#selects(wanted, device, this.#claimName(claimAt)) || !this.#take(claimAt, wanted, device)) continue;
      const outcome = this.#devices(claimAt, at, wanted, count + 1, next + 1);
      if (outcome === "done") return "done";
      this.#giveBack(claimAt);
      if (outcome === "too many") return outcome;
      // Admin access also gets devices that are taken, which are not like free ones.
      if (!wanted.adminAccess) failed.add(this.#alike(device));
    }
    return "failed";
  }

  #look(): void {
    this.#steps += 1;
    if (this.#steps % STEPS_BETWEEN_LOOKS === 0 && this.#context.isLate()) throw new Late();
  }

  #claimName(at: number): string {
    const claim = this.#claims[at]?.claim;
    return claim === undefined ? "" : claimText(claim);
  }

  #selects(wanted: Wanted, { device, pool, id }: PoolDevice, claim: string): boolean {
    for (const { expression, class: className, index } of wanted.selectors) {
      const match = this.#context.selectors.matches(expression, pool.driver, device);
      if (match === false) return false;
      if (match === true) continue;
      const where = className === undefined ? `claim ${claim}` : `class ${className}`;
      const on = match.fault.startsWith("CEL compile") ? "" : ` on device ${id}`;
      throw new AllocationError(`${where}: selector #${index}${on}: ${match.fault}`);
    }
    return true;
  }

  #isFree(claimAt: number, { adminAccess }: Wanted, { id }: PoolDevice): boolean {
    const taken = this.#taken.get(id);
    if (adminAccess) return taken?.has(claimAt) !== true;
    return !this.#context.use.isTaken(id) && (taken === undefined || taken.size === 0);
  }

  #isRepelled({ pool, device }: PoolDevice, { tolerations }: Wanted): boolean {
    const name = { driver: pool.driver, pool: pool.name, device: device.name };
    return repelsRequest(this.#context.taintRules.taintsOf(name, device.taints), tolerations);
  }

  #hasCapacity({ capacity }: Wanted, { id, device }: PoolDevice): boolean {
    if (!this.#context.features.consumableCapacity) return true;
    if (device.capacity === undefined) return Object.keys(capacity ?? {}).length === 0;
    const consumed = [this.#context.use.consumed(id), this.#shared.get(id)?.consumed];
    return fitsCapacity(capacity, device.capacity, consumed);
  }

  /** Whether the claim gets the device. `must`: no other device can take its place. */
  #take(claimAt: number, wanted: Wanted, device: PoolDevice, must = false): boolean {
    if (!this.#isFree(claimAt, wanted, device) || !this.#hasCapacity(wanted, device)) return false;
    const { deviceTaints, consumableCapacity } = this.#context.features;
    if (deviceTaints && this.#isRepelled(device, wanted)) return false;
    const isShared = consumableCapacity && device.device.allowMultipleAllocations === true;
    const counts = this.#usesCounters(wanted, device, isShared);
    if (counts && !this.#hasCounters(device)) return false;
    const constraints = this.#constraints[claimAt] ?? [];
    for (const [i, constraint] of constraints.entries()) {
      if (constraint.add(wanted, device)) continue;
      for (const earlier of constraints.slice(0, i)) earlier.remove(wanted, device);
      if (must)
        throw new AllocationError(
          `claim ${this.#claimName(claimAt)}, request ${wanted.request}: cannot add device ${device.id} because a claim constraint would not be satisfied`,
        );
      return false;
    }
    if (counts) this.#countCounters(device, plus);
    const consumed = isShared ? consumedBy(wanted.capacity, device.device.capacity ?? {}) : undefined;
    if (consumed !== undefined) this.#share(device, consumed, 1);
    else {
      const taken = this.#taken.get(device.id) ?? new Set();
      this.#taken.set(device.id, taken.add(claimAt));
    }
    this.picked[claimAt]?.push({ wanted, device, consumed });
    return true;
  }

  /** Undoes the last `take` of the claim. */
  #giveBack(claimAt: number): void {
    const last = this.picked[claimAt]?.pop();
    if (last === undefined) return;
    const { wanted, device, consumed } = last;
    for (const constraint of this.#constraints[claimAt] ?? []) constraint.remove(wanted, device);
    if (consumed !== undefined) this.#share(device, consumed, -1);
    else this.#taken.get(device.id)?.delete(claimAt);
    if (this.#usesCounters(wanted, device, consumed !== undefined)) this.#countCounters(device, minus);
  }

  /** A shared device takes its counters once. Admin access takes none. */
  #usesCounters({ adminAccess }: Wanted, device: PoolDevice, isShared: boolean): boolean {
    const { consumesCounters = [] } = device.device;
    return consumesCounters.length > 0 && !adminAccess && !(isShared && this.#isSharedAlready(device));
  }

  #isSharedAlready({ id }: PoolDevice): boolean {
    return this.#context.use.consumed(id) !== undefined || this.#shared.has(id);
  }

  #share({ id }: PoolDevice, consumed: ReadonlyMap<string, Quantity>, by: 1 | -1): void {
    const share = this.#shared.get(id) ?? { count: 0, consumed: new Map() };
    share.count += by;
    for (const [name, value] of consumed) (by === 1 ? plus : minus)(share.consumed, name, value);
    if (share.count === 0) this.#shared.delete(id);
    else this.#shared.set(id, share);
  }

  #hasCounters({ device, pool }: PoolDevice): boolean {
    const left = this.#countersLeft(pool.id);
    return countersOf(device).every(([name, value]) => {
      const available = left.get(name);
      return available !== undefined && compareQuantities(available, value) >= 0;
    });
  }

  #countCounters({ device, pool }: PoolDevice, by: typeof plus): void {
    const left = this.#countersLeft(pool.id);
    // What a device takes is no longer left.
    for (const [name, value] of countersOf(device)) (by === plus ? minus : plus)(left, name, value);
  }

  /** The pool's counters without those of allocated devices, which may be out of this node's reach. */
  #countersLeft(id: string): Amounts {
    const known = this.#counters.get(id);
    if (known !== undefined) return known;
    const pool = this.#context.pools.find((each) => each.pool.id === id)?.pool;
    const left: Amounts = new Map(pool?.counters);
    for (const { device, id: deviceId } of pool?.sections.flatMap(({ devices }) => devices) ?? [])
      if (this.#context.use.isUsed(deviceId)) for (const [name, value] of countersOf(device)) minus(left, name, value);
    this.#counters.set(id, left);
    return left;
  }

  /** Equal for free devices that differ in nothing but their names. */
  #alike(device: PoolDevice): string {
    if (this.#shared.has(device.id)) return device.id;
    let likeness = this.#likeness.get(device);
    if (likeness === undefined) {
      const { name: _, ...rest } = device.device;
      const consumed = [...(this.#context.use.consumed(device.id) ?? [])].map(([name, { text }]) => [name, text]);
      likeness = JSON.stringify([device.pool.id, device.slice.metadata.name, rest, consumed]);
      this.#likeness.set(device, likeness);
    }
    return likeness;
  }
}

function countersOf({ consumesCounters = [] }: PoolDevice["device"]): readonly (readonly [string, Quantity])[] {
  return consumesCounters.flatMap(({ counterSet, counters }) =>
    Object.entries(counters).map(([name, { value }]) => [`${counterSet}/${name}`, parseQuantity(value)] as const),
  );
}
