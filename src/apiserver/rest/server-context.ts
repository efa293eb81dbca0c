/** What the verbs need besides the request. The composition root passes it in. */
import type { Draft, DropFields, Features, JsonObject, Kind, KubeObject, ObjectMeta } from "#api";
import type { Clock, Logger, Maybe, Random } from "#base";
import type { RequestAbout } from "#flows";
import type { Revision, Store } from "#store";
import type { Tracer } from "#tracing";
import type { StoreFeed } from "../cache/feed.ts";
import type { Egress } from "../egress/index.ts";
import type { UserInfo } from "../identity/user.ts";
import type { RestMetrics } from "./metrics.ts";
import type { FormerNamespaces } from "./read/former-namespaces.ts";
import type { Resource } from "./resource.ts";
import type { RestRequest } from "./rest-request.ts";

/** What reading and storing needs. It exists before the server is complete. */
export interface StorageContext {
  readonly store: Store;
  readonly feed: StoreFeed;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly features: Features;
  /** Absent: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  /** How connections to other servers are opened. Absent: directly. */
  readonly egress?: Egress | undefined;
  /** How fields of features that are off are dropped from objects of a kind. Undefined: there are none. */
  disabledFields(kind: Kind): DropFields | undefined;
  /** A version 4 UUID. */
  newUid(): string;
  /** Other servers write to the store: a read of the newest state has to ask it for its revision. */
  readonly sharedStore: boolean;
  /** The newest revision that anybody may have seen, where that is known without asking the store. */
  readonly newest?: (() => Revision) | undefined;
  /** Counts lists and watches. Absent: nothing is counted. */
  readonly restMetrics?: RestMetrics | undefined;
  /** Whether the value of a key has to be written again although the object is unchanged. Absent: never. */
  readonly isOutdated?: ((key: string) => boolean) | undefined;
}

/** The complete server: storage, and everything that has a say in a write. */
export interface ServerContext extends StorageContext {
  readonly admission: Admission;
  readonly access: WriteAccess;
  /** The allocators of resources whose objects need addresses or ports, by `group/plural`. */
  readonly allocators: ReadonlyMap<string, Allocator>;
  /** Lists of earlier revisions have expired. Absent: as far as the store goes back. */
  readonly oldestListed?: (() => Revision) | undefined;
  /** Absent: what was in a namespace that was deleted can be listed and watched under its name. */
  readonly formerNamespaces?: FormerNamespaces | undefined;
  /** How many objects of a collection are deleted at a time. */
  readonly deleteWorkers?: number | undefined;
  /** False: there is no garbage collector, so that propagation policies add no finalizers. */
  readonly garbageCollection?: boolean | undefined;
  /** Reports each delivery with the watcher's user name. Absent: deliveries are not recorded. */
  readonly deliveries?: ((user: string, userAgent: string) => Delivered) | undefined;
}

export type Delivered = (resource: Resource, change: string, key: string, revision: number) => void;

/**
 * Hands out what no two objects may share: addresses, ports. It runs before validation, so that validation sees the
 * complete object.
 *
 *     allocate ──► validate ──► store ──► keep
 *        └──────────┴────────────┴─────► giveBack    the write failed or changed nothing
 */
export interface Allocator {
  /** Fills in the draft, or throws the error for the client. A dry run takes nothing. */
  allocate(wanted: Allocating): Promise<Allocation>;
  /** The object is deleted: what it had is free. */
  release(object: KubeObject): Promise<void>;
}

export interface Allocating {
  readonly draft: Draft<KubeObject>;
  /** Absent on create. */
  readonly old: KubeObject | undefined;
  readonly dryRun: boolean;
}

/** One of the two is called, once. Neither throws: the repair loop finds what cannot be given back now. */
export interface Allocation {
  /** The object is stored: what only `old` had is free. */
  keep(): Promise<void>;
  giveBack(): Promise<void>;
}

/**
 * Checks of a user's rights that depend on the object that is written. Both refuse by throwing the error for the
 * client.
 */
export interface WriteAccess {
  /** For resources whose objects give rights to others (RBAC), by `group/plural`. */
  readonly guards: ReadonlyMap<string, WriteGuard>;
  /** Called when an update or an apply would create the object. */
  mayCreate(request: RestRequest): Maybe<void>;
}

export type WriteGuard = (write: GuardedWrite) => Maybe<void>;

export interface GuardedWrite {
  readonly request: RestRequest;
  readonly object: KubeObject;
  /** Absent on create. */
  readonly old?: KubeObject | undefined;
}

/** Records how a request passed admission, and what it wrote (the flow recorder). */
export interface RequestWitness {
  /** Rules of these plugins run now, in this order. The list is shared: it must not be changed. */
  asked(owners: readonly string[]): void;
  /** The current rule has admitted the object. */
  passed(): void;
  refused(plugin: string): void;
  /** A call to another program begins. The returned function is called when it ends, with the error if it failed. */
  calls(to: string, what: string): (failed?: string) => void;
  /** An object was stored or deleted. `besides`: its resource, where the request is about another one. */
  wrote(of: ObjectMeta, revision: number, change: "ADDED" | "MODIFIED" | "DELETED", besides?: RequestAbout): void;
}

/** Admission as the verbs see it. `write/order.ts` has the place of both calls. */
export interface Admission {
  /** Returns a promise only if a plugin waits. */
  mutate(attributes: AdmissionAttributes): Maybe<void>;
  validate(attributes: AdmissionAttributes): Maybe<void>;
  /** Whether a rule looks at more than the names, uids and owners of the objects. Absent: one does. */
  looks?(attributes: AdmissionAttributes, phase: "mutate" | "validate"): boolean;
}

export interface AdmissionAttributes {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly resource: Resource;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /**
   * On create and update. A mutating plugin of the object changes it in place. On a write of the status, everything but
   * status and metadata may be the stored object itself, frozen: it must be replaced, not changed.
   */
  readonly object?: KubeObject | undefined;
  readonly old?: KubeObject | undefined;
  readonly witness?: RequestWitness | undefined;
  /** Is told how long webhooks took. */
  readonly life?: { waitedMs: number } | undefined;
  /** CreateOptions, UpdateOptions or DeleteOptions. Absent where there are none. */
  readonly options?: (() => JsonObject) | undefined;
  /** Adds a warning to the response. */
  warn(message: string): void;
  /** Adds an audit annotation. `level`: only if the audit policy records request bodies. */
  annotate(key: string, value: string, level?: "Request"): void;
}
