/** The scale subresource: an autoscaling/v1 Scale made from an object, and its replicas written back. */
import {
  apiVersionOf,
  applyConfiguration,
  badRequest,
  conflict,
  DecodeError,
  decode,
  field,
  fieldPath,
  invalidStatus,
  isObject,
  type Json,
  type JsonObject,
  type Kind,
  type KubeObject,
  type ManagedFields,
  matcherOfSelector,
  notFound,
  parentManagedFields,
  type ReplicasPaths,
  scaleManagedFields,
  typeSchema,
  updateManagedFields,
  type WriteContext,
} from "#api";
import type { AnyDraft } from "../draft.ts";
import { patchOptions, writeOptions } from "../options.ts";
import { fresh } from "../read/fresh.ts";
import type { RestRequest } from "../rest-request.ts";
import type { Admission, AdmissionAttributes } from "../server-context.ts";
import { named, reportRepeated } from "./apply.ts";
import { change } from "./change.ts";
import { ownershipContext } from "./ownership.ts";
import { patcher, patchType } from "./patch.ts";
import { readBody } from "./read-body.ts";
import { APPLY_CBOR_PATCH, APPLY_PATCH } from "./sent-patch.ts";
import { checkPlace } from "./update.ts";

const SCALE_TYPE = "io.k8s.api.autoscaling.v1.Scale";

export async function getScale(request: RestRequest): Promise<JsonObject> {
  const { context, resource, namespace, name } = request;
  await fresh(context);
  const stored = await resource.get(resource.suffix(namespace, name));
  if (stored === undefined) throw notFound(resource.groupResource, name);
  return scaleOf(resource.kind, resource.read(stored));
}

export async function updateScale(request: RestRequest): Promise<JsonObject> {
  const { kind } = request.resource;
  const options = writeOptions("UpdateOptions", request.query);
  const { value } = await readBody(request, await request.body(), { as: "type", typeName: SCALE_TYPE });
  checkPlace(request, decodeScale(value).metadata as { name?: string; namespace?: string });
  return writeScale(request, options.dryRun, (live) => updated(request, live, value), kind);
}

export async function patchScale(request: RestRequest): Promise<JsonObject> {
  const { kind } = request.resource;
  const type = patchType(request);
  const applies = type === APPLY_PATCH || type === APPLY_CBOR_PATCH;
  const options = patchOptions(request.query, applies);
  const bytes = await request.body();
  if (applies) {
    const strict = options.fieldValidation !== "Ignore";
    const form = { as: "configuration", typeName: SCALE_TYPE, patchType: type, strict } as const;
    const { value, warnings } = await readBody(request, bytes, form);
    const [duplicates] = warnings;
    const propose = (live: JsonObject) => {
      const scale = appliedTo(request, live, value as JsonObject, options.force);
      if (duplicates !== undefined) reportRepeated(duplicates, request, options);
      return scale;
    };
    return writeScale(request, options.dryRun, propose, kind);
  }
  const { value } = await readBody(request, bytes, { as: "patch", patchType: type });
  const patched = patcher(type, value);
  const schema = typeSchema(SCALE_TYPE);
  return writeScale(request, options.dryRun, (live) => updated(request, live, patched(live, schema)), kind);
}

/** A Scale after a write, and who owns its replicas. */
interface NewScale {
  readonly scale: JsonObject;
  readonly owners: ManagedFields;
}

function updated(request: RestRequest, live: JsonObject, value: Json): NewScale {
  const scale = decodeScale(value);
  return { scale, owners: updateManagedFields({ ...scaleContext(request), live, updated: scale }) };
}

function appliedTo(request: RestRequest, live: JsonObject, applied: JsonObject, force: boolean): NewScale {
  const asked = { ...scaleContext(request), kind: "Scale", live, applied: named(applied, request), force };
  const { object, managedFields } = applyConfiguration(asked);
  return { scale: decodeScale(object), owners: managedFields };
}

function scaleContext(request: RestRequest): WriteContext {
  const { manager, now } = ownershipContext(request);
  return { apiVersion: "autoscaling/v1", schema: typeSchema(SCALE_TYPE), manager, subresource: "scale", now };
}

async function writeScale(
  request: RestRequest,
  dryRun: boolean,
  propose: (live: JsonObject) => NewScale,
  kind: Kind,
): Promise<JsonObject> {
  const path = kind.subresources?.scale?.replicas ?? "spec.replicas";
  const written = await change(
    { ...request, subresource: "", context: { ...request.context, admission: scaleAdmission(request, kind, path) } },
    {
      dryRun,
      propose: async (current) => {
        if (current === undefined) throw notFound(request.resource.groupResource, request.name);
        const parentOwners = current.metadata.managedFields as ManagedFields | undefined;
        const paths = replicasPaths(parentOwners, kind, path);
        const { scale: after, owners } = propose(
          withOwners(scaleOf(kind, current), scaleManagedFields(parentOwners, paths)),
        );
        const metadata = isObject(after.metadata) ? after.metadata : {};
        const asked = metadata.resourceVersion ?? "";
        if (asked !== "" && asked !== current.metadata.resourceVersion)
          throw conflict(request.resource.groupResource, request.name);
        const replicas = isObject(after.spec) ? Number(after.spec.replicas ?? 0) : 0;
        // Custom resources are validated by their schema instead.
        if (replicas < 0 && kind.schema.goType !== undefined) {
          throw invalidStatus({ group: "autoscaling", kind: "Scale" }, request.name, [
            field.invalid("spec.replicas", replicas, "must be greater than or equal to 0"),
          ]);
        }
        const draft = withValue(current, path, replicas);
        const entries = parentManagedFields(parentOwners, owners, paths, apiVersionOf(kind));
        draft.metadata.managedFields = entries as AnyDraft["metadata"]["managedFields"] & object;
        return { draft, owned: true };
      },
    },
  );
  return scaleOf(kind, request.resource.read(written.stored));
}

function withOwners(scale: JsonObject, owners: ManagedFields): JsonObject {
  if (owners.length === 0) return scale;
  return { ...scale, metadata: { ...(scale.metadata as JsonObject), managedFields: owners as unknown as Json } };
}

/** All versions of a kind have their replicas in the same place. */
function replicasPaths(owners: ManagedFields = [], kind: Kind, path: string): ReplicasPaths {
  const versions = [apiVersionOf(kind), ...owners.map(({ apiVersion = "" }) => apiVersion)];
  return new Map(versions.map((version) => [version, fieldPath(path)]));
}

/** Admission gets the Scale instead of the object. The number of replicas that it leaves is written. */
function scaleAdmission({ context }: RestRequest, kind: Kind, path: string): Admission {
  const ofScale = (attributes: AdmissionAttributes): AdmissionAttributes => {
    const { object, old } = attributes;
    return {
      ...attributes,
      subresource: "scale",
      object: object && (scaleOf(kind, object) as unknown as KubeObject),
      old: old && (scaleOf(kind, old) as unknown as KubeObject),
    };
  };
  return {
    mutate: async (attributes) => {
      const seen = ofScale(attributes);
      await context.admission.mutate(seen);
      const { spec } = seen.object as unknown as { spec?: { replicas?: number } };
      setValue(attributes.object as unknown as Record<string, Json>, path, spec?.replicas ?? 0);
    },
    validate: (attributes) => context.admission.validate(ofScale(attributes)),
  };
}

function decodeScale(value: Json): JsonObject {
  try {
    return decode(typeSchema(SCALE_TYPE), value).value as JsonObject;
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(error.message);
    throw error;
  }
}

export function scaleOf(kind: Kind, object: KubeObject): JsonObject {
  const rules = kind.subresources?.scale;
  const { name = "", namespace = "", uid = "", resourceVersion = "", creationTimestamp = "" } = object.metadata;
  const selector = rules?.selector === undefined ? undefined : selectorText(valueAt(object, rules.selector));
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      creationTimestamp,
    },
    spec: { ...replicasPart(valueAt(object, rules?.replicas ?? "")) },
    status: {
      replicas: Number(valueAt(object, rules?.statusReplicas ?? "") ?? 0),
      ...(selector !== undefined && selector !== "" && { selector }),
    },
  };
}

function replicasPart(value: Json | undefined): JsonObject {
  return value === undefined || value === null || value === 0 ? {} : { replicas: value };
}

/** From a LabelSelector, a map of labels, or the text of a selector. */
function selectorText(value: Json | undefined): string | undefined {
  if (typeof value === "string" || value === undefined || value === null) return value ?? undefined;
  if (!isObject(value)) return undefined;
  const selector = "matchLabels" in value || "matchExpressions" in value ? value : { matchLabels: value };
  return matcherOfSelector(selector as Parameters<typeof matcherOfSelector>[0]).toString();
}

function valueAt(object: KubeObject, path: string): Json | undefined {
  return path
    .split(".")
    .reduce<Json | undefined>((value, name) => (isObject(value) ? value[name] : undefined), object as unknown as Json);
}

function withValue(object: KubeObject, path: string, value: Json): AnyDraft {
  const draft = structuredClone(object) as unknown as Record<string, Json>;
  setValue(draft, path, value);
  return draft as unknown as AnyDraft;
}

function setValue(draft: Record<string, Json>, path: string, value: Json): void {
  const names = path.split(".");
  let at = draft;
  for (const name of names.slice(0, -1)) {
    at[name] ??= {};
    at = at[name] as Record<string, Json>;
  }
  at[names.at(-1) ?? ""] = value;
}
