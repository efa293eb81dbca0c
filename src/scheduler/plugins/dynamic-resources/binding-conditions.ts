/**
 * Devices that have to be attached to a node before a Pod may be bound to it: their drivers report so in the claim's
 * status.
 *
 *     all bindingConditions True         ready
 *     a bindingFailureCondition True     failed: the claim is deallocated, and other devices are tried
 *     neither until the timeout          failed, too
 */
import { kinds } from "#api";
import type { Clock } from "#base";
import type { Informers } from "#client";
import { type Claim, claimText } from "./pod-claims.ts";

export type Readiness = "ready" | "waiting" | { readonly fault: string };

export function hasBindingConditions({ status }: Claim): boolean {
  return (
    status?.allocation?.devices?.results?.some(({ bindingConditions = [] }) => bindingConditions.length > 0) ?? false
  );
}

export function readinessOf({ metadata, status }: Claim): Readiness {
  if (status?.allocation === undefined) return "waiting";
  for (const result of status.allocation.devices?.results ?? []) {
    const { bindingConditions = [], bindingFailureConditions = [] } = result;
    if (bindingConditions.length === 0) continue;
    const reported = status.devices?.find(
      ({ device, driver, pool }) => device === result.device && driver === result.driver && pool === result.pool,
    );
    if (reported === undefined) return "waiting";
    const isTrue = (name: string) =>
      reported.conditions?.find(({ type, status }) => type === name && status === "True");
    const failed = bindingFailureConditions.map(isTrue).find((condition) => condition !== undefined);
    if (failed !== undefined)
      return {
        fault: `claim ${metadata.name} binding failed: reason=${failed.reason}, message=${JSON.stringify(failed.message)}`,
      };
    if (bindingConditions.some((name) => isTrue(name) === undefined)) return "waiting";
  }
  return "ready";
}

export function isTimedOut(claim: Claim, nowMs: number, timeoutMs: number): boolean {
  const since = claim.status?.allocation?.allocationTimestamp;
  return since !== undefined && hasBindingConditions(claim) && Date.parse(since) + timeoutMs < nowMs;
}

export interface BindingWait {
  readonly claim: (key: string) => Claim | undefined;
  readonly informers: Informers;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** Throws if a claim fails, or is not ready in time. Returns the claims as they are then. */
export async function untilReady(
  claims: readonly Claim[],
  { claim, informers, clock, timeoutMs }: BindingWait,
  signal: AbortSignal,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const look = () => {
    for (const { metadata } of claims) {
      const now = claim(`${metadata.namespace}/${metadata.name}`);
      if (now === undefined) {
        reject(new Error(`could not find ResourceClaim "${metadata.namespace}/${metadata.name}"`));
        return;
      }
      const readiness = readinessOf(now);
      if (readiness === "waiting" && isTimedOut(now, clock.now(), timeoutMs))
        reject(new Error(`claim ${metadata.name} binding timeout`));
      else if (typeof readiness === "object") reject(new Error(readiness.fault));
      if (readiness !== "ready") return;
    }
    resolve();
  };
  const leave = informers.of(kinds.ResourceClaim).onChange(({ object }) => {
    if (claims.some((each) => claimText(each) === claimText(object))) look();
  });
  const late = clock.timer(timeoutMs, () => reject(new Error("device binding timeout")));
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    look();
    await promise;
  } finally {
    signal.removeEventListener("abort", stop);
    late.cancel();
    leave();
  }
}
