/**
 * Records of what happened in a cluster, with their causes.
 *
 *     request ══► revision --► work (a reconcile, a scheduling attempt, a sync of a Pod) ──► request ══► revision --► …
 *
 * 1. A request's cause is the work during which it was sent; one without a cause begins a flow.
 * 2. A work's causes are the revisions that woke it. Nothing else is a cause; the order of time is not.
 * 3. A work is marked as `claimed` unless the identity of its reporter proves that it is that component.
 * 4. The id of a work is the recorder's own. What a client calls its work means something only with that client's user:
 *    nobody can name, or take the place of, the work of another.
 */

/** An object as paths name it: `apps/deployments`, `default`, `web`. */
export interface ObjectName {
  /** With its group, without its version: `pods`, `apps/deployments`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/** The span of a record in OpenTelemetry traces. */
export interface SpanName {
  readonly traceId: string;
  readonly spanId: string;
}

interface Happened {
  /** Grows by one with each record of a recorder. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** If it was traced. */
  readonly span?: SpanName | undefined;
}

export interface RequestRecord extends Happened, ObjectName {
  readonly type: "request";
  /** The participant: `kubectl`, `deployment-controller`, `kubelet/n1`. */
  readonly actor: string;
  /** The user name. */
  readonly user: string;
  readonly verb: string;
  readonly subresource: string;
  readonly status: number;
  /** The reason of the Status, if it was refused. */
  readonly reason?: string;
  /** What allowed or denied it. */
  readonly authorization?: string;
  /** The admission plugins that ran. */
  readonly admission?: readonly string[];
  /** How long each of them took, waiting included. */
  readonly admissionMicroseconds?: Readonly<Record<string, number>>;
  /** … and the one that refused it. */
  readonly refusedBy?: string;
  /** Calls to other servers during admission, such as webhooks. */
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
  /** When it was written, before the response. */
  readonly at: number;
}

/** The watchers that a revision was delivered to. */
export interface DeliveryRecord extends Happened, ObjectName {
  readonly type: "delivery";
  readonly revision: number;
  readonly change: Written["change"];
  /** Each name once; of many, the first ones. */
  readonly to: readonly string[];
  /** The number of watches. */
  readonly watchers: number;
}

/** One piece of work of a component: a reconcile, a scheduling attempt, a sync of a Pod. */
export interface WorkRecord extends Happened {
  readonly type: "work";
  readonly id: string;
  readonly actor: string;
  /** Its subject: mostly a key. */
  readonly about: string;
  /** The resource of the object whose key `about` is. Absent: it is about no single object. */
  readonly resource?: string | undefined;
  readonly woken: readonly number[];
  /** What it read: `Deployment/web@41`, or of many `12 Pods@…1041`. */
  readonly read?: readonly string[];
  readonly tookMs: number;
  /** Its decision, in short. */
  readonly decided: string;
  /** Calls to others than the API server: a container runtime, a network plugin. */
  readonly calls: readonly Call[];
  /** Reported by a user whose identity does not prove it. */
  readonly claimed: boolean;
  /** That user. */
  readonly claimedBy?: string | undefined;
  /** Its times are of another process's clock. */
  readonly foreignClock: boolean;
}

export interface Call {
  readonly to: string;
  readonly what: string;
  /** Since the start of the work. */
  readonly afterMs: number;
  readonly tookMs: number;
  readonly failed?: string;
}

export type FlowRecord = RequestRecord | DeliveryRecord | WorkRecord;

/** A record without its sequence number. */
export type Unnumbered<T extends FlowRecord> = Omit<T, "seq">;

export function isRead(verb: string): boolean {
  return verb === "get" || verb === "list" || verb === "watch";
}

export function sameObject(a: ObjectName, b: ObjectName): boolean {
  return a.name === b.name && a.namespace === b.namespace && a.resource === b.resource;
}
