/**
 * A kind: one declarative value that holds all that is true of it. The server knows no kind by name; it does what this says.
 * A CustomResourceDefinition compiles into the same value.
 *
 * 1. Everything here is pure. (Rules are written as methods, so that a Kind<Pod> is a Kind.) Drafts are fresh and may be changed in place; all other objects are never changed.
 * 2. Order on create: decode → defaults → (admission) → prepareCreate → validate. On update: decode → defaults → (admission) → prepareUpdate →
 *    validate → validateUpdate. The machinery itself looks after metadata, status, generation and managedFields.
 */
import type { FieldError, FieldPath } from "./errors/field-error.ts";
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
  /** Default: the kind with List behind it. */
  readonly listKind?: string | undefined;
  readonly scope: "Namespaced" | "Cluster";
  readonly names: KindNames;
  readonly verbs: readonly Verb[];
  readonly schema: ObjectSchema;

  /** Fills in what was left out. The schema's own defaults have been set before. */
  defaults?(draft: Draft<T>): void;
  readonly create?: CreateRules<T>;
  readonly update?: UpdateRules<T>;
  readonly delete?: DeleteRules<T>;
  /** Always asked, on create and on update. ObjectMeta has been checked by the machinery. */
  validate?(object: T, at: FieldPath): readonly FieldError[];
  /** Brings what has been found valid into its one stored form (Endpoints are repacked). Runs after validation. */
  canonicalize?(draft: Draft<T>): void;
  /** How names of this kind are checked. Default: a DNS-1123 subdomain. */
  validateName?(name: string, isPrefix: boolean): readonly string[];
  readonly subresources?: Subresources<T>;

  /** `metadata.generation`: `spec` starts at 1 and rises with every change outside metadata and status; `client` keeps what a create says. Default: `client`. */
  readonly generation?: "spec" | "client" | { changed(next: T, old: T): boolean };

  /** The metadata as it is shown without the object, where that differs: it leaves out annotations that stand for fields of the object. */
  metadataAlone?(object: T): KubeObject["metadata"];
  readonly columns?: readonly Column<T>[];
  /** What a Table says of a row as a whole: pods that have ended are marked, so that clients can grey them out. */
  rowConditions?(object: T): readonly RowCondition[];
  /** Beyond metadata.name and metadata.namespace: what field selectors may name, and how its value is read. */
  readonly selectableFields?: SelectableFields<T>;
  /** Field selectors that older clients use. */
  readonly fieldAliases?: Readonly<Record<string, string>>;

  /** Besides the status: what a write to the object itself can set but not own, such as `spec` of a CertificateSigningRequest. */
  readonly resetFields?: readonly string[];

  /** Told with every answer about this kind: what replaces it. */
  readonly deprecated?: string | undefined;
  /** Warnings for who writes an object. */
  warnings?(object: T, old: T | undefined): readonly string[];

  /** Kept in the form of another kind, whose objects these are too (events.k8s.io/v1 Event, autoscaling/v1 HorizontalPodAutoscaler). */
  readonly storedAs?: StoredForm<T>;
  /** What discovery says about subresources, in its order. */
  readonly served: readonly ServedSubresource[];
}

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
  /** Of the object that it speaks: Scale, Eviction, or the kind itself. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly Verb[];
  readonly typeName: string;
}

/** What rules may know of the request behind a change: a CertificateSigningRequest names its requestor, a PersistentVolume the time of its phase. */
export interface RequestFacts {
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
  /** `request` is absent only where a rule is run outside of a request. */
  prepare?(draft: Draft<T>, request?: RequestFacts): void;
  validate?(object: T, at: FieldPath): readonly FieldError[];
  /** Keep the status that the client sent (Node does). Default: false where there is a status subresource. */
  readonly keepStatus?: boolean;
}

export interface UpdateRules<T> {
  /** Paths such as `spec.selector` that must not change. */
  readonly immutable?: readonly string[];
  prepare?(draft: Draft<T>, old: T, request?: RequestFacts): void;
  validate?(object: T, old: T, at: FieldPath): readonly FieldError[];
  /** PUT to a name that does not exist creates it (Lease, Event, Endpoints, … do). Default: false. */
  readonly allowCreate?: boolean;
  /** PUT without resourceVersion is accepted. Default: true. */
  readonly allowUnconditional?: boolean;
}

export interface DeleteRules<T> {
  /** Deletion in two steps: seconds between the mark and the end; 0 deletes at once. */
  graceSeconds?(object: T, asked: number | undefined): number;
  readonly defaultPropagation?: "Background" | "Foreground" | "Orphan";
  /** Told to clients that leave the propagation to the default (Job's may surprise them). */
  readonly defaultPropagationWarning?: string;
  /** Besides metadata.finalizers: something of its own holds the object until it is gone (a Namespace's spec.finalizers). */
  holds?(object: T): boolean;
  /** Changes that go with the mark (a Namespace becomes Terminating). */
  mark?(draft: Draft<T>): void;
  /** Why this object must stay: the request is forbidden, in these words (the system's own PriorityClasses). */
  forbids?(object: T): string | undefined;
}

export interface Subresources<T> {
  readonly status?: true | StatusRules<T>;
  readonly scale?: ScaleRules;
  /** Others that change a part of the object: approval, finalize, ephemeralcontainers, resize. */
  readonly parts?: Readonly<Record<string, PartRules<T>>>;
}

export interface StatusRules<T> {
  /** The defaults of status and metadata, where they do not depend on the rest: a write that leaves the rest as it is stored need not fill that in again. */
  fill?(draft: Draft<T>): void;
  prepare?(draft: Draft<T>, old: T, request?: RequestFacts): void;
  validate?(object: T, old: T, at: FieldPath): readonly FieldError[];
  /** What of the metadata a status write may change. Default: labels and annotations. */
  readonly keeps?: "labelsAndAnnotations" | "annotations" | "nothing";
}

export interface PartRules<T> {
  readonly verbs: readonly ("get" | "patch" | "update")[];
  /** Takes over from `old` all that this subresource must not change. */
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

/** A column of `kubectl get`: Name comes first by itself, unless the kind has a column of that name. */
export interface Column<T> {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string | undefined;
  /** 0 is always shown, 1 with -o wide. */
  readonly priority?: number | undefined;
  /** What describes the column, in the documentation that set-up reads: a field such as `io.k8s.api.apps.v1.DaemonSetStatus.numberReady`, or `columns.pod.Ready`. */
  readonly doc?: string;
  /** A text of our own, where there is none. */
  readonly description?: string;
  cell(object: T, now: number): string | number | boolean | null;
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
