/**
 * Whether a volume that no Pod needs may be detached from its node.
 *
 *     the node has unmounted it                                   yes
 *     the node is out of service, by its taint                    yes, by force
 *     unneeded for 6 minutes, and the node is not Ready or gone   yes, by force, unless that is disabled
 *     otherwise                                                   not yet
 */
import type { core } from "#api";

const OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";
export const FORCE_AFTER_MS = 360_000;

export interface DetachView {
  /** Undefined if it does not exist any more. */
  readonly node: core.Node | undefined;
  /** The node reports the volume in use. */
  readonly isInUse: boolean;
  readonly unneededSinceMs: number;
  /** Not `--disable-force-detach-on-timeout`. */
  readonly forceOnTimeout: boolean;
}

export type DetachVerdict =
  | { readonly detach: true; readonly isForced: boolean }
  | { readonly detach: false; readonly againAfterMs?: number | undefined };

export function detachVerdict(
  { node, isInUse, unneededSinceMs, forceOnTimeout }: DetachView,
  now: number,
): DetachVerdict {
  if (!isInUse) return { detach: true, isForced: false };
  if (node !== undefined && isOutOfService(node)) return { detach: true, isForced: true };
  if (!forceOnTimeout) return { detach: false };
  const leftMs = unneededSinceMs + FORCE_AFTER_MS - now;
  if (leftMs > 0) return { detach: false, againAfterMs: leftMs };
  return isHealthy(node) ? { detach: false } : { detach: true, isForced: true };
}

export function isOutOfService({ spec }: core.Node): boolean {
  return (spec?.taints ?? []).some(({ key }) => key === OUT_OF_SERVICE);
}

export function isHealthy(node: core.Node | undefined): boolean {
  return node?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}
