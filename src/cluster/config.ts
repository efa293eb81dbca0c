/** What a cluster is made from. */

export interface ClusterConfig {
  readonly dataDir: string;
  readonly bindAddress: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly store: StoreConfig;
  /** How long Events are kept. */
  readonly eventTtlMs?: number;
  /** Static bearer tokens: `token,user,uid[,"groups"]`. */
  readonly tokenAuthFile?: string;
  /** The kubeconfig file that gets this cluster's context. */
  readonly mergeInto: string;
}

export type StoreConfig =
  | { readonly kind: "memory" }
  | { readonly kind: "embedded" }
  | {
      readonly kind: "etcd";
      readonly endpoints: readonly string[];
      readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
    };
