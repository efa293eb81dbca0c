/** One attempt for a Pod with claims: which nodes it fits, as far as devices are concerned. */
import type { resource } from "#api";
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
import type { Devices } from "./devices.ts";
import type { NodeVerdict } from "./node-verdicts.ts";
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

export interface PodState {
  readonly claims: readonly Claim[];
  /** To be allocated. */
  readonly wanted: readonly WantedClaim[];
  /** Some request has alternatives, so that nodes differ. */
  readonly isPrioritized: boolean;
  /** Allocated claims that were out of a node's reach. */
  readonly unavailable: ReadonlySet<Claim>;
  /** By uid: decided in reserve. */
  readonly allocations: Map<string, resource.AllocationResult>;
  /** By uid: as written in preBind. */
  readonly bound: Map<string, Claim>;
  check(node: NodeInfo): NodeVerdict;
  sweep(open: OpenNodes): void;
  scoreOf(node: NodeInfo): number;
  search(node: NodeInfo): Found;
}

export interface StateOptions {
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
      allocated.push(allocatedOf(claim, options));
      continue;
    }
    if (devices.claims.isPending(claim))
      return { fault: `resource claim ${claimText(claim)} is in the process of being allocated` };
    const each = wantedBy(claim, devices.classNamed);
    if ("fault" in each) return each;
    wanted.push(each);
  }
  const unavailable = new Set<Claim>();
  const isPrioritized = wanted.some(({ requests }) => requests.some((request) => request.isPrioritized));
  let deadlineMs: number | undefined;
  const search = (node: NodeInfo) => {
    deadlineMs ??= devices.deadline();
    return devices.search(wanted, node, deadlineMs);
  };
  const refused: Record<Extract<Found, string>, { readonly rejection: Rejection; readonly isFinal: boolean }> = {
    none: { rejection: rejections.unresolvable("cannot allocate all claims"), isFinal: true },
    late: { rejection: rejections.unresolvable("timed out trying to allocate devices"), isFinal: false },
    "invalid pools": { rejection: rejections.unresolvable("invalid resource pools were encountered"), isFinal: true },
  };
  const compute = (node: NodeInfo): NodeVerdict => {
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
    const own = wanted.length === 0 ? FITS : devicesOn(node);
    if (isRejection(own.verdict) || missing.length === 0) return own;
    for (const { claim } of missing) unavailable.add(claim);
    return { verdict: outOfReach, score: 0, isFinal: true };
  };
  const memo = wanted.length === 0 ? undefined : devices.verdictsFor(wanted);
  const remembered = (node: NodeInfo) => memo?.of(node, compute) ?? FITS;
  return {
    claims: found.claims,
    wanted,
    isPrioritized,
    unavailable,
    allocations: new Map(),
    bound: new Map(),
    search,
    check: (node) => verdictOn(node, compute),
    sweep(open) {
      memo?.refresh(view, devices.pools.changes);
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

function allocatedOf(claim: Claim, { bindingTimeoutMs, nowMs }: StateOptions): Allocated {
  const { nodeSelector } = claim.status?.allocation ?? {};
  const readiness = hasBindingConditions(claim) ? readinessOf(claim) : "ready";
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
