/** The decoded file: every field is optional. */
import type { Json } from "#api";
import type { ExtensionPoint } from "../framework/index.ts";

export interface FilePlugin {
  readonly name?: string;
  readonly weight?: number;
}

export interface FilePluginSet {
  readonly enabled?: readonly FilePlugin[];
  readonly disabled?: readonly FilePlugin[];
}

export type FilePlugins = { readonly [Point in ExtensionPoint | "multiPoint"]?: FilePluginSet };

export interface FilePluginConfig {
  readonly name?: string;
  readonly args?: Json;
}

export interface FileProfile {
  readonly schedulerName?: string;
  readonly percentageOfNodesToScore?: number;
  readonly plugins?: FilePlugins;
  readonly pluginConfig?: readonly FilePluginConfig[];
}

export interface FileTls {
  readonly insecure?: boolean;
  readonly serverName?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly caFile?: string;
  /** Base64. */
  readonly certData?: string;
  readonly keyData?: string;
  readonly caData?: string;
}

export interface FileExtender {
  readonly urlPrefix?: string;
  readonly filterVerb?: string;
  readonly preemptVerb?: string;
  readonly prioritizeVerb?: string;
  readonly weight?: number;
  readonly bindVerb?: string;
  readonly enableHTTPS?: boolean;
  readonly tlsConfig?: FileTls;
  readonly httpTimeout?: string;
  readonly nodeCacheCapable?: boolean;
  readonly managedResources?: readonly { readonly name?: string; readonly ignoredByScheduler?: boolean }[];
  readonly ignorable?: boolean;
}

export interface FileLeaderElection {
  readonly leaderElect?: boolean;
  readonly leaseDuration?: string;
  readonly renewDeadline?: string;
  readonly retryPeriod?: string;
  readonly resourceLock?: string;
  readonly resourceName?: string;
  readonly resourceNamespace?: string;
}

export interface FileClientConnection {
  readonly kubeconfig?: string;
  readonly acceptContentTypes?: string;
  readonly contentType?: string;
  readonly qps?: number;
  readonly burst?: number;
}

export interface ConfigurationFile {
  readonly parallelism?: number;
  readonly leaderElection?: FileLeaderElection;
  readonly clientConnection?: FileClientConnection;
  readonly percentageOfNodesToScore?: number;
  readonly podInitialBackoffSeconds?: number;
  readonly podMaxBackoffSeconds?: number;
  readonly profiles?: readonly FileProfile[];
  readonly extenders?: readonly FileExtender[];
  readonly enableProfiling?: boolean;
  readonly enableContentionProfiling?: boolean;
  readonly delayCacheUntilActive?: boolean;
}
