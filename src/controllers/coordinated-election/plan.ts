/**
 * Who leads, where several candidates name the same Lease: a step of an election, from what is stored.
 *
 *     needed? ──► ask candidates (pingTime) ··· each answers (renewTime) or lets 5 s pass ──► the best that answered
 *
 * 1. Needed: no Lease, an expired one or one without a holder, a better candidate than the holder; every 15 min.
 * 2. A living holder is not replaced: it is told who is preferred, and steps down itself.
 * 3. There is no memory: any step may be the first one of a new process.
 */
import { type coordination, type KubeObject, kinds, optional } from "#api";
import type { Plan } from "../runtime/index.ts";
import { bestCandidate, type LeaseCandidate, OLDEST, strategyOf } from "./candidates.ts";

const ELECTION_MS = 5_000;
const AGAIN_MS = 5_000;
const LEASE_SECONDS = 5;
/** A candidate that has not answered for so long does not count any more. */
export const VALID_MS = 30 * 60_000;

type Lease = coordination.Lease;
type Spec = NonNullable<Lease["spec"]>;

export interface Election {
  readonly namespace: string;
  readonly name: string;
  readonly lease: Lease | undefined;
  /** All that name the Lease. */
  readonly candidates: readonly LeaseCandidate[];
}

export function planElection(election: Election, now: number): Plan | undefined {
  const again = { againAfterMs: AGAIN_MS };
  const candidates = election.candidates.filter(({ spec }) => renewedMs(spec) + VALID_MS >= now);
  if (candidates.length === 0) return undefined;
  if (!isNeeded(election.lease, candidates, now)) return again;
  const asked = candidates.filter((candidate) => isToBeAsked(candidate, now));
  if (asked.length > 0) {
    const ping = (candidate: LeaseCandidate) =>
      ({
        verb: "update",
        resource: optional.LeaseCandidate,
        object: { ...candidate, spec: { ...candidate.spec, pingTime: microTime(now) } } as KubeObject,
      }) as const;
    return { steps: [asked.map(ping)], ...again };
  }
  if (candidates.some((candidate) => isPending(candidate) && timeMs(candidate.spec.pingTime) + ELECTION_MS > now))
    return again;
  const answered = candidates.filter(({ spec }) => renewedMs(spec) + ELECTION_MS > now);
  if (answered.length === 0) return again;
  const strategy = strategyOf(answered);
  // Other strategies are for other controllers: the Lease is there, without a holder.
  const holder = strategy === OLDEST ? bestCandidate(answered)?.metadata.name : undefined;
  return { ...elected(election, strategy, holder, now), ...again };
}

/** It was asked, and has not answered. */
export function isPending({ spec: { pingTime, renewTime } }: LeaseCandidate): boolean {
  return pingTime !== undefined && timeMs(renewTime) < timeMs(pingTime);
}

function isToBeAsked(candidate: LeaseCandidate, now: number): boolean {
  const { spec } = candidate;
  if (renewedMs(spec) + ELECTION_MS > now) return false;
  return spec.pingTime === undefined || (!isPending(candidate) && timeMs(spec.pingTime) + ELECTION_MS < now);
}

function isNeeded(lease: Lease | undefined, candidates: readonly LeaseCandidate[], now: number): boolean {
  const holder = lease?.spec?.holderIdentity ?? "";
  if (lease === undefined || holder === "" || hasExpired(lease, now)) return true;
  if (candidates.some(({ spec }) => renewedMs(spec) + VALID_MS / 2 < now)) return true;
  if (strategyOf(candidates) !== OLDEST) return false;
  const best = bestCandidate(candidates);
  return best !== undefined && best.metadata.name !== holder;
}

function hasExpired({ spec: { renewTime, leaseDurationSeconds } = {} }: Lease, now: number): boolean {
  if (renewTime === undefined || leaseDurationSeconds === undefined) return true;
  return timeMs(renewTime) + leaseDurationSeconds * 1000 < now;
}

function elected(
  { namespace, name, lease }: Election,
  strategy: string,
  holder: string | undefined,
  now: number,
): Plan {
  const fresh: Spec = { strategy, leaseDurationSeconds: LEASE_SECONDS, renewTime: microTime(now) };
  const led = holder === undefined ? fresh : { ...fresh, holderIdentity: holder };
  if (lease === undefined)
    return {
      steps: [
        [{ verb: "create", resource: kinds.Lease, object: { metadata: { namespace, name }, spec: led } as KubeObject }],
      ],
    };
  const current = lease.spec ?? {};
  const held = current.holderIdentity ?? "";
  let spec: Spec = { ...current, strategy };
  if (holder !== undefined && (held === "" || (hasExpired(lease, now) && held !== holder))) {
    const { preferredHolder: _, acquireTime: __, ...kept } = spec;
    spec = { ...kept, ...led };
  } else if (holder !== undefined && held !== holder) {
    spec = { ...spec, preferredHolder: holder };
  }
  if (Object.entries(spec).every(([field, value]) => current[field as keyof Spec] === value)) return {};
  return { steps: [[{ verb: "update", resource: kinds.Lease, object: { ...lease, spec } as KubeObject }]] };
}

/** Long ago, if it has never answered. */
export function renewedMs({ renewTime }: LeaseCandidate["spec"]): number {
  return timeMs(renewTime);
}

function timeMs(time: string | undefined): number {
  return time === undefined ? Number.NEGATIVE_INFINITY : Date.parse(time);
}

function microTime(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}
