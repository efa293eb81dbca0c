/** One attempt for a Pod with claims: which nodes it fits, as far as devices are concerned. */
import type { core, resource } from "#api";
import {
  type ClusterView,
  isRejection,
  type NodeInfo,
  type OpenNodes,
  PASS,
  type PodInfo,
  type Rejection,
  type Rejections,
} from "../../framework/index.ts";
import { type NodeMatcher, selectorMatcher } from "../node-selectors.ts";
import type { Found } from "./allocation-search.ts";
import { hasBindingConditions, isTimedOut, readinessOf } from "./binding-conditions.ts";
import { type DeviceFeatures, missingFeature } from "./device-features.ts";
import type { Devices } from "./devices.ts";
import { type ExtendedRequests, extendedClaim, extendedRequests } from "./extended-resources.ts";
import type { NodeVerdict, NodeVerdicts } from "./node-verdicts.ts";
import { type Claim, claimText, isReservedFor, MAX_RESERVED, podClaims } from "./pod-claims.ts";
import { type WantedClaim, wantedBy } from "./requests.ts";

/** FirstAvailableDeviceRequestMaxSize. */
const MOST_ALTERNATIVES = 8;
const FITS: NodeVerdict = { verdict: PASS, score: 0, isFinal: true };

interface Allocated {
  readonly claim: Claim;
  /** Undefined: every node. */
  readonly reaches: NodeMatcher | undefined;
  /** Its devices do not become ready. */
  readonly isStuck: boolean;
}

export interface ExtendedState {
  /** In memory. */
  readonly claim: Claim;
  readonly mappings: ExtendedRequests["mappings"];
  /** Once it exists. */
  written?: Claim;
}

export interface PodState {
  readonly claims: readonly Claim[];
  /** To be allocated on this node: there may be one more, for extended resources. */
  wantedOn(node: NodeInfo): readonly WantedClaim[];
  /** Which containers use which requests of the claim for extended resources. */
  mappingsOn(node: NodeInfo): ExtendedRequests["mappings"];
  /** Some request has alternatives, so that nodes differ. */
  readonly isPrioritized: boolean;
  /** Allocated claims that were out of a node's reach. */
  readonly unavailable: ReadonlySet<Claim>;
  /** By uid: decided in reserve. */
  readonly allocations: Map<string, resource.AllocationResult>;
  /** The claim for extended resources on the chosen node, decided in reserve. */
  extended: ExtendedState | undefined;
  /** By uid: as written in preBind. */
  readonly bound: Map<string, Claim>;
  check(node: NodeInfo): NodeVerdict;
  sweep(open: OpenNodes): void;
  scoreOf(node: NodeInfo): number;
  search(node: NodeInfo): Found;
}

export interface StateOptions {
  /** Of the claim for extended resources, until it is created. */
  readonly temporaryUid: () => string;
  /** The position of a resource in a node's amounts. */
  readonly indexOf: (resource: string) => number;
  readonly bindingTimeoutMs: number;
  readonly nowMs: number;
}

export function podStateOf(
  { pod, uid }: PodInfo,
  view: ClusterView,
  devices: Devices,
  rejections: Rejections,
  options: StateOptions,
): PodState | { readonly fault: string } {
  const found = podClaims(pod, (key) => devices.claims.get(key));
  if ("fault" in found) return found;
  const allocated: Allocated[] = [];
  const wanted: WantedClaim[] = [];
  for (const claim of found.claims) {
    const { allocation, reservedFor = [] } = claim.status ?? {};
    if (allocation !== undefined) {
      if (reservedFor.length >= MAX_RESERVED && !isReservedFor(uid, claim)) return { fault: "resourceclaim in use" };
      allocated.push(allocatedOf(claim, options, devices.features));
      continue;
    }
    if (devices.claims.isPending(claim))
      return { fault: `resource claim ${claimText(claim)} is in the process of being allocated` };
    const each = wantedBy(claim, devices.classNamed, devices.features);
    if ("fault" in each) return each;
    wanted.push(each);
  }
  const unavailable = new Set<Claim>();
  const isPrioritized = wanted.some(({ requests }) => requests.some((request) => request.isPrioritized));
  let deadlineMs: number | undefined;
  const variantOf = variants(pod, wanted, view, devices, options);
  const search = (node: NodeInfo) => {
    deadlineMs ??= devices.deadline();
    return devices.search(variantOf(node).wanted, node, deadlineMs);
  };
  const refused: Record<Extract<Found, string>, { readonly rejection: Rejection; readonly isFinal: boolean }> = {
    none: { rejection: rejections.unresolvable("cannot allocate all claims"), isFinal: true },
    late: { rejection: rejections.unresolvable("timed out trying to allocate devices"), isFinal: false },
    "invalid pools": { rejection: rejections.unresolvable("invalid resource pools were encountered"), isFinal: true },
  };
  const missing = wanted.flatMap((each) => missingFeature(each, devices.features) ?? [])[0];
  const compute = (node: NodeInfo): NodeVerdict => {
    // Not final: it names this claim, and the memo is for equal ones.
    if (missing !== undefined) return { verdict: rejections.unresolvable(missing), score: 0, isFinal: false };
    const solution = search(node);
    if (typeof solution === "string") {
      const { rejection, isFinal } = refused[solution];
      return { verdict: rejection, score: 0, isFinal };
    }
    return isPrioritized ? { ...FITS, score: preference(wanted, solution) } : FITS;
  };
  const outOfReach = rejections.unresolvable("resourceclaim not available on the node");
  const verdictOn = (node: NodeInfo, devicesOn: (node: NodeInfo) => NodeVerdict): NodeVerdict => {
    const missing = allocated.filter(({ reaches, isStuck }) => isStuck || reaches?.(node) === false);
    const own = variantOf(node).wanted.length === 0 ? FITS : devicesOn(node);
    if (isRejection(own.verdict) || missing.length === 0) return own;
    for (const { claim } of missing) unavailable.add(claim);
    return { verdict: outOfReach, score: 0, isFinal: true };
  };
  const remembered = (node: NodeInfo) => variantOf(node).memo?.of(node, compute) ?? FITS;
  return {
    claims: found.claims,
    wantedOn: (node) => variantOf(node).wanted,
    mappingsOn: (node) => variantOf(node).mappings,
    isPrioritized,
    unavailable,
    allocations: new Map(),
    bound: new Map(),
    extended: undefined,
    search,
    check: (node) => verdictOn(node, compute),
    sweep(open) {
      const everywhere = allocated.length === 0 ? variantOf(undefined) : undefined;
      if (everywhere?.memo !== undefined) return everywhere.memo.sweep(open, view, compute);
      for (let at = 0; at < open.count; at++) {
        const node = view.nodes[open.indexes[at] ?? 0];
        if (node === undefined) continue;
        const { verdict } = verdictOn(node, remembered);
        if (isRejection(verdict)) open.reject(node.index, verdict);
      }
    },
    scoreOf: (node) => remembered(node).score,
  };
}

interface Variant {
  readonly wanted: readonly WantedClaim[];
  readonly mappings: ExtendedRequests["mappings"];
  readonly memo: NodeVerdicts | undefined;
}

interface VariantOf {
  (node: NodeInfo): Variant;
  /** That of every node, if nodes do not differ. */
  (node: undefined): Variant | undefined;
}

/** Nodes differ in the extended resources that devices have to provide: those that they do not have themselves. */
function variants(
  pod: core.Pod,
  wanted: readonly WantedClaim[],
  view: ClusterView,
  devices: Devices,
  { temporaryUid, indexOf }: StateOptions,
): VariantOf {
  const backed = backedResources(pod, devices).map((name) => ({ name, index: indexOf(name) }));
  const known = new Map<string, Variant>();
  const made = (names: ReadonlySet<string>): Variant => {
    const className = (name: string) => (names.has(name) ? devices.backed.classFor(name)?.metadata.name : undefined);
    const { requests, mappings } = extendedRequests(pod, className);
    const all = [...wanted];
    if (requests.length > 0) {
      const extended = wantedBy(extendedClaim(pod, temporaryUid(), requests), devices.classNamed);
      if ("fault" in extended) throw new Error(extended.fault);
      all.push(extended);
    }
    const memo = all.length === 0 ? undefined : devices.verdictsFor(all);
    memo?.refresh(view, devices.pools.changes);
    return { wanted: all, mappings, memo };
  };
  const plain = backed.length === 0 ? made(new Set()) : undefined;
  return (node) => {
    if (plain !== undefined || node === undefined) return plain as Variant;
    const { allocatable } = node;
    const missing = backed.filter(({ index }) => (allocatable[index] ?? 0) === 0).map(({ name }) => name);
    const key = missing.join();
    const variant = known.get(key) ?? made(new Set(missing));
    known.set(key, variant);
    return variant;
  };
}

/** The Pod's resources that some class of devices stands for. */
export function backedResources({ spec }: core.Pod, { backed }: Pick<Devices, "backed">): readonly string[] {
  const { initContainers = [], containers = [] } = spec ?? {};
  const names = [...initContainers, ...containers].flatMap(({ resources }) => Object.keys(resources?.requests ?? {}));
  return [...new Set(names)].filter((name) => backed.classFor(name) !== undefined);
}

function allocatedOf(
  claim: Claim,
  { bindingTimeoutMs, nowMs }: StateOptions,
  { bindingConditions }: DeviceFeatures,
): Allocated {
  const { nodeSelector } = claim.status?.allocation ?? {};
  const readiness = bindingConditions && hasBindingConditions(claim) ? readinessOf(claim) : "ready";
  return {
    claim,
    reaches: nodeSelector && selectorMatcher(nodeSelector),
    isStuck: typeof readiness === "object" || (readiness === "waiting" && isTimedOut(claim, nowMs, bindingTimeoutMs)),
  };
}

/** Higher the earlier the alternatives stand in their lists. */
function preference(wanted: readonly WantedClaim[], solution: Exclude<Found, string>): number {
  let score = 0;
  for (const [i, { requests }] of wanted.entries()) {
    for (const { options, isPrioritized } of requests) {
      if (!isPrioritized) continue;
      const picked = new Set(solution[i]?.map(({ wanted }) => wanted));
      const chosen = options.findIndex((option) => picked.has(option));
      if (chosen >= 0) score += MOST_ALTERNATIVES - chosen;
    }
  }
  return score;
}
