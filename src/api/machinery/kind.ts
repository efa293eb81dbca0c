/**
 * A kind: one declarative value with everything that is true of it. The server knows no kind by name. A
 * CustomResourceDefinition compiles into the same value.
 *
 * 1. All rules are pure. Drafts are fresh and may be changed in place; all other objects are immutable. (Rules are
 *    methods, so that a Kind<Pod> is a Kind.)
 * 2. When each rule runs is decided by the API server's list of write steps (src/apiserver/rest), and nowhere else. The
 *    machinery itself handles metadata, status, generation and managedFields.
 */

import type { FieldError, FieldPath } from "./errors/field-error.ts";
import type { Int64 } from "./json/json.ts";
import type { Draft, KubeObject } from "./schema/object.ts";
import type { ObjectSchema } from "./schema/schema.ts";

export type Verb = "create" | "delete" | "deletecollection" | "get" | "list" | "patch" | "update" | "watch";

export interface KindNames {
  readonly plural: string;
  readonly singular: string;
  readonly shortNames?: readonly string[] | undefined;
  readonly categories?: readonly string[] | undefined;
}

export interface Kind<T extends KubeObject = KubeObject> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Default: the kind followed by List. */
  readonly listKind?: string | undefined;
  readonly scope: "Namespaced" | "Cluster";
  readonly names: KindNames;
  readonly verbs: readonly Verb[];
  readonly schema: ObjectSchema;

  /** Fills in defaults that the schema cannot declare. The schema's own have been set before. */
  defaults?(draft: Draft<T>): void;
  readonly create?: CreateRules<T>;
  readonly update?: UpdateRules<T>;
  readonly delete?: DeleteRules<T>;
  /** Runs on create and on update. ObjectMeta has been validated by the machinery. */
  validate?(object: T, at: FieldPath): readonly FieldError[];
  /** Gives a valid object its stored form (a pod has both names of its service account). Runs after validation. */
  canonicalize?(draft: Draft<T>): void;
  /** Validates names of this kind. Default: a DNS-1123 subdomain. */
  validateName?(name: string, isPrefix: boolean): readonly string[];
  readonly metaChecks?: MetaChecks;
  readonly subresources?: Subresources<T>;

  /**
   * `metadata.generation`: `spec` starts at 1 and rises with every change outside metadata and status; `client` keeps
   * the value of the create. Default: `client`.
   */
  readonly generation?: "spec" | "client" | { changed(next: T, old: T): boolean };

  /**
   * The metadata for metadata-only answers, where it differs: without annotations that stand for fields of the object.
   */
  metadataAlone?(object: T): KubeObject["metadata"];
  readonly columns?: readonly Column<T>[];
  /** Conditions of a Table row: terminated pods are marked, so that clients can grey them out. */
  rowConditions?(object: T): readonly RowCondition[];
  /** Fields for field selectors beyond metadata.name and metadata.namespace, and their values. */
  readonly selectableFields?: SelectableFields<T>;
  /** Field selectors of older clients. */
  readonly fieldAliases?: Readonly<Record<string, string>>;

  /**
   * Besides the status: fields that a write to the object can set but not own, such as `spec` of a
   * CertificateSigningRequest.
   */
  readonly resetFields?: readonly string[];

  /** A warning with every answer about this kind: what replaces it. */
  readonly deprecated?: string | undefined;
  /** Warnings for the writer of an object. */
  warnings?(object: T, old: T | undefined): readonly string[];

  /** Stored as another kind (events.k8s.io/v1 Event, autoscaling/v1 HorizontalPodAutoscaler). */
  readonly storedAs?: StoredForm<T>;
  /** The subresources in discovery, in its order. */
  readonly served: readonly ServedSubresource[];
}

/**
 * What the kind's own rules validate of metadata, beside what the server validates for all kinds. Default: the metadata
 * of a new object, that of a change as a change, and finalizers with a domain.
 */
export interface MetaChecks {
  /** False: only what the server validates for all kinds. */
  readonly create?: boolean;
  /** On update: as for a new object, as for a change, or both, in this order. */
  readonly update?: readonly MetaPass[];
  /** The same for a write of the status. */
  readonly status?: readonly MetaPass[];
  /** Finalizers may have names without a domain. */
  readonly plainFinalizers?: boolean;
}

export type MetaPass = "create" | "update";

export interface SelectableFields<T> {
  readonly names: readonly string[];
  valueOf(object: T, name: string): string;
}

export interface StoredForm<T> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  toStored(object: T): KubeObject;
  fromStored(object: KubeObject): T;
}

export interface ServedSubresource {
  readonly name: string;
  /** The kind of the subresource's body: Scale, Eviction, or the kind itself. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly Verb[];
  readonly typeName: string;
}

/** Which features are on (src/api/features has the gates). */
export interface FeatureGates {
  enabled(gate: string): boolean;
}

/**
 * What rules may know of the request: a CertificateSigningRequest records its requestor, a PersistentVolume the time of
 * its phase.
 */
export interface RequestFacts {
  /** The features of the server. Fields of features that are off have been dropped before. */
  readonly features: FeatureGates;
  /** Milliseconds since 1970, from the server's clock. */
  readonly now: number;
  readonly user: RequestUser;
}

export interface RequestUser {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

export interface CreateRules<T> {
  /** `request` is absent only where a rule runs outside of a request. */
  prepare?(draft: Draft<T>, request?: RequestFacts): void;
  /** `features` is absent only where a rule runs outside of a server: then those of v1.36 hold. */
  validate?(object: T, at: FieldPath, features?: FeatureGates): readonly FieldError[];
  /** Keeps the status that the client sent (Node does). Default: false where there is a status subresource. */
  readonly keepStatus?: boolean;
}

export interface UpdateRules<T> {
  /** Immutable paths, such as `spec.selector`. */
  readonly immutable?: readonly string[];
  prepare?(draft: Draft<T>, old: T, request?: RequestFacts): void;
  validate?(object: T, old: T, at: FieldPath, features?: FeatureGates): readonly FieldError[];
  /** PUT to a name that does not exist creates the object (Lease, Event, Endpoints, … do). Default: false. */
  readonly allowCreate?: boolean;
  /** PUT without resourceVersion is accepted. Default: true. */
  readonly allowUnconditional?: boolean;
}

export interface DeleteRules<T> {
  /** Graceful deletion: seconds between the deletion mark and the removal; 0 deletes at once. */
  graceSeconds?(object: T, requested: Int64 | undefined): Int64;
  readonly defaultPropagation?: "Background" | "Foreground" | "Orphan";
  /** A warning for clients that rely on the default propagation (that of Job may surprise them). */
  readonly defaultPropagationWarning?: string;
  /** Besides metadata.finalizers: a field of its own that holds back the removal (a Namespace's spec.finalizers). */
  holds?(object: T): boolean;
  /** Changes that go with the deletion mark (a Namespace becomes Terminating). */
  mark?(draft: Draft<T>): void;
  /** Why this object cannot be deleted: the message of a 403 (the system's own PriorityClasses). */
  forbids?(object: T): string | undefined;
}

export interface Subresources<T> {
  readonly status?: true | StatusRules<T>;
  readonly scale?: ScaleRules;
  /** Other subresources that change a part of the object: approval, finalize, ephemeralcontainers, resize. */
  readonly parts?: Readonly<Record<string, PartRules<T>>>;
}

export interface StatusRules<T> {
  /**
   * Defaults of status and metadata that do not depend on the rest: a write that keeps the stored spec need not default
   * that again.
   */
  fill?(draft: Draft<T>): void;
  prepare?(draft: Draft<T>, old: T, request?: RequestFacts): void;
  validate?(object: T, old: T, at: FieldPath): readonly FieldError[];
  /** The metadata that a status write may change. Default: labels and annotations. */
  readonly keeps?: "labelsAndAnnotations" | "annotations" | "nothing";
}

export interface PartRules<T> {
  readonly verbs: readonly ("get" | "patch" | "update")[];
  /** Takes over from `old` everything that this subresource must not change. */
  prepare(draft: Draft<T>, old: T, request?: RequestFacts): void;
  validate?(object: T, old: T, at: FieldPath): readonly FieldError[];
}

export interface ScaleRules {
  /** Paths such as `spec.replicas`. */
  readonly replicas: string;
  readonly statusReplicas: string;
  /** A label selector, as LabelSelector or in its string form. */
  readonly selector?: string | undefined;
}

/** A column of `kubectl get`. Name comes first, unless the kind has a column of that name. */
export interface Column<T> {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string | undefined;
  /** 0 is always shown, 1 with -o wide. */
  readonly priority?: number | undefined;
  /**
   * The key of the column's description in the documentation that is fetched at set-up: a field such as
   * `io.k8s.api.apps.v1.DaemonSetStatus.numberReady`, or `columns.pod.Ready`.
   */
  readonly doc?: string;
  /** A description of our own, where there is no documentation. */
  readonly description?: string;
  cell(object: T, now: number): string | Int64 | boolean | null;
}

export interface RowCondition {
  readonly type: "Completed";
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
}

export function apiVersionOf({ group, version }: Pick<Kind, "group" | "version">): string {
  return group === "" ? version : `${group}/${version}`;
}
