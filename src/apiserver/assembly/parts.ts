/**
 * What a server is assembled from. Parts are functions: each is called once, when everything that it may use exists.
 *
 *     Foundation ──► allocation, authorization, admission ──► Core ──► bootstrap, front ──► pipeline
 */
import type { Features, Kind } from "#api";
import type { Clock, Logger, MetricsRegistry, Random, TaskGroup } from "#base";
import type { Recorder } from "#flows";
import type { Store } from "#store";
import type { Tracer } from "#tracing";
import type { Aggregation } from "../aggregation/index.ts";
import type { Allocators } from "../allocate/index.ts";
import type { Authorizer } from "../authz/authorizer.ts";
import type { StoreFeed } from "../cache/feed.ts";
import type { Connectors } from "../connect/index.ts";
import type { Egress } from "../egress/index.ts";
import type { HeavyOptions } from "../heavy/index.ts";
import type { Loopback } from "../loopback/loopback.ts";
import type { Past } from "../past/index.ts";
import type { PipelineOptions } from "../pipeline/pipeline.ts";
import type { RequestGate } from "../pipeline/request-gate.ts";
import type { FormerNamespaces } from "../rest/read/former-namespaces.ts";
import type { Resources } from "../rest/resources.ts";
import type { Admission, ServerContext, StorageContext, WriteAccess } from "../rest/server-context.ts";
import type { ApiDocuments } from "../routes/api-documents.ts";
import type { RouteOptions } from "../routes/routes.ts";
import type { StorageSettings } from "../storage/index.ts";
import type { WatchSettings } from "../watch/watch.ts";

/** Storage, resources and lifetime of a server: what all parts are made from. */
export interface Foundation {
  readonly storage: StorageContext;
  readonly resources: Resources;
  readonly documents: ApiDocuments;
  /** For parts that write: connected once the server is complete. */
  readonly loopback: Loopback;
  readonly metrics: MetricsRegistry;
  /** Tasks that run as long as the server. */
  readonly background: TaskGroup;
  /** Disposed of in reverse order when the server stops, and after a start that failed. */
  readonly closing: AsyncDisposableStack;
  /** Aborts when the server begins to stop: watches and streams end. */
  readonly stopping: AbortSignal;
}

export interface AuthorizationPart {
  readonly authorize: Authorizer;
  readonly writeAccess: WriteAccess;
}

/** The server can read and write from here on. */
export interface Core<A extends AuthorizationPart = AuthorizationPart> extends Foundation {
  readonly context: ServerContext;
  readonly authorization: A;
  readonly past: Past;
  readonly formerNamespaces: FormerNamespaces;
}

/** What stands between a client and the verbs. */
export interface Front
  extends Pick<PipelineOptions, "authenticate" | "isCredential" | "audit" | "turnedAway" | "fairness"> {
  /** Default: that of the authorization. */
  readonly authorize?: Authorizer | undefined;
  readonly connectors: Connectors;
  readonly routes: Pick<
    RouteOptions,
    "rawStore" | "health" | "debug" | "others" | "allMetrics" | "issuerDocuments" | "start"
  >;
}

/** How requests are served, where it differs from the defaults. */
export interface RequestSettings {
  /** How long a request may take, unless it is long-running. Default: a minute. */
  readonly timeoutMs?: number | undefined;
  readonly watches?: Omit<WatchSettings, "stopping"> | undefined;
  /** Turns requests away while the server shuts down. Default: none is turned away. */
  readonly gate?: RequestGate | undefined;
  /** Origins whose pages may use this server: regular expressions in Go's syntax. Default: none. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Directives of the header Strict-Transport-Security. Default: it is not sent. */
  readonly strictTransport?: readonly string[] | undefined;
}

/** Parts that are values. */
export interface Surroundings {
  readonly store: Store;
  /** Other servers write to the same store. */
  readonly sharedStore: boolean;
  /** See StorageContext. */
  readonly newest?: StorageContext["newest"];
  readonly isOutdated?: StorageContext["isOutdated"];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  newUid(): string;
  readonly kinds: readonly Kind[];
  /** Default: those of v1.36. */
  readonly features?: Features | undefined;
  /** A server over the store that this one's is a fork of: the caches share their objects with its caches. */
  readonly origin?: StoreFeed | undefined;
  /** Watches that missed no more changes than this resume after a restart. */
  readonly resumableChanges: number;
  /** Records requests and deliveries. Default: nothing is recorded. */
  readonly recorder?: Recorder | undefined;
  /** Traces requests. Default: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  /** How connections to other servers are opened. Default: directly. */
  readonly egress?: Egress | undefined;
  /** Large writes run in a thread of their own. Default: in the serving thread. */
  readonly heavy?: HeavyOptions | undefined;
  /** How the store is used. */
  readonly storageSettings?: StorageSettings | undefined;
  readonly requests?: RequestSettings | undefined;
  /** How long the store keeps past states. */
  readonly historyWindowMs: number;
}

export interface ServerParts<A extends AuthorizationPart, F extends Front> extends Surroundings {
  /** Called before the caches are loaded. */
  readonly allocation?: ((foundation: Foundation) => Allocators) | undefined;
  /** Called when the caches are loaded. */
  authorization(foundation: Foundation): A;
  admission(foundation: Foundation, authorize: Authorizer): Admission | Promise<Admission>;
  readonly aggregation?: ((foundation: Foundation) => Aggregation) | undefined;
  /** Creates the objects that every cluster has. */
  readonly bootstrap?: ((core: Core) => Promise<void>) | undefined;
  front(core: Core<A>): F | Promise<F>;
}
