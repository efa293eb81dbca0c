/**
 * Preparation and validation of an object, for every kind alike: pure, with time and uid passed in.
 *
 *     create   metadata of a new object → empty status → disabled fields → the kind's own rules
 *     update   metadata and status of the old object → disabled fields → the kind's own rules → generation
 *     status   everything but the status of the old object → disabled fields → the kind's own rules
 */
import {
  addInt64,
  at,
  changedMetaErrors,
  checkDns1123Subdomain,
  cloneJson,
  type DropFields,
  equalJson,
  type FeatureGates,
  type FieldError,
  field,
  formatTime,
  hasSentEmpty,
  instantOf,
  invalidStatus,
  type Json,
  type Kind,
  type KindMetaRules,
  type KubeObject,
  ownMetaErrors,
  type RequestFacts,
  serverMetaErrors,
  zeroValue,
} from "#api";
import type { AnyDraft } from "../draft.ts";

const METADATA = at("metadata");
const ROOT = at();

const metaRules = new WeakMap<Kind, KindMetaRules>();

export function metaRulesOf(kind: Kind): KindMetaRules {
  let rules = metaRules.get(kind);
  if (rules === undefined) {
    rules = {
      namespaced: kind.scope === "Namespaced",
      qualifiedFinalizers: kind.metaChecks?.plainFinalizers !== true,
      ownCreate: kind.metaChecks?.create !== false,
      ownUpdate: kind.metaChecks?.update ?? ["update"],
      validateName: (name, isPrefix) =>
        kind.validateName?.(name, isPrefix) ?? checkDns1123Subdomain(isPrefix ? maskedPrefix(name) : name),
    };
    metaRules.set(kind, rules);
  }
  return rules;
}

/** A prefix may end with a dash, which a name may not: something will follow it. */
function maskedPrefix(prefix: string): string {
  return prefix.length > 1 && prefix.endsWith("-") ? `${prefix.slice(0, -2)}a` : prefix;
}

/** Removes owner references that stand twice, and warns of them. Words differ before and after admission. */
export function dedupeOwners(draft: AnyDraft, warn: (message: string) => void, when: "sent" | "admitted"): void {
  const owners = draft.metadata.ownerReferences ?? [];
  if (owners.length < 2) return;
  const seen = new Set<string>();
  const twice = new Set<string>();
  const kept = owners.filter((owner) => {
    const key = JSON.stringify(owner);
    if (seen.has(key)) twice.add(owner.uid);
    return !seen.has(key) && seen.add(key);
  });
  if (twice.size === 0) return;
  draft.metadata.ownerReferences = kept;
  const after = when === "sent" ? "" : " after mutating admission happens";
  warn(
    `.metadata.ownerReferences contains duplicate entries${after}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...twice].join(", ")}`,
  );
}

/** What preparation needs of the request and of the server. */
export interface Preparing extends RequestFacts {
  /** Drops the fields of features that are off. Absent: the kind has none. */
  readonly dropDisabled?: DropFields | undefined;
}

export function prepareCreate(kind: Kind, draft: AnyDraft, uid: string, request: Preparing): void {
  const { metadata } = draft;
  metadata.uid = uid;
  metadata.creationTimestamp = formatTime(instantOf(request.now));
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  if (kind.generation !== undefined && kind.generation !== "client") metadata.generation = 1;
  if (kind.subresources?.status !== undefined && kind.create?.keepStatus !== true) emptyStatus(kind, draft);
  request.dropDisabled?.(draft);
  kind.create?.prepare?.(draft, request);
}

export function checkCreate(kind: Kind, object: KubeObject, features: FeatureGates): void {
  const rules = metaRulesOf(kind);
  const errors = field.allErrors(
    ownMetaErrors(object.metadata, rules, METADATA),
    kind.validate?.(object, ROOT) ?? field.NO_ERRORS,
    kind.create?.validate?.(object, ROOT, features) ?? field.NO_ERRORS,
  );
  refuse(kind, object, errors);
  refuse(kind, object, serverMetaErrors(object.metadata, rules, METADATA));
}

export function prepareUpdate(kind: Kind, draft: AnyDraft, old: KubeObject, request: Preparing): void {
  keepMetadata(draft, old);
  if (kind.subresources?.status !== undefined) keep(draft, old, "status");
  request.dropDisabled?.(draft, old);
  kind.update?.prepare?.(draft, old, request);
  raiseGeneration(kind, draft, old);
}

export function checkUpdate(kind: Kind, object: KubeObject, old: KubeObject, features: FeatureGates): void {
  const rules = metaRulesOf(kind);
  const errors = [
    ...changedMetaErrors(object.metadata, old.metadata, rules, rules.ownUpdate, METADATA),
    ...(kind.validate?.(object, ROOT) ?? []),
    ...(kind.update?.immutable ?? []).flatMap((path) => unchanged(object, old, path)),
    ...(kind.update?.validate?.(object, old, ROOT, features) ?? []),
  ];
  refuse(kind, object, errors);
}

/** A write of the status changes the status, and of the metadata what the kind allows. */
export function prepareStatus(kind: Kind, draft: AnyDraft, old: KubeObject, request: Preparing): void {
  const rules = kind.subresources?.status;
  const keeps = typeof rules === "object" ? (rules.keeps ?? "labelsAndAnnotations") : "labelsAndAnnotations";
  const { labels, annotations, managedFields, resourceVersion, finalizers, ownerReferences } = draft.metadata;
  shareAllButStatus(draft, old);
  const { managedFields: _, ...kept } = old.metadata;
  draft.metadata = cloneJson(kept) as AnyDraft["metadata"];
  assign(draft.metadata, { managedFields, resourceVersion });
  if (keeps !== "nothing") assign(draft.metadata, { annotations, finalizers, ownerReferences });
  if (keeps === "labelsAndAnnotations") assign(draft.metadata, { labels });
  request.dropDisabled?.(draft, old);
  if (typeof rules === "object") rules.prepare?.(draft, old, request);
}

/**
 * Whatever stands beside status and metadata is the old object itself, so that comparing and freezing find at once that
 * it is the same. Nothing may change it from here on.
 */
function shareAllButStatus(draft: AnyDraft, old: KubeObject): void {
  for (const field of new Set([...Object.keys(old), ...Object.keys(draft)]))
    if (field !== "status" && field !== "metadata") share(draft, old, field);
}

function share(draft: AnyDraft, old: KubeObject, field: string): void {
  const value = (old as unknown as Record<string, Json | undefined>)[field];
  if (value === undefined) delete draft[field];
  else draft[field] = value;
}

/**
 * What an update leaves as it is becomes the old object's own: validation and comparison then see at once that it is
 * the same, and the caches keep it once. Nothing may change it from here on. Where a list was sent empty, validation
 * asks the part that was sent.
 */
export function shareEqualParts(draft: AnyDraft, old: KubeObject): void {
  const before = old as unknown as Record<string, Json | undefined>;
  for (const name of Object.keys(draft)) {
    const was = before[name];
    const is = draft[name];
    if (name === "metadata" || typeof was !== "object" || is === was) continue;
    if (equalJson(is, was) && !hasSentEmpty(is)) draft[name] = was;
  }
}

/**
 * Another subresource than the status: the kind keeps what it must not change; generation follows from what changed.
 */
export function preparePart(kind: Kind, part: string, draft: AnyDraft, old: KubeObject, request: Preparing): void {
  keepMetadata(draft, old);
  request.dropDisabled?.(draft, old);
  kind.subresources?.parts?.[part]?.prepare(draft, old, request);
  raiseGeneration(kind, draft, old);
}

export function checkStatus(kind: Kind, object: KubeObject, old: KubeObject): void {
  const rules = kind.subresources?.status;
  const passes = kind.metaChecks?.status ?? ["update"];
  const errors = [
    ...changedMetaErrors(object.metadata, old.metadata, metaRulesOf(kind), passes, METADATA),
    ...(typeof rules === "object" ? (rules.validate?.(object, old, ROOT) ?? []) : []),
  ];
  refuse(kind, object, errors);
}

export function checkPart(kind: Kind, part: string, object: KubeObject, old: KubeObject): void {
  const rules = metaRulesOf(kind);
  refuse(kind, object, [
    ...changedMetaErrors(object.metadata, old.metadata, rules, rules.ownUpdate, METADATA),
    ...(kind.subresources?.parts?.[part]?.validate?.(object, old, ROOT) ?? []),
  ]);
}

function refuse(kind: Kind, object: KubeObject, errors: readonly FieldError[]): void {
  // Kinds that are stored as another kind are validated as that kind, and their errors name it.
  const { group, kind: name } = kind.storedAs ?? kind;
  if (errors.length > 0) throw invalidStatus({ group, kind: name }, object.metadata.name ?? "", errors);
}

function keepMetadata(draft: AnyDraft, old: KubeObject): void {
  const { metadata } = draft;
  const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation } = old.metadata;
  metadata.uid ??= uid ?? "";
  // A change of these is ignored.
  if (creationTimestamp !== undefined) assign(metadata, { creationTimestamp });
  if (deletionTimestamp !== undefined) assign(metadata, { deletionTimestamp });
  if (metadata.deletionGracePeriodSeconds === undefined) assign(metadata, { deletionGracePeriodSeconds });
  assign(metadata, { generation });
}

function raiseGeneration(kind: Kind, draft: AnyDraft, old: KubeObject): void {
  if (kind.generation === undefined || kind.generation === "client") return;
  const changed =
    typeof kind.generation === "object"
      ? kind.generation.changed(draft as KubeObject, old)
      : differsBeyondMetadata(draft, old);
  if (changed) draft.metadata.generation = addInt64(old.metadata.generation ?? 0, 1);
}

function differsBeyondMetadata(draft: AnyDraft, old: KubeObject): boolean {
  const before = old as unknown as Record<string, Json | undefined>;
  for (const field of new Set([...Object.keys(draft), ...Object.keys(before)])) {
    if (field === "metadata" || field === "status" || field === "kind" || field === "apiVersion") continue;
    if (!equalJson(draft[field] ?? null, before[field] ?? null)) return true;
  }
  return false;
}

/**
 * The status that decoding gives to an object without one: Go encodes an empty struct, with the fields that it never
 * omits.
 */
function emptyStatus(kind: Kind, draft: AnyDraft): void {
  const status = kind.schema.fields.get("status");
  if (status === undefined) return;
  if (status.pointer || status.omit === "zero") delete draft.status;
  else draft.status = zeroValue(status.schema);
}

function keep(draft: AnyDraft, old: KubeObject, field: string): void {
  const value = (old as unknown as Record<string, Json | undefined>)[field];
  if (value === undefined) delete draft[field];
  else draft[field] = cloneJson(value);
}

function assign(target: object, values: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) delete (target as Record<string, unknown>)[key];
    else (target as Record<string, unknown>)[key] = value;
  }
}

function unchanged(object: KubeObject, old: KubeObject, path: string): FieldError[] {
  const read = (from: unknown): Json =>
    path.split(".").reduce<Json>((value, name) => (value as Record<string, Json> | null)?.[name] ?? null, from as Json);
  const value = read(object);
  return equalJson(value, read(old)) ? [] : [field.immutable(path, value)];
}
