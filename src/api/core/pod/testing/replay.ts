/**
 * A server of one kind, small enough for tests of rules: decodes, defaults, prepares and validates as the real one
 * does, and keeps what it is given. Of admission it does what every default cluster does to a pod.
 */

import { defaultFeatures, disabledFields } from "../../../features/index.ts";
import { at, type FieldError, invalidStatus } from "../../../machinery/errors/field-error.ts";
import type { Json, JsonObject } from "../../../machinery/json/json.ts";
import { checkDns1123Subdomain } from "../../../machinery/names/names.ts";
import { validateObjectMeta } from "../../../machinery/object-meta.ts";
import { applyJsonPatch, decodeJsonPatch } from "../../../machinery/patch/json-patch.ts";
import { applyMergePatch } from "../../../machinery/patch/merge-patch.ts";
import { applyStrategicMergePatch } from "../../../machinery/patch/strategic-merge-patch.ts";
import { decode } from "../../../machinery/schema/decode.ts";
import { applySchemaDefaults } from "../../../machinery/schema/defaults.ts";
import type { Draft } from "../../../machinery/schema/object.ts";
import type { Pod as PodObject } from "../../../types/core-v1.ts";
import { Pod } from "../pod.ts";
import { raiseGeneration } from "../update/kept.ts";

export interface Answer {
  readonly status: number;
  /** Of a refusal, in the order reported. */
  readonly causes?: readonly string[];
  readonly message?: string;
  readonly pod?: PodObject;
}

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: Json;
  readonly contentType?: string;
}

const dropDisabled = disabledFields(defaultFeatures, "v1/Pod");
const mountPath = "/var/run/secrets/kubernetes.io/serviceaccount";

export class PodReplay {
  readonly #pods = new Map<string, PodObject>();

  /** undefined: not a request that changes a pod. */
  send({ method, path, body, contentType = "" }: Request): Answer | undefined {
    const [, name = "", part = ""] = /\/pods(?:\/([^/?]+))?(?:\/([^/?]+))?(?:\?|$)/.exec(path) ?? [];
    if (method === "POST" && name === "" && path.includes("/pods"))
      return this.#create(body as JsonObject, path.includes("dryRun"));
    const old = this.#pods.get(name);
    if (old === undefined || (part !== "" && Pod.subresources?.parts?.[part] === undefined)) return undefined;
    if (method === "PUT") return this.#change(old, body as JsonObject, part);
    if (method === "PATCH") return this.#change(old, patched(old, body ?? null, contentType), part);
    return undefined;
  }

  #create(body: JsonObject, dryRun: boolean): Answer {
    const draft = prepared(body);
    admit(draft);
    dropDisabled?.(draft);
    Pod.create?.prepare?.(draft, { features: defaultFeatures, now: 0, user: { name: "", groups: [], extra: {} } });
    draft.metadata = { ...draft.metadata, namespace: "ns", generation: 1 };
    const rules = { namespaced: true, validateName: (name: string) => checkDns1123Subdomain(name) };
    const errors = [
      ...validateObjectMeta(draft.metadata, rules, at("metadata")),
      ...(Pod.create?.validate?.(draft, at()) ?? []),
    ];
    if (errors.length > 0) return refusal(draft, errors);
    Pod.canonicalize?.(draft);
    if (!dryRun) this.#pods.set(draft.metadata.name ?? "", draft);
    return { status: 201, pod: draft };
  }

  #change(old: PodObject, body: JsonObject, part: string): Answer {
    const draft = prepared(body);
    draft.metadata = {
      ...draft.metadata,
      namespace: "ns",
      ...(draft.metadata.generation === undefined ? { generation: 1 } : {}),
    };
    const rules = part === "" ? Pod.update : Pod.subresources?.parts?.[part];
    dropDisabled?.(draft, old);
    rules?.prepare?.(draft, old);
    if (part === "") {
      keepTolerations(draft);
      keepPriority(draft, old);
      raiseGeneration(draft, old);
    }
    const errors = rules?.validate?.(draft, old, at()) ?? [];
    if (errors.length > 0) return refusal(draft, errors);
    Pod.canonicalize?.(draft);
    this.#pods.set(draft.metadata.name ?? "", draft);
    return { status: 200, pod: draft };
  }
}

function prepared(body: JsonObject): Draft<PodObject> {
  const draft = decode(Pod.schema, body).value as JsonObject;
  applySchemaDefaults(Pod.schema, draft as Record<string, Json>);
  Pod.defaults?.(draft as unknown as Draft<PodObject>);
  return decode(Pod.schema, draft).value as unknown as Draft<PodObject>;
}

function refusal(pod: PodObject, errors: readonly FieldError[]): Answer {
  const { message, details } = invalidStatus({ group: "", kind: "Pod" }, pod.metadata.name ?? "", errors);
  const causes = (details?.causes ?? []).map((cause) => `${cause.field} ${cause.reason} ${cause.message}`);
  return { status: 422, message, causes, pod };
}

function patched(old: PodObject, patch: Json, contentType: string): JsonObject {
  const document = old as unknown as JsonObject;
  if (contentType.includes("json-patch")) return applyJsonPatch(document, decodeJsonPatch(patch)) as JsonObject;
  if (contentType.includes("strategic")) return applyStrategicMergePatch(document, patch as JsonObject, Pod.schema);
  return applyMergePatch(document, patch) as JsonObject;
}

/** What the admission plugins ServiceAccount, Priority and DefaultTolerationSeconds add. */
function admit(pod: Draft<PodObject>): void {
  const spec = pod.spec ?? { containers: [] };
  spec.serviceAccountName ??= "default";
  spec.priority ??= 0;
  spec.preemptionPolicy ??= "PreemptLowerPriority";
  keepTolerations(pod);
  const name = "kube-api-access-rand";
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    container.volumeMounts = [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath }];
  }
  const items = [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }];
  const sources = [
    { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
    { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
    { downwardAPI: { items } },
  ];
  if ((spec.containers ?? []).length > 0)
    spec.volumes = [...(spec.volumes ?? []), { name, projected: { defaultMode: 420, sources } }];
}

function keepPriority({ spec }: Draft<PodObject>, old: PodObject): void {
  if (spec === undefined) return;
  spec.priority ??= old.spec?.priority ?? 0;
  spec.preemptionPolicy ??= old.spec?.preemptionPolicy ?? "PreemptLowerPriority";
}

function keepTolerations({ spec }: Draft<PodObject>): void {
  if (spec === undefined) return;
  for (const key of ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]) {
    if ((spec.tolerations ?? []).some((toleration) => toleration.key === key)) continue;
    spec.tolerations = [
      ...(spec.tolerations ?? []),
      { key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
    ];
  }
}
