/**
 * Renews a cluster's certificates while it runs, so that a server can take the new ones without a restart.
 *
 * 1. One sleep at a time, never longer than a day: certificates go by wall time, which may jump (a laptop that slept)
 *    while a timer does not notice.
 * 2. Renewal is the same as a start: `ensureClusterPki` replaces what is too old.
 * 3. A failure, to renew or to use the new certificates, is logged and retried after an hour: a third of the lifetime
 *    is left.
 */

import { X509Certificate } from "node:crypto";
import type { Clock } from "#base";
import { DAY_MS } from "./authority.ts";
import { type ClusterPki, ensureClusterPki } from "./cluster-pki.ts";
import { LEAF_NAMES, type LeafName, leafSpecs, renewalTime } from "./leaf.ts";

const LONGEST_SLEEP_MS = DAY_MS;
const RETRY_MS = 60 * 60 * 1000;

export interface WatchRenewalOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Gets all certificates and the names of the new ones. If it fails, it is called again at the next try. */
  readonly onRenewed: (pki: ClusterPki, renewed: readonly LeafName[]) => void | Promise<void>;
  readonly onFailed: (error: unknown) => void;
}

/** Runs until its signal aborts. */
export async function watchRenewal(pki: ClusterPki, options: WatchRenewalOptions): Promise<void> {
  const { clock, signal, onRenewed, onFailed } = options;
  let current = pki;
  while (await untilDue(current, clock, signal)) {
    try {
      const fresh = await ensureClusterPki(pki.dir, { clock, serverNames: pki.serverNames });
      const renewed = changedLeaves(current, fresh);
      if (renewed.length > 0) await onRenewed(fresh, renewed);
      current = fresh;
    } catch (error) {
      onFailed(error);
      await slept(RETRY_MS, clock, signal);
    }
  }
}

/** When the next certificate has to be renewed, or its CA ends. */
export function nextRenewal(pki: ClusterPki): number {
  const specs = leafSpecs(pki.serverNames);
  const renewals = LEAF_NAMES.map((name) => {
    return renewalTime(new X509Certificate(pki[name].certPem), pki[specs[name].signedBy].certificate);
  });
  const ends = [pki.ca, pki.frontProxyCa].map(({ certificate }) => certificate.validToDate.getTime());
  return Math.min(...renewals, ...ends);
}

async function untilDue(pki: ClusterPki, clock: Clock, signal: AbortSignal): Promise<boolean> {
  const due = nextRenewal(pki);
  while (!signal.aborted) {
    const left = due - clock.now();
    if (left <= 0) return true;
    await slept(Math.min(left, LONGEST_SLEEP_MS), clock, signal);
  }
  return false;
}

/** Also ends, without an error, when the signal aborts. */
async function slept(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function changedLeaves(before: ClusterPki, after: ClusterPki): LeafName[] {
  return LEAF_NAMES.filter((name) => before[name].certPem !== after[name].certPem);
}
