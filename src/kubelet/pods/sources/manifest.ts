/**
 * A static Pod from its manifest: defaulted and validated as by the API server, and named after its node. Pure.
 *
 * 1. The uid is a digest of the text and its place: a changed manifest is another Pod.
 * 2. Validation errors are the API server's.
 */
import { createHash } from "node:crypto";
import {
  applySchemaDefaults,
  at,
  builtIn,
  type core,
  DecodeError,
  type Draft,
  decode,
  type FieldError,
  isObject,
  type Json,
  type Kind,
  parseYaml,
  writeJson,
  YamlSyntaxError,
} from "#api";
import { CONFIG_HASH, CONFIG_SEEN, CONFIG_SOURCE } from "./static-pod.ts";

export class ManifestError extends Error {
  override readonly name = "ManifestError";
}

export interface ManifestOrigin {
  readonly nodeName: string;
  readonly source: "file" | "http";
  /** The file's path, or the URL. */
  readonly place: string;
  readonly seenMs: number;
}

export type Manifest = { readonly pods: readonly core.Pod[] } | { readonly problem: string };

/** The Pods of a manifest, or why it is invalid. */
export function readManifest(text: string, origin: ManifestOrigin): Manifest {
  try {
    return { pods: podsOfManifest(text, origin) };
  } catch (error) {
    if (error instanceof ManifestError) return { problem: error.message };
    throw error;
  }
}

/** One Pod or a list of Pods. Throws ManifestError. */
export function podsOfManifest(text: string, origin: ManifestOrigin): readonly core.Pod[] {
  const value = parsed(text);
  const isList = isObject(value) && (value.kind === "PodList" || value.kind === "List") && Array.isArray(value.items);
  const items: readonly Json[] = isList ? (value.items as Json[]) : [value];
  return items.map((item) => staticPod(item, origin));
}

function parsed(text: string): Json {
  try {
    return parseYaml(text).value;
  } catch (error) {
    if (error instanceof YamlSyntaxError) throw new ManifestError(error.message, { cause: error });
    throw error;
  }
}

function staticPod(value: Json, { nodeName, source, place, seenMs }: ManifestOrigin): core.Pod {
  if (!isObject(value) || value.kind !== "Pod" || (value.apiVersion !== undefined && value.apiVersion !== "v1"))
    throw new ManifestError("it holds no v1 Pod");
  const kind = podKind();
  const draft = decoded(kind, value) as Draft<core.Pod>;
  const { name = "", namespace, uid } = draft.metadata;
  if (name === "") throw new ManifestError("the Pod has no name");
  const digest = createHash("sha256")
    .update(writeJson([nodeName, place, value]))
    .digest("hex")
    .slice(0, 32);
  draft.metadata.name = `${name}-${nodeName}`;
  draft.metadata.namespace = namespace === undefined || namespace === "" ? "default" : namespace;
  draft.metadata.uid = uid === undefined || uid === "" ? digest : uid;
  draft.metadata.annotations = {
    ...draft.metadata.annotations,
    [CONFIG_HASH]: draft.metadata.uid,
    [CONFIG_SOURCE]: source,
    [CONFIG_SEEN]: new Date(seenMs).toISOString(),
  };
  draft.spec ??= { containers: [] };
  draft.spec.nodeName = nodeName;
  // A static Pod tolerates every NoExecute taint.
  draft.spec.tolerations = [...(draft.spec.tolerations ?? []), { operator: "Exists", effect: "NoExecute" }];
  applySchemaDefaults(kind.schema, draft as unknown as Parameters<typeof applySchemaDefaults>[1]);
  kind.defaults?.(draft);
  draft.status = { phase: "Pending" };
  const faults = [
    ...(kind.validate?.(draft as core.Pod, at()) ?? []),
    ...(kind.create?.validate?.(draft as core.Pod, at()) ?? []),
    ...references(draft as core.Pod),
  ];
  if (faults.length > 0)
    throw new ManifestError(faults.map((fault) => (typeof fault === "string" ? fault : words(fault))).join(", "));
  return draft as core.Pod;
}

function decoded(kind: Kind<core.Pod>, value: Json): core.Pod {
  try {
    const { metadata = {}, ...rest } = decode(kind.schema, value).value as unknown as Partial<core.Pod>;
    return { ...rest, metadata: { ...metadata } };
  } catch (error) {
    if (error instanceof DecodeError) throw new ManifestError(error.message, { cause: error });
    throw error;
  }
}

/** A static Pod must run without the API server: it cannot refer to API objects. */
function references({ spec }: core.Pod): readonly string[] {
  const all = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  const hasEnv = all.some(
    ({ env = [], envFrom = [] }) =>
      envFrom.length > 0 ||
      env.some(({ valueFrom }) => valueFrom?.configMapKeyRef !== undefined || valueFrom?.secretKeyRef !== undefined),
  );
  const hasVolumes = (spec?.volumes ?? []).some(
    ({ configMap, secret, projected, persistentVolumeClaim }) =>
      (configMap ?? secret ?? projected ?? persistentVolumeClaim) !== undefined,
  );
  return hasEnv || hasVolumes ? ["static pods may not reference configmaps, secrets or other API objects"] : [];
}

function words({ field, type, detail }: FieldError): string {
  return `${field}: ${type}${detail === "" ? "" : `: ${detail}`}`;
}

function podKind(): Kind<core.Pod> {
  const kind = builtIn.find((each) => each.group === "" && each.kind === "Pod");
  if (kind === undefined) throw new Error("there is no kind Pod");
  return kind as unknown as Kind<core.Pod>;
}
