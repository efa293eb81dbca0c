/**
 * What a controller is: a name, the resources it reads, and a function from what their caches show of one key to a plan.
 *
 * 1. `reconcile` is level-triggered: it works from current state, never from what a change said, and may run at any time.
 * 2. It reads only from caches, which show its own last writes, and writes nothing itself.
 */
import type { KubeObject } from "#api";
import type { Clock, Logger, Random } from "#base";
import type { Change, Client, Informers, ReadonlyCache, ResourceOf } from "#client";
import type { Plan } from "./plan.ts";

export interface ControllerContext {
  /** Reads go through caches. This is for what no cache has: discovery, subresources; and for controllers that write outside of plans. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly informers: Informers;
  cache<T extends KubeObject>(resource: ResourceOf<T>): ReadonlyCache<T>;
}

export interface Controller {
  /** As `--controllers` calls it, such as `deployment-controller`. */
  readonly name: string;
  /** The service account in kube-system whose rights it has. Default: its name. */
  readonly account?: string;
  /** Writes as the controller manager itself, whose role has the rights of some controllers that have no account. */
  readonly identity?: "manager";
  /** As events name their source. Default: its name. */
  readonly reportsAs?: string;
  /** How many keys at once. Default: 5. */
  readonly concurrency?: number;
  /** Runs only where it is asked for by name. */
  readonly offByDefault?: boolean;
  bind(context: ControllerContext): Reconciler;
}

/** `revision`: what made it look at the key, for those who want to see why. */
export type Enqueue = (key: string, afterMs?: number, revision?: number) => void;

export interface Reconciler {
  readonly sources: readonly Source[];
  reconcile(key: string, now: number, signal: AbortSignal): Plan | undefined | Promise<Plan | undefined>;
  /** Work that is not about a key, until the signal aborts. */
  run?(signal: AbortSignal, enqueue: Enqueue): Promise<void>;
}

/** Changes of one resource, and the keys that they are about. */
export interface Source {
  readonly resource: ResourceOf<KubeObject>;
  keys(change: Change<KubeObject>): readonly string[];
}

export function defineController(controller: Controller): Controller {
  return controller;
}
