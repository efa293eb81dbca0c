/** What the verbs need besides the request: passed in by the composition root. */
import type { Draft, JsonObject, KubeObject, ObjectMeta } from "#api";
import type { Clock, Logger, Maybe, Random } from "#base";
import type { RequestAbout } from "#flows";
import type { Store } from "#store";
import type { StoreFeed } from "../cache/feed.ts";
import type { UserInfo } from "../identity/user.ts";
import type { Resource } from "./resource.ts";
import type { RestRequest } from "./rest-request.ts";

export interface ServerContext {
  readonly store: Store;
  readonly feed: StoreFeed;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly admission: Admission;
  readonly access: WriteAccess;
  /** What objects of some resources take from a common stock when they are written, by `group/plural`. */
  readonly allocators: ReadonlyMap<string, Allocator>;
  /** A version 4 UUID. */
  newUid(): string;
  /** Whether the caches follow writes of other servers, so that a read of the newest state has to ask the store how far it is. */
  readonly sharedStore: boolean;
  /** Who watches is told of by name: what to call with each event that goes to them. Absent: nobody wants to know. */
  deliveries?(
    user: string,
    userAgent: string,
  ): (resource: Resource, change: string, key: string, revision: number) => void;
  /** Whether what the store has at a key should be written again, though it says the same. Absent: never. */
  isOutdated?(key: string): boolean;
}

/**
 * Hands out what no two objects may have: addresses, ports. Asked between `prepare` and validation, so that validation sees the object whole.
 *
 *     allocate ──► validate ──► store ──► keep
 *        └──────────┴────────────┴─────► giveBack    the write came to nothing
 */
export interface Allocator {
  /** Fills in the draft, or throws what the client is told. A dry run takes nothing. */
  allocate(wanted: Allocating): Promise<Allocation>;
  /** The object is gone: what it had can be taken again. */
  release(object: KubeObject): Promise<void>;
}

export interface Allocating {
  readonly draft: Draft<KubeObject>;
  /** Absent on create. */
  readonly old: KubeObject | undefined;
  readonly dryRun: boolean;
}

/** One of the two is called, once. Neither throws: what cannot be given back now is found later. */
export interface Allocation {
  /** The object is stored: what `old` had and it has no more can be taken again. */
  keep(): Promise<void>;
  giveBack(): Promise<void>;
}

/**
 * Whether a caller may do by a write what its request alone does not say. Both refuse by throwing what the client is told.
 *
 *     mutate ──► guard ──► validate
 */
export interface WriteAccess {
  /** Asked for resources whose objects give rights to others, by `group/plural`. */
  readonly guards: ReadonlyMap<string, WriteGuard>;
  /** An update or an apply finds nothing to change, and would create it. */
  mayCreate(request: RestRequest): Maybe<void>;
}

export type WriteGuard = (write: GuardedWrite) => Maybe<void>;

export interface GuardedWrite {
  readonly request: RestRequest;
  readonly object: KubeObject;
  /** Absent on create. */
  readonly old?: KubeObject;
}

/** Somebody who wants to know how admission came to its answer, and what was written. */
export interface RequestWitness {
  /** Rules of these plugins are asked, in turn. The list is shared: not to be changed. */
  asked(owners: readonly string[]): void;
  /** The rule whose turn it was has answered. */
  passed(): void;
  refused(plugin: string): void;
  /** Another program is asked. Returns whom to tell when it has answered, and what went wrong. */
  calls(to: string, what: string): (failed?: string) => void;
  /** An object has been stored, or is gone. `besides`: what it is, where the request is about another resource. */
  wrote(of: ObjectMeta, revision: number, change: "ADDED" | "MODIFIED" | "DELETED", besides?: RequestAbout): void;
}

/** Admission as the verbs see it: mutate before validation of the kind, validate after it. */
export interface Admission {
  /** Waits only if some plugin does. */
  mutate(attributes: AdmissionAttributes): Maybe<void>;
  validate(attributes: AdmissionAttributes): Maybe<void>;
}

export interface AdmissionAttributes {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly resource: Resource;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** On create and update; mutating plugins change it in place. */
  readonly object?: KubeObject | undefined;
  readonly old?: KubeObject | undefined;
  readonly witness?: RequestWitness | undefined;
  /** How the operation was asked for: CreateOptions, UpdateOptions, DeleteOptions. Absent where there are none. */
  readonly options?: (() => JsonObject) | undefined;
  /** Collects warnings for the caller. */
  warn(message: string): void;
  /** Notes something for audit. `level`: only where the bodies of requests are kept, too. */
  annotate(key: string, value: string, level?: "Request"): void;
}
