/**
 * Scheduler extenders: HTTP services that filter and score nodes, and may bind and preempt.
 *
 * 1. An extender that fails or does not answer in time fails the attempt, unless it is `ignorable`.
 * 2. An extender with `managedResources` is called only for pods that request one of them.
 */
import type { PodInfo } from "./pod-info.ts";

export interface ExtenderConfig {
  readonly urlPrefix: string;
  readonly filterVerb: string;
  readonly prioritizeVerb: string;
  readonly bindVerb: string;
  readonly preemptVerb: string;
  readonly weight: number;
  readonly timeoutMs: number;
  /** The extender caches nodes: only their names are sent. */
  readonly nodeCacheCapable: boolean;
  readonly ignorable: boolean;
  readonly managedResources: readonly { readonly name: string; readonly ignoredByScheduler: boolean }[];
  readonly tls?:
    | {
        readonly insecure: boolean;
        readonly serverName?: string | undefined;
        readonly caPem?: string | undefined;
        readonly certPem?: string | undefined;
        readonly keyPem?: string | undefined;
      }
    | undefined;
}

export interface Extender {
  readonly name: string;
  readonly weight: number;
  readonly ignorable: boolean;
  isInterested(pod: PodInfo): boolean;
  /** Absent: the extender has no such verb. */
  filter?(pod: PodInfo, nodes: readonly string[], signal: AbortSignal): Promise<ExtenderFiltered>;
  /** Scores from 0 to 10, by node name. */
  prioritize?(pod: PodInfo, nodes: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, number>>;
  bind?(pod: PodInfo, node: string, signal: AbortSignal): Promise<void>;
  /** Returns the accepted subset of nodes and victims. */
  preempt?(
    pod: PodInfo,
    victims: ReadonlyMap<string, ExtenderVictims>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, ExtenderVictims>>;
  close(): Promise<void>;
}

export interface ExtenderFiltered {
  readonly fitting: readonly string[];
  /** Reasons by node name. */
  readonly failed: ReadonlyMap<string, string>;
  readonly unresolvable: ReadonlyMap<string, string>;
}

export interface ExtenderVictims {
  readonly pods: readonly PodInfo[];
  readonly pdbViolations: number;
}
