/** What a cluster is made from. */
import type { AuthorizationFlags, FlowControlSettings } from "#apiserver";
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
  readonly flowControl?: FlowControlSettings;
  /** Which controllers run: `*`, `name`, `-name`. Default: all that are on by default. */
  readonly controllers?: readonly string[];
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
