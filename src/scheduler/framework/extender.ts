/**
 * Schedulers beside this one, asked over HTTP: which of the nodes fit, how good they are, and perhaps to bind.
 *
 * 1. An extender that fails or does not answer in time fails the attempt, unless it is `ignorable`.
 * 2. Only pods that ask for one of `managedResources` concern it; all do where there are none.
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
  /** It keeps nodes itself: names are enough. */
  readonly nodeCacheCapable: boolean;
  readonly ignorable: boolean;
  readonly managedResources: readonly { readonly name: string; readonly ignoredByScheduler: boolean }[];
  readonly tls?: {
    readonly insecure: boolean;
    readonly serverName?: string;
    readonly caPem?: string;
    readonly certPem?: string;
    readonly keyPem?: string;
  };
}

export interface Extender {
  readonly name: string;
  readonly weight: number;
  readonly ignorable: boolean;
  isInterested(pod: PodInfo): boolean;
  /** Absent: it has no such verb. */
  filter?(pod: PodInfo, nodes: readonly string[], signal: AbortSignal): Promise<ExtenderFiltered>;
  /** Scores from 0 to 10, by node name. */
  prioritize?(pod: PodInfo, nodes: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, number>>;
  bind?(pod: PodInfo, node: string, signal: AbortSignal): Promise<void>;
  /** From victims by node to those that it agrees with: a subset of nodes and of victims (by uid). */
  preempt?(
    pod: PodInfo,
    victims: ReadonlyMap<string, ExtenderVictims>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, ExtenderVictims>>;
  close(): Promise<void>;
}

export interface ExtenderFiltered {
  readonly fitting: readonly string[];
  /** Name to reason. */
  readonly failed: ReadonlyMap<string, string>;
  readonly unresolvable: ReadonlyMap<string, string>;
}

export interface ExtenderVictims {
  readonly pods: readonly PodInfo[];
  readonly pdbViolations: number;
}
