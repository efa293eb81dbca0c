/** How an API server is started. */
import type { Features, ServedApis } from "#api";
import type { Clock, Logger, MetricsRegistry, Random } from "#base";
import type { Recorder } from "#flows";
import type { Store } from "#store";
import type { Tracer } from "#tracing";
import type { AdmissionOptions } from "./admission/index.ts";
import type { AggregationReach, FrontProxyIdentity, LocalExtensions } from "./aggregation/index.ts";
import type { PortRange } from "./allocate/index.ts";
import type { AuditSettings } from "./audit/index.ts";
import type { AuthenticationSettings, RequestHeaderOptions } from "./authn/index.ts";
import type { ModeSpec } from "./authz/index.ts";
import type { EndpointReconcilerType } from "./bootstrap/index.ts";
import type { ConnectOptions } from "./connect/index.ts";
import type { Egress } from "./egress/index.ts";
import type { Encryption } from "./encryption/index.ts";
import type { InFlightLimits } from "./fairness/index.ts";
import type { Http2Settings } from "./http/listener.ts";
import type { ServingCertificate, TlsSettings } from "./http/tls-servers.ts";
import type { RouteOptions } from "./routes/routes.ts";
import type { StorageSettings } from "./storage/index.ts";
import type { ServingThread } from "./threads/index.ts";

export interface ApiServerOptions {
  readonly host: string;
  readonly port: number;
  /** Addresses besides `host` at which it listens. */
  readonly alsoAt?: readonly string[] | undefined;
  readonly certificate: ServingCertificate;
  /** Which versions and kinds it serves. Default: those of a default server. */
  readonly apis?: ServedApis | undefined;
  readonly serving?: ServingOptions | undefined;
  readonly store: Store;
  /** Other processes write to the same store. */
  readonly sharedStore: boolean;
  /** This server is one of several threads of this process, over one store. Default: it is the only one. */
  readonly thread?: ServingThread | undefined;
  /** How values are encrypted in the store. Default: they are stored as they are. */
  readonly encryption?: Encryption | undefined;
  /** How the store is used. */
  readonly storage?: StorageSettings | undefined;
  /** How long Events are kept. Default: an hour. */
  readonly eventTtlMs?: number | undefined;
  /** The authority whose clients may authenticate others by headers, and the names of these clients. */
  readonly requestHeader?: RequestHeaderOptions | undefined;
  /** Authentication besides client certificates. */
  readonly authentication?: AuthenticationSettings | undefined;
  /** Authorization modes in their order. Default: Node, RBAC. */
  readonly authorizationModes?: readonly ModeSpec[] | undefined;
  /** Which admission plugins run, and how. Default: those that are on by default. */
  readonly admission?: AdmissionOptions | undefined;
  /** Privileged containers and host processes may be created. Default: true. */
  readonly allowPrivileged?: boolean | undefined;
  /** What is audited, and where to. Default: nothing. */
  readonly audit?: AuditSettings | undefined;
  /** How many requests are served at a time. Default: priority and fairness, 400 reading and 200 mutating requests. */
  readonly fairness?: FairnessSettings | undefined;
  /** Ranges of the Services' addresses: one of each family at most; the first is the default. */
  readonly serviceCidrs?: readonly string[] | undefined;
  /** Services: node ports, and the Service `kubernetes`. */
  readonly services?: ServiceSettings | undefined;
  /** The address at which others reach this server. Default: its host. */
  readonly advertiseAddress?: string | undefined;
  /** The client certificate for aggregated API servers, as of now. */
  readonly frontProxyIdentity?: (() => FrontProxyIdentity | undefined) | undefined;
  /** How extension API servers are reached, where it differs from the defaults. */
  readonly aggregation?: AggregationReach | undefined;
  /** Extension API servers of this process, by the Service that APIServices name. */
  readonly extensions?: LocalExtensions | undefined;
  /** The client certificate for kubelets, as of now. */
  readonly kubeletIdentity?: ConnectOptions["kubeletIdentity"] | undefined;
  /** How kubelets are reached, where they are not reached at their node's address. */
  readonly kubelets?: ConnectOptions["kubelets"] | undefined;
  /** Metrics of simulated nodes, which have no port. */
  readonly simulatedMetrics?: ConnectOptions["simulatedMetrics"];
  /** Records requests, for `k8ts flow`. Default: nothing is recorded. */
  readonly recorder?: Recorder | undefined;
  /** How connections to other servers are opened. Default: directly. */
  readonly egress?: Egress | undefined;
  /** Traces requests (OpenTelemetry). Default: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  /** How long the store keeps past states. Default: 10 minutes. */
  readonly historyWindowMs?: number | undefined;
  /** Feature gates, and the version that is emulated. Default: those of v1.36. */
  readonly features?: Features | undefined;
  /** For /statusz and /flagz. Absent: they are not served. */
  readonly start?: RouteOptions["start"];
  /** Paths that other parts of the process answer. */
  readonly others?: RouteOptions["others"];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

/** How connections and requests are served, where it differs from the defaults. */
export interface ServingOptions {
  readonly tls?: TlsSettings | undefined;
  readonly http2?: Pick<Http2Settings, "disabled" | "maxStreams"> | undefined;
  /** The share of HTTP/2 requests whose clients are asked to open another connection. Default: 0. */
  readonly goawayChance?: number | undefined;
  /** Other processes may listen on the same address and port. Default: false. */
  readonly sharedPort?: boolean | undefined;
  /** How long a request may take, unless it is long-running. Default: a minute. */
  readonly requestTimeoutMs?: number | undefined;
  /**
   * Watches that name no timeout end at a random time between once and twice this one. Default: half an hour. 0: never.
   */
  readonly minRequestTimeoutSeconds?: number | undefined;
  /** Origins whose pages may use this server: regular expressions in Go's syntax. Default: none. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Directives of the header Strict-Transport-Security. Default: it is not sent. */
  readonly strictTransport?: readonly string[] | undefined;
  /** The host, or host and port, in URLs that this server publishes about itself. Default: its address. */
  readonly externalHostname?: string | undefined;
  /** How long after the start /livez takes unfinished hooks for finished. Default: 0. */
  readonly livezGraceMs?: number | undefined;
  readonly shutdown?: ShutdownOptions | undefined;
}

/** How the server stops. Default: at once; watches end, and requests under way are finished. */
export interface ShutdownOptions {
  /** Only /readyz fails for so long; everything else is served as before. */
  readonly delayMs?: number | undefined;
  /** The port stays open until requests under way are finished; others are answered 429 meanwhile. */
  readonly sendRetryAfter?: boolean | undefined;
  /** Watches end one after the other within this time. */
  readonly watchGraceMs?: number | undefined;
}

export interface ServiceSettings {
  /** Default: 30000 to 32767. */
  readonly nodePorts?: PortRange | undefined;
  /** The node port of the Service `kubernetes`. 0 or absent: it has none. */
  readonly kubernetesNodePort?: number | undefined;
  /** Who decides about the endpoints of the Service `kubernetes`. Default: the servers whose Lease is alive. */
  readonly endpointReconciler?: EndpointReconcilerType | undefined;
  /** The number of servers, for `master-count`. Default: 1. */
  readonly serverCount?: number | undefined;
}

export interface FairnessSettings extends Partial<InFlightLimits> {
  /**
   * `--enable-priority-and-fairness`: both limits together are the seats of all priority levels. Without it, each
   * counts for itself.
   */
  readonly fair?: boolean | undefined;
}
