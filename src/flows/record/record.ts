/**
 * What happened in a cluster, as records that know their cause.
 *
 *     request ══► revision --► work (a reconcile, a scheduling attempt, a sync of a Pod) ──► request ══► revision --► …
 *
 * 1. A request's cause is the work during which it was sent; one without a cause begins a flow.
 * 2. A work's causes are the revisions that woke it. Nothing else is a cause: that two things happened one after the other is none.
 * 3. What somebody says of their own work is marked as such (`claimed`) unless who they are vouches for it.
 */

/** An object as paths name it: `apps/deployments`, `default`, `web`. */
export interface ObjectName {
  /** With its group, without its version: `pods`, `apps/deployments`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

interface Happened {
  /** Grows by one with each record of a recorder. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface RequestRecord extends Happened, ObjectName {
  readonly type: "request";
  /** Who took part: `kubectl`, `deployment-controller`, `kubelet/n1`. */
  readonly actor: string;
  /** In whose name. */
  readonly user: string;
  readonly verb: string;
  readonly subresource: string;
  readonly status: number;
  /** Why it was refused, as its Status says. */
  readonly reason?: string;
  /** By what it was allowed or forbidden. */
  readonly authorization?: string;
  /** Admission plugins that were asked. */
  readonly admission?: readonly string[];
  /** How long each of them took, with what it waited for. */
  readonly admissionMicroseconds?: Readonly<Record<string, number>>;
  /** … and the one of them that refused it. */
  readonly refusedBy?: string;
  /** Calls to others to decide about it, such as webhooks. */
  readonly calls?: readonly Call[];
  readonly tookMs: number;
  /** What it wrote. */
  readonly written?: Written;
  /** The work that sent it. */
  readonly cause?: string;
}

export interface Written {
  readonly revision: number;
  readonly change: "ADDED" | "MODIFIED" | "DELETED";
  readonly uid: string;
  /** When, which is before the answer. */
  readonly at: number;
}

/** Watchers that were told of a revision. */
export interface DeliveryRecord extends Happened, ObjectName {
  readonly type: "delivery";
  readonly revision: number;
  readonly change: Written["change"];
  /** Each name once; of many, the first. */
  readonly to: readonly string[];
  /** How many watches that were. */
  readonly watchers: number;
}

/** What a component did about one object, from what woke it to what it decided. */
export interface WorkRecord extends Happened {
  readonly type: "work";
  readonly id: string;
  readonly actor: string;
  /** What it looked after, as it calls it: mostly a key. */
  readonly about: string;
  readonly woken: readonly number[];
  /** What it looked at: `Deployment/web@41`, or of many `12 Pods@…1041`. */
  readonly read?: readonly string[];
  readonly tookMs: number;
  /** In a few words. */
  readonly decided: string;
  /** Calls to what is no API server: a container runtime, a network plugin. */
  readonly calls: readonly Call[];
  /** Told by somebody whose identity does not vouch for it. */
  readonly claimed: boolean;
  /** By the clock of another process. */
  readonly foreignClock: boolean;
}

export interface Call {
  readonly to: string;
  readonly what: string;
  /** After the work began. */
  readonly afterMs: number;
  readonly tookMs: number;
  readonly failed?: string;
}

export type FlowRecord = RequestRecord | DeliveryRecord | WorkRecord;

/** What its maker knows of a record. */
export type Unnumbered<T extends FlowRecord> = Omit<T, "seq">;

export function isRead(verb: string): boolean {
  return verb === "get" || verb === "list" || verb === "watch";
}

export function sameObject(a: ObjectName, b: ObjectName): boolean {
  return a.name === b.name && a.namespace === b.namespace && a.resource === b.resource;
}
