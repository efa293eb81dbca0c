/** What a cluster is made from. */
import type { AuthorizationFlags, FairnessSettings } from "#apiserver";
import type { ProxyMode } from "#network";
import type { AdmissionFlags } from "./admission.ts";
import type { AuditFlags } from "./audit.ts";
import type { AuthenticationFlags } from "./authentication.ts";
import type { EncryptionFlags } from "./encryption.ts";

export interface ClusterConfig {
  readonly dataDir: string;
  readonly bindAddress: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly store: StoreConfig;
  /** How long Events are kept. */
  readonly eventTtlMs?: number;
  /** How long the store keeps what was. Default: 10 minutes. */
  readonly historyWindowMs?: number;
  /** Whether what happens is recorded for `k8ts flow`, and kept in a file, too. Default: in memory. */
  readonly flowRecords?: FlowRecording;
  /** How users show who they are, besides certificates of the cluster's own authority. */
  readonly authentication?: AuthenticationFlags;
  /** Who may do what. Default: Node, RBAC. */
  readonly authorization?: AuthorizationFlags;
  /** Which admission plugins run, and how. Default: those that are on by default, and NodeRestriction. */
  readonly admission?: AdmissionFlags;
  /** What is encrypted in the store, and how. Default: nothing. */
  readonly encryption?: EncryptionFlags;
  /** What is recorded of requests, and where. Default: nothing. */
  readonly audit?: AuditFlags;
  /** How much is served at a time, and how fairly. Default: priority and fairness, 600 seats. */
  readonly fairness?: FairnessSettings;
  /** Which controllers run: `*`, `name`, `-name`. Default: all that are on by default. */
  readonly controllers?: readonly string[];
  /** Whether the scheduler runs in this process. Default: true. */
  readonly scheduler?: boolean;
  /** Addresses of Services: a range, or one of each family. Default: 10.96.0.0/12. */
  readonly serviceCidrs?: readonly string[];
  /** The nodes that it runs. Default: none. */
  readonly nodes?: NodesConfig;
  /** Nodes of this machine that run real containers. Default: none. */
  readonly realNodes?: RealNodesConfig;
  /** The kubeconfig file that gets this cluster's context. */
  readonly mergeInto: string;
}

/** `off`, `memory`, or `file`: in memory, and in the data directory for the next start. */
export type FlowRecording = "off" | "memory" | "file";

export interface RealNodesConfig {
  /** How many there are at least. */
  readonly count: number;
  /** What runs `k8ts`: a node's kubelet is a process of its own. */
  readonly command: readonly string[];
  /** The same for a node's proxy, if it differs. */
  readonly proxyCommand?: readonly string[];
  /** Images may be pulled through this machine. Default: no, Pods run those that were imported. */
  readonly pullImages?: boolean;
  /** By which their kernel is told of Services. Default: nftables. */
  readonly proxyMode?: ProxyMode;
  /** Addresses of Pods. Default: a range that nobody else on this machine uses. */
  readonly podRanges?: readonly string[];
  /** Addresses of Services of type LoadBalancer. Default: a range of the cluster's own; none: they get none here. */
  readonly loadBalancerAddresses?: readonly string[];
  /** Whether Ingresses are served. Default: true. */
  readonly ingress?: boolean;
}

/** Simulated nodes, and what each of them has. */
export interface NodesConfig {
  readonly count: number;
  /** Amounts as the API writes them. */
  readonly cpu?: string;
  readonly memory?: string;
  /** How many Pods it takes. */
  readonly pods?: number;
  /** They are spread over these zones in turn. */
  readonly zones?: readonly string[];
}

export type StoreConfig =
  | { readonly kind: "memory" }
  | { readonly kind: "embedded" }
  | {
      readonly kind: "etcd";
      readonly endpoints: readonly string[];
      readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
    };

/** How much the store keeps of what was. */
export function historyOf({ historyWindowMs }: Pick<ClusterConfig, "historyWindowMs">) {
  return historyWindowMs === undefined ? {} : { history: { maxAgeMs: historyWindowMs } };
}
