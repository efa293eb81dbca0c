/** What the scheduler knows about devices: pools, classes, claims and use, as informers report them. */
import { kinds, optional } from "#api";
import { type Clock, LruMap } from "#base";
import type { Informers } from "#client";
import type { NodeInfo } from "../../framework/index.ts";
import { BackedResources } from "../backed-resources.ts";
import { type Found, searchDevices } from "./allocation-search.ts";
import { ClaimCache } from "./claim-cache.ts";
import type { DeviceFeatures } from "./device-features.ts";
import { DevicePools } from "./device-pools.ts";
import { DeviceSelectors } from "./device-selectors.ts";
import { TaintRules } from "./device-taints.ts";
import { DeviceUse } from "./device-use.ts";
import { NodeVerdicts } from "./node-verdicts.ts";
import type { DeviceClass, WantedClaim } from "./requests.ts";

/** Memos of different claims. */
const MAX_MEMOS = 200;

export interface DevicesOptions {
  readonly clock: Clock;
  /** How long an attempt may search. */
  readonly filterTimeoutMs: number;
  readonly features: DeviceFeatures;
}

export class Devices {
  readonly claims: ClaimCache;
  readonly backed: BackedResources;
  readonly features: DeviceFeatures;
  readonly pools: DevicePools;
  readonly use = new DeviceUse((pool) => this.pools.touch(pool));
  readonly #selectors = new DeviceSelectors();
  readonly #taintRules = new TaintRules();
  readonly #memos = new LruMap<string, NodeVerdicts>(MAX_MEMOS);
  readonly #options: DevicesOptions;
  readonly classNamed: (name: string) => DeviceClass | undefined;

  constructor(informers: Informers, options: DevicesOptions) {
    this.#options = options;
    this.features = options.features;
    this.pools = new DevicePools(options.features);
    this.claims = new ClaimCache(informers, this.use);
    this.backed = new BackedResources(informers, options.features.extendedResources);
    informers.of(kinds.ResourceSlice).onChange(({ type, object, old }) => {
      // A slice may move to another pool.
      if (old !== undefined) this.pools.delete(old);
      if (type !== "deleted") this.pools.set(object);
    });
    if (this.features.deviceTaints && this.features.deviceTaintRules) this.#followRules(informers);
    const classes = informers.of(kinds.DeviceClass);
    this.classNamed = (name) => classes.cache.get(name);
    classes.onChange(() => {
      while (this.#memos.size > 0) for (const [key] of this.#memos) this.#memos.delete(key);
    });
  }

  #followRules(informers: Informers): void {
    informers.of(optional.DeviceTaintRule).onChange(({ type, object }) => {
      if (type === "deleted") this.#taintRules.delete(object);
      else this.#taintRules.set(object);
      this.pools.changes.noteAll();
    });
  }

  /** Verdicts by node for equal claims. */
  verdictsFor(claims: readonly WantedClaim[]): NodeVerdicts {
    const key = JSON.stringify(claims.map(({ claim }) => claim.spec.devices));
    let memo = this.#memos.get(key);
    if (memo === undefined) {
      memo = new NodeVerdicts();
      this.#memos.set(key, memo);
    }
    return memo;
  }

  /** When a search that starts now has to end. */
  deadline(): number {
    const { clock, filterTimeoutMs, features } = this.#options;
    return filterTimeoutMs === 0 || !features.filterTimeout
      ? Number.POSITIVE_INFINITY
      : clock.monotonic() + filterTimeoutMs;
  }

  search(claims: readonly WantedClaim[], node: NodeInfo, deadlineMs: number): Found {
    return searchDevices(claims, {
      pools: this.pools.forNode(node),
      use: this.use,
      selectors: this.#selectors,
      features: this.features,
      taintRules: this.#taintRules,
      isLate: () => this.#options.clock.monotonic() >= deadlineMs,
    });
  }
}
