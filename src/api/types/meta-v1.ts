/** Written by scripts/api-types.ts: not to be edited. */
import type { Int64, Json } from "../machinery/json/json.ts";
import type { ObjectMeta } from "../machinery/schema/object.ts";

export interface APIGroup {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly name: string;
  readonly versions: readonly GroupVersionForDiscovery[];
  readonly preferredVersion?: GroupVersionForDiscovery;
  readonly serverAddressByClientCIDRs?: readonly ServerAddressByClientCIDR[];
}

export interface APIGroupList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly groups: readonly APIGroup[];
}

export interface APIResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly storageVersionHash?: string;
}

export interface APIResourceList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly groupVersion: string;
  readonly resources: readonly APIResource[];
}

export interface APIVersions {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly versions: readonly string[];
  readonly serverAddressByClientCIDRs: readonly ServerAddressByClientCIDR[];
}

export interface ApplyOptions {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly dryRun?: readonly string[];
  readonly force: boolean;
  readonly fieldManager: string;
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration?: Int64;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

export interface CreateOptions {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly dryRun?: readonly string[];
  readonly fieldManager?: string;
  readonly fieldValidation?: string;
}

export interface DeleteOptions {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly gracePeriodSeconds?: Int64;
  readonly preconditions?: Preconditions;
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: string;
  readonly dryRun?: readonly string[];
  readonly ignoreStoreReadErrorWithClusterBreakingPotential?: boolean;
}

export interface FieldSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface GetOptions {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly resourceVersion?: string;
}

export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

export interface GroupVersionForDiscovery {
  readonly groupVersion: string;
  readonly version: string;
}

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}

export interface LabelSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface List {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly Json[];
}

export interface ListMeta {
  readonly selfLink?: string;
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: Int64;
  readonly shardInfo?: ShardInfo;
}

export interface ListOptions {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly watch?: boolean;
  readonly allowWatchBookmarks?: boolean;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: string;
  readonly timeoutSeconds?: Int64;
  readonly limit?: Int64;
  readonly continue?: string;
  readonly sendInitialEvents?: boolean;
  readonly shardSelector?: string;
}

export interface PartialObjectMetadata {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
}

export interface PartialObjectMetadataList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly PartialObjectMetadata[];
}

export type Patch = Readonly<Record<string, never>>;

export interface PatchOptions {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly dryRun?: readonly string[];
  readonly force?: boolean;
  readonly fieldManager?: string;
  readonly fieldValidation?: string;
}

export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface RootPaths {
  readonly paths: readonly string[];
}

export interface ServerAddressByClientCIDR {
  readonly clientCIDR: string;
  readonly serverAddress: string;
}

export interface ShardInfo {
  readonly selector: string;
}

export interface Status {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
}

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface Table {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly columnDefinitions: readonly TableColumnDefinition[];
  readonly rows: readonly TableRow[];
}

export interface TableColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

export interface TableOptions {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly includeObject?: string;
}

export interface TableRow {
  readonly cells: readonly Json[];
  readonly conditions?: readonly TableRowCondition[];
  readonly object?: Json;
}

export interface TableRowCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface Timestamp {
  readonly seconds: Int64;
  readonly nanos: number;
}

export interface TypeMeta {
  readonly kind?: string;
  readonly apiVersion?: string;
}

export interface UpdateOptions {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly dryRun?: readonly string[];
  readonly fieldManager?: string;
  readonly fieldValidation?: string;
}

export interface WatchEvent {
  readonly type: string;
  readonly object: Json;
}
