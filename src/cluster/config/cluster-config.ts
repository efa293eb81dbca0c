/** The configuration of a cluster, and what the process that runs it provides. */
import type { core, FeatureFlags } from "#api";
import type { AuthorizationFlags, FairnessSettings, ServiceSettings, StorageSettings } from "#apiserver";
import type { Clock, Logger } from "#base";
import type { InProcessHandle } from "#client";
import type { ClusterFacts } from "#controllers";
import type { ProxyMode } from "#network";
import type { AdmissionFlags } from "./admission.ts";
import type { AuditFlags } from "./audit.ts";
import type { AuthenticationFlags } from "./authentication.ts";
import type { EncryptionFlags } from "./encryption.ts";
import type { ServingSettings } from "./serving.ts";

export interface ClusterConfig {
  readonly dataDir: string;
  /** Its context is `k8ts-<name>`. Default: `k8ts`. */
  readonly name?: string | undefined;
  readonly bindAddress: string;
  /** Where other machines reach the API server, besides `bindAddress`: they can join. Default: they cannot. */
  readonly listen?: ListenConfig | undefined;
  /** More names and addresses in the API server's certificate. */
  readonly tlsSans?: readonly string[] | undefined;
  /** 0: that of the last start, else a free one. Default: that of the last start, else 6443, else a free one. */
  readonly port?: number | undefined;
  readonly store: StoreConfig;
  /** How the API server uses the store. */
  readonly storage?: StorageSettings | undefined;
  /** `--runtime-config`: API versions and resources that are served or not. Default: those of a default server. */
  readonly runtimeConfig?: string | undefined;
  /** How long Events are kept. */
  readonly eventTtlMs?: number | undefined;
  /** How long the store keeps past revisions. Default: 10 minutes. */
  readonly historyWindowMs?: number | undefined;
  /** Where flow records are kept. Default: in memory. */
  readonly flowRecords?: FlowRecording | undefined;
  /** `--tracing-config-file`: traces of all components of this process. Default: none. */
  readonly tracingConfigFile?: string | undefined;
  /** Authentication, besides client certificates of the cluster's own CA. */
  readonly authentication?: AuthenticationFlags | undefined;
  /** Authorization. Default: Node, RBAC. */
  readonly authorization?: AuthorizationFlags | undefined;
  /** Admission plugins. Default: those enabled by default, and NodeRestriction. */
  readonly admission?: AdmissionFlags | undefined;
  /** Privileged containers and host processes may be created. Default: true. */
  readonly allowPrivileged?: boolean | undefined;
  /** Encryption at rest. Default: none. */
  readonly encryption?: EncryptionFlags | undefined;
  /** Audit. Default: none. */
  readonly audit?: AuditFlags | undefined;
  /** TLS, HTTP/2, timeouts. Default: as in kube-apiserver. */
  readonly serving?: ServingSettings | undefined;
  /** How many threads serve requests. Default: one. */
  readonly servingThreads?: number | "auto" | undefined;
  /** Limits of concurrency. Default: priority and fairness, 600 seats. */
  readonly fairness?: FairnessSettings | undefined;
  /** Feature gates and the emulated version, of all components. Default: those of v1.36. */
  readonly features?: (FeatureFlags & { readonly gates?: string | undefined }) | undefined;
  /** Which controllers run: `*`, `name`, `-name`. Default: all that are enabled by default. */
  readonly controllers?: readonly string[] | undefined;
  /** Whether the scheduler runs in this process. Default: true. */
  readonly scheduler?: boolean | undefined;
  /** Whether the resource metrics API is served by this process. Default: if there are nodes. */
  readonly metricsServer?: boolean | undefined;
  /** Time between its measurements. Default: 15 s. */
  readonly metricResolutionMs?: number | undefined;
  /** Periods and tolerances of autoscalers. Default: those of kube-controller-manager. */
  readonly autoscaler?: ClusterFacts["autoscaler"];
  /** For /flagz: values by the flags' names. */
  readonly flags?: Readonly<Record<string, string>> | undefined;
  /** Whether there are volumes: a driver, its sidecars and a default class. Default: if there are nodes. */
  readonly localStorage?: boolean | undefined;
  /** Service IP range, or one of each family. Default: 10.96.0.0/12. */
  readonly serviceCidrs?: readonly string[] | undefined;
  /** Node ports, and the Service `kubernetes`. */
  readonly services?: ServiceSettings | undefined;
  /** Simulated nodes. Default: none. */
  readonly nodes?: NodesConfig | undefined;
  /** Real nodes: containerd on this machine. Default: none. */
  readonly realNodes?: RealNodesConfig | undefined;
  /** Whether nodes and Pods reach what this machine reaches: registries, and addresses outside. Default: true. */
  readonly outside?: boolean | undefined;
  /** What is applied at every start, once nodes are ready. Default: nothing. */
  readonly initial?: InitialObjects | undefined;
  /** The kubeconfig file that gets this cluster's context. */
  readonly mergeInto: string;
}

/** `--listen`. */
export interface ListenConfig {
  /** An address of this machine. */
  readonly address: string;
  /** That of the other IP family, for clusters of both. */
  readonly address6?: string | undefined;
  /** For clients outside: it moves between the control planes. Default: none. */
  readonly virtualAddress?: string | undefined;
  /** Pod IP ranges of a cluster whose first machine is no node. Default: 10.244.0.0/16. */
  readonly podRanges?: readonly string[] | undefined;
  /** kube-proxy mode of its nodes. Default: nftables. */
  readonly proxyMode?: ProxyMode | undefined;
}

/** `file`: in memory, and in the data directory for the next start. */
export type FlowRecording = "off" | "memory" | "file";

export interface RealNodesConfig {
  /** The minimum number. */
  readonly count: number;
  /** The only node is this machine, at these addresses. Default: nodes have networks of their own. */
  readonly machine?: { readonly address: string; readonly address6?: string | undefined } | undefined;
  /** The command of `k8ts`, which runs a node's kubelet in its own process. */
  readonly command: readonly string[];
  /** The same for a node's proxy, if it differs. */
  readonly proxyCommand?: readonly string[] | undefined;
  /** kube-proxy mode. Default: nftables. */
  readonly proxyMode?: ProxyMode | undefined;
  /** Pod IP ranges. Default: a range that is unused on this machine. */
  readonly podRanges?: readonly string[] | undefined;
  /** IP ranges for Services of type LoadBalancer. Default: a range of the cluster's own. Empty: they are not served. */
  readonly loadBalancerAddresses?: readonly string[] | undefined;
  /** Programs that give nodes credentials for images. Default: none. */
  readonly credentialProviders?: { readonly configFile: string; readonly binDir: string } | undefined;
  /** Mirrors and credentials of registries. Default: registries.yaml in the data directory. */
  readonly registriesFile?: string | undefined;
  /** Ports of this machine that Pods reach at `host.k8ts.internal`, besides the API server. Default: none. */
  readonly hostPorts?: readonly HostPort[] | undefined;
  /** Whether Ingresses, load balancers and node ports are on this machine's loopback, too. Default: true. */
  readonly localhost?: boolean | undefined;
  /** Whether serving Ingresses. Default: true. */
  readonly ingress?: boolean | undefined;
  /** Folders of this machine that nodes get when they start. Default: none. */
  readonly mounts?: readonly NodeMount[] | undefined;
  /** Nodes by name, with what is each one's own, instead of node-1 and so on. */
  readonly own?: readonly NodeOwn[] | undefined;
  /** Whether Pods of nodes that start may open loop devices of this machine. Default: false. */
  readonly opensLoops?: boolean | undefined;
  /** Whether nodes that are made now have user namespaces of their own. Default: false. */
  readonly hasUserNamespaces?: boolean | undefined;
}

export interface HostPort {
  readonly port: number;
  readonly protocol: "tcp" | "udp";
}

/** What one node has, besides what all have. */
export interface NodeOwn {
  readonly name: string;
  /** The label node-role.kubernetes.io/<role>. */
  readonly role?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** When it registers. */
  readonly taints?: readonly core.Taint[] | undefined;
  /** Of a simulated node. */
  readonly cpu?: string | undefined;
  readonly memory?: string | undefined;
  readonly pods?: number | undefined;
  /** Of a real node: as `--node-mount` gives them, and a KubeletConfiguration. */
  readonly mounts?: readonly string[] | undefined;
  readonly kubelet?: object | undefined;
}

export interface InitialObjects {
  /** Files and folders. */
  readonly manifests: readonly string[];
  readonly charts: readonly InitialChart[];
}

export interface InitialChart {
  readonly name: string;
  /** A folder or an archive. */
  readonly chart: string;
  readonly namespace: string;
  readonly values?: object | undefined;
}

/** A folder or file of this machine in nodes. */
export interface NodeMount {
  readonly source: string;
  /** The path in the node. */
  readonly target: string;
  readonly readOnly: boolean;
}

/** Simulated nodes, and the capacity of each. */
export interface NodesConfig {
  readonly count: number;
  /** Quantities as in the API. */
  readonly cpu?: string | undefined;
  readonly memory?: string | undefined;
  /** The maximum number of Pods. */
  readonly pods?: number | undefined;
  /** Assigned to these zones round-robin. */
  readonly zones?: readonly string[] | undefined;
  /** Nodes by name, with what is each one's own, instead of node-1 and so on. */
  readonly own?: readonly NodeOwn[] | undefined;
  /** What containers use: a usage script. Default: what annotations of Pods say. */
  readonly usageFile?: string | undefined;
}

export type StoreConfig =
  | { readonly kind: "memory" }
  | { readonly kind: "embedded" }
  | {
      readonly kind: "etcd";
      readonly endpoints: readonly string[];
      readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
      /** The prefix of all keys. Default: /registry. */
      readonly prefix?: string | undefined;
      /** 0: this server never compacts. Default: 5 minutes. */
      readonly compactionIntervalMs?: number | undefined;
      /** k8ts runs a member of it on this machine; `endpoints` and `tls` follow from that. */
      readonly managed?: ManagedEtcd | undefined;
    };

export interface ManagedEtcd {
  /** Of the member. Default: the name of the machine. */
  readonly name?: string | undefined;
  /** Where members on other machines reach it. Default: loopback. */
  readonly address?: string | undefined;
}

/** How much history the store keeps. */
export function historyOf({ historyWindowMs }: Pick<ClusterConfig, "historyWindowMs">) {
  return historyWindowMs === undefined ? {} : { history: { maxAgeMs: historyWindowMs } };
}

/** What a process provides to the cluster or component that it runs. */
export interface Environment {
  readonly clock: Clock;
  readonly log: Logger;
  /** Called after each phase of the start. */
  readonly progress: (step: Step) => void;
  /** What stands between the components of this process and the API server. Default: nothing. */
  readonly between?: ((component: string, handle: InProcessHandle) => InProcessHandle) | undefined;
}

export interface Step {
  readonly name: string;
  readonly detail: string;
  readonly ms: number;
}
