/** The scale subresource: an autoscaling/v1 Scale made from an object, and its replicas written back. */
import {
  badRequest,
  conflict,
  DecodeError,
  decode,
  field,
  invalidStatus,
  isObject,
  type Json,
  type JsonObject,
  type Kind,
  type KubeObject,
  matcherOfSelector,
  notFound,
  typeSchema,
} from "#api";
import { mediaType, parseTyped } from "../body.ts";
import type { AnyDraft } from "../draft.ts";
import { patchOptions, writeOptions } from "../options.ts";
import { fresh } from "../read/fresh.ts";
import type { RestRequest } from "../rest-request.ts";
import type { Admission, AdmissionAttributes } from "../server-context.ts";
import { change } from "./change.ts";
import { own } from "./ownership.ts";
import { parsePatch, patcher } from "./patch.ts";
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
  const value = parseTyped(await request.body(), request.contentType, SCALE_TYPE);
  checkPlace(request, decodeScale(value).metadata as { name?: string; namespace?: string });
  return writeScale(request, options.dryRun, () => value, kind);
}

export async function patchScale(request: RestRequest): Promise<JsonObject> {
  const { kind } = request.resource;
  const options = patchOptions(request.query, false);
  const type = mediaType(request.contentType);
  const patched = patcher(type, parsePatch(type, (await request.body()).toString("utf8")).value);
  return writeScale(request, options.dryRun, (current) => patched(current, typeSchema(SCALE_TYPE)), kind);
}

async function writeScale(
  request: RestRequest,
  dryRun: boolean,
  propose: (scale: JsonObject) => Json,
  kind: Kind,
): Promise<JsonObject> {
  const path = kind.subresources?.scale?.replicas ?? "spec.replicas";
  const written = await change(
    { ...request, subresource: "", context: { ...request.context, admission: scaleAdmission(request, kind, path) } },
    {
      dryRun,
      propose: async (current) => {
        if (current === undefined) throw notFound(request.resource.groupResource, request.name);
        const before = scaleOf(kind, current);
        const after = decodeScale(propose(before));
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
        await own({ ...request, subresource: "scale" }, draft, current);
        return { draft, owned: true };
      },
    },
  );
  return scaleOf(kind, request.resource.read(written.stored));
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
