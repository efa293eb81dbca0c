/** The configuration of a cluster. */
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
  /** How long the store keeps past revisions. Default: 10 minutes. */
  readonly historyWindowMs?: number;
  /** Where flow records are kept. Default: in memory. */
  readonly flowRecords?: FlowRecording;
  /** Authentication, besides client certificates of the cluster's own CA. */
  readonly authentication?: AuthenticationFlags;
  /** Authorization. Default: Node, RBAC. */
  readonly authorization?: AuthorizationFlags;
  /** Admission plugins. Default: those enabled by default, and NodeRestriction. */
  readonly admission?: AdmissionFlags;
  /** Encryption at rest. Default: none. */
  readonly encryption?: EncryptionFlags;
  /** Audit. Default: none. */
  readonly audit?: AuditFlags;
  /** Limits of concurrency. Default: priority and fairness, 600 seats. */
  readonly fairness?: FairnessSettings;
  /** Which controllers run: `*`, `name`, `-name`. Default: all that are enabled by default. */
  readonly controllers?: readonly string[];
  /** Whether the scheduler runs in this process. Default: true. */
  readonly scheduler?: boolean;
  /** Service IP range, or one of each family. Default: 10.96.0.0/12. */
  readonly serviceCidrs?: readonly string[];
  /** Simulated nodes. Default: none. */
  readonly nodes?: NodesConfig;
  /** Real nodes: containerd on this machine. Default: none. */
  readonly realNodes?: RealNodesConfig;
  /** The kubeconfig file that gets this cluster's context. */
  readonly mergeInto: string;
}

/** `file`: in memory, and in the data directory for the next start. */
export type FlowRecording = "off" | "memory" | "file";

export interface RealNodesConfig {
  /** The minimum number. */
  readonly count: number;
  /** The command of `k8ts`, which runs a node's kubelet in its own process. */
  readonly command: readonly string[];
  /** The same for a node's proxy, if it differs. */
  readonly proxyCommand?: readonly string[];
  /** Whether nodes may pull images through this machine. Default: no, images have to be imported. */
  readonly pullImages?: boolean;
  /** kube-proxy mode. Default: nftables. */
  readonly proxyMode?: ProxyMode;
  /** Pod IP ranges. Default: a range that is unused on this machine. */
  readonly podRanges?: readonly string[];
  /** IP ranges for Services of type LoadBalancer. Default: a range of the cluster's own. Empty: they are not served. */
  readonly loadBalancerAddresses?: readonly string[];
  /** Whether serving Ingresses. Default: true. */
  readonly ingress?: boolean;
}

/** Simulated nodes, and the capacity of each. */
export interface NodesConfig {
  readonly count: number;
  /** Quantities as in the API. */
  readonly cpu?: string;
  readonly memory?: string;
  /** The maximum number of Pods. */
  readonly pods?: number;
  /** Assigned to these zones round-robin. */
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

/** How much history the store keeps. */
export function historyOf({ historyWindowMs }: Pick<ClusterConfig, "historyWindowMs">) {
  return historyWindowMs === undefined ? {} : { history: { maxAgeMs: historyWindowMs } };
}
