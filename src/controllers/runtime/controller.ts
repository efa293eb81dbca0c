/**
 * A controller: a name, the resources it reads, and a function from the cached state of one key to a plan.
 *
 * 1. `reconcile` is level-triggered: it works from current state, never from the content of a change, and may run at
 *    any time.
 * 2. It reads only from caches, which show its own last writes, and writes nothing itself.
 */
import type { KubeObject } from "#api";
import type { Clock, Logger, Random } from "#base";
import type { Change, Client, Informers, ReadonlyCache, ResourceName, ResourceOf } from "#client";
import type { Families } from "./metrics.ts";
import type { Plan } from "./plan.ts";

export interface ControllerContext {
  /** For what no cache has, such as discovery and subresources, and for controllers that write outside of plans. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly informers: Informers;
  /** Its own metrics: see `Families`. */
  readonly families: Families;
  cache<T extends KubeObject>(resource: ResourceOf<T>): ReadonlyCache<T>;
}

export interface Controller {
  /** Its name in `--controllers`, such as `deployment-controller`. */
  readonly name: string;
  /** Its service account in kube-system. Default: its name. */
  readonly account?: string;
  /** Writes as kube-controller-manager, whose role has the permissions of controllers without an account. */
  readonly identity?: "manager";
  /** The source in its Events. Default: its name. */
  readonly reportsAs?: string;
  /** Concurrent workers. Default: 5. */
  readonly concurrency?: number;
  /** Feature gates: it runs only where all of them are on. */
  readonly gates?: readonly string[];
  /** Kinds that not every server serves. Without them, it does not run. */
  readonly needs?: readonly ResourceName[];
  /** Disabled unless it is selected by name. */
  readonly offByDefault?: boolean;
  bind(context: ControllerContext): Reconciler;
}

/** `revision`: the revision of the change, for the flow record. */
export type Enqueue = (key: string, afterMs?: number, revision?: number) => void;

export interface Reconciler {
  readonly sources: readonly Source[];
  reconcile(key: string, now: number, signal: AbortSignal): Plan | undefined | Promise<Plan | undefined>;
  /** Work without a key, until the signal aborts. */
  run?(signal: AbortSignal, enqueue: Enqueue): Promise<void>;
}

/** Maps changes of one resource to keys. */
export interface Source {
  readonly resource: ResourceOf<KubeObject>;
  /** The keys are those of the changed objects: reconciles are about objects of this resource. */
  readonly isItself?: boolean | undefined;
  keys(change: Change<KubeObject>): readonly string[];
}

export function defineController(controller: Controller): Controller {
  return controller;
}
