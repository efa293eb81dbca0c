/**
 * The recorded answers of a real API server, as far as they follow from apply and ownership alone. What the server adds
 * (defaults, uids, addresses) is taken from the answer; what apply and updates make of it must be the same.
 */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { typeSchema } from "../../facts/index.ts";
import { recordings } from "../../testing/recordings.ts";
import { StatusError, toStatus } from "../errors/status.ts";
import { isObject, type Json, type JsonObject } from "../json/json.ts";
import type { ObjectSchema } from "../schema/schema.ts";
import {
  applyConfiguration,
  excludeFields,
  type FieldFilter,
  fieldPath,
  fieldSet,
  type ManagedFields,
  managedFieldsOf,
  managerName,
  parentManagedFields,
  scaleManagedFields,
  updateManagedFields,
} from "./index.ts";

const oracle = fileURLToPath(recordings("oracle"));

interface Step {
  readonly method: string;
  readonly path: string;
  readonly body?: JsonObject;
  readonly headers?: Readonly<Record<string, string | null>>;
}

interface Answer {
  readonly status?: number;
  readonly body?: JsonObject;
}

interface Endpoint {
  readonly kind: string;
  readonly apiVersion: string;
  readonly type: string;
}

const endpoints: Readonly<Record<string, Endpoint>> = {
  configmaps: { kind: "ConfigMap", apiVersion: "v1", type: "io.k8s.api.core.v1.ConfigMap" },
  secrets: { kind: "Secret", apiVersion: "v1", type: "io.k8s.api.core.v1.Secret" },
  services: { kind: "Service", apiVersion: "v1", type: "io.k8s.api.core.v1.Service" },
  pods: { kind: "Pod", apiVersion: "v1", type: "io.k8s.api.core.v1.Pod" },
  roles: { kind: "Role", apiVersion: "rbac.authorization.k8s.io/v1", type: "io.k8s.api.rbac.v1.Role" },
  deployments: { kind: "Deployment", apiVersion: "apps/v1", type: "io.k8s.api.apps.v1.Deployment" },
};

/** `from`: the first step whose outcome does not depend on what only the server knows. */
const cases: readonly { readonly name: string; readonly from?: number }[] = [
  { name: "apply-atomic" },
  { name: "apply-conflict-many" },
  { name: "apply-crole" },
  { name: "apply-deployment" },
  { name: "apply-dry-run" },
  { name: "apply-list-env" },
  { name: "apply-list-ports" },
  { name: "apply-remove-field" },
  { name: "apply-replicas-handover" },
  { name: "apply-secret-stringdata" },
  { name: "apply-service" },
  { name: "apply-status", from: 2 },
  { name: "apply-update-to-apply" },
  { name: "managedfields-clear" },
  { name: "managedfields-create-update" },
  { name: "managedfields-deployment" },
  { name: "managedfields-user-agent" },
  { name: "meta-managed-fields" },
];

describe.skipIf(!existsSync(oracle))("the answers of a real API server (../shared/oracle)", () => {
  it.each(cases)("$name", ({ name, from = 0 }) => {
    const { steps } = readJson(`cases/${name}.json`) as unknown as { steps: readonly Step[] };
    const { steps: answers } = readJson(`golden/${name}.json`) as unknown as { steps: readonly Answer[] };
    let live: JsonObject | undefined = from === 0 ? undefined : answers[from - 1]?.body;
    let checked = 0;
    for (let i = from; i < steps.length; i++) {
      const [step, answer] = [steps[i], answers[i]];
      if (step === undefined || answer === undefined) break;
      if ((answer.status ?? 0) === 404) continue;
      const outcome = replay(step, answer, live, `2024-01-01T00:00:${String(i).padStart(2, "0")}Z`);
      if (answer.body !== undefined && outcome.checked) checked++;
      if (!step.path.includes("dryRun=All")) live = outcome.live;
      if (step.method === "POST" && steps[i + 1]?.method === "POST") live = undefined;
    }
    expect(checked).toBeGreaterThan(0);
  });

  it("managedfields-lists, with the defaults that were set", () => {
    const { steps } = readJson("cases/managedfields-lists.json") as unknown as { steps: readonly Step[] };
    const { steps: answers } = readJson("golden/managedfields-lists.json") as unknown as { steps: readonly Answer[] };
    const defaults: readonly ((body: JsonObject) => JsonObject)[] = [
      withPodDefaults,
      withServiceDefaults,
      (body) => body,
    ];
    for (const [i, withDefaults] of defaults.entries()) {
      const step = { ...steps[i], body: withDefaults(steps[i]?.body ?? {}) } as Step;
      const { live } = replay(step, {}, undefined, "2024-01-01T00:00:00Z");
      const text = JSON.stringify(comparable(managedFieldsOf(live) ?? [])).replaceAll(
        "11111111-1111-1111-1111-111111111111",
        "<uid>",
      );
      expect(JSON.parse(text)).toEqual(answers[i]?.body?.["/metadata/managedFields"]);
    }
  });
});

function withPodDefaults(pod: JsonObject): JsonObject {
  const spec = pod.spec as JsonObject;
  const containers = (spec.containers as readonly JsonObject[]).map((container) => ({
    ...container,
    imagePullPolicy: "IfNotPresent",
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    ports: (container.ports as readonly JsonObject[]).map((port) => ({ protocol: "TCP", ...port })),
    resources: { limits: { cpu: "1" }, requests: { cpu: "1" } },
  }));
  const defaults = {
    dnsPolicy: "ClusterFirst",
    enableServiceLinks: true,
    restartPolicy: "Always",
    schedulerName: "default-scheduler",
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  };
  return { ...pod, spec: { ...spec, ...defaults, containers } };
}

function withServiceDefaults(service: JsonObject): JsonObject {
  const spec = service.spec as JsonObject;
  const ports = (spec.ports as readonly JsonObject[]).map((port) => ({
    protocol: "TCP",
    targetPort: port.port as Json,
    ...port,
  }));
  return {
    ...service,
    spec: { ...spec, ports, internalTrafficPolicy: "Cluster", sessionAffinity: "None", type: "ClusterIP" },
  };
}

function readJson(path: string): JsonObject {
  return JSON.parse(readFileSync(`${oracle}/${path}`, "utf8"));
}

interface Replayed {
  readonly live: JsonObject | undefined;
  readonly checked: boolean;
}

function replay(step: Step, answer: Answer, live: JsonObject | undefined, now: string): Replayed {
  const url = new URL(step.path, "http://server");
  const [, resource = "", , subresource = ""] =
    /namespaces\/[^/]+\/(\w+)(?:\/([^/]+)(?:\/(\w+))?)?/.exec(decodeURI(url.pathname)) ?? [];
  const endpoint = endpoints[resource];
  if (endpoint === undefined) throw new Error(`no endpoint for ${step.path}`);
  const context: Context = {
    ...endpoint,
    schema: typeSchema(endpoint.type),
    manager: managerName(url.searchParams.get("fieldManager") ?? "", agentOf(step)),
    subresource,
    now,
    resetFields: resetFields(resource, subresource),
  };
  if (subresource === "scale") return replayScale(context, step, live);
  const isApply = step.headers?.["Content-Type"] === "application/apply-patch+yaml";
  if (isApply) return replayApply(context, step, answer, live, url.searchParams.get("force") === "true");
  return replayUpdate(context, step, answer, step.method === "POST" ? undefined : live);
}

interface Context extends Endpoint {
  readonly schema: ObjectSchema;
  readonly manager: string;
  readonly subresource: string;
  readonly now: string;
  readonly resetFields: FieldFilter;
}

function agentOf({ headers }: Step): string {
  const agent = headers?.["User-Agent"];
  return agent === undefined ? "oracle" : (agent ?? "");
}

function resetFields(resource: string, subresource: string): FieldFilter {
  if (!["pods", "services", "deployments"].includes(resource)) return (set) => set;
  return excludeFields(fieldSet(fieldPath(subresource === "status" ? "spec" : "status")));
}

function replayApply(
  context: Context,
  step: Step,
  answer: Answer,
  live: JsonObject | undefined,
  force: boolean,
): Replayed {
  const applied = step.body ?? {};
  if (answer.status !== undefined && answer.status >= 400) {
    const error = thrown(() => applyConfiguration({ ...context, live, applied, force }));
    const want = "code" in (answer.body ?? {}) ? answer.body : picked(answer.body ?? {});
    expect(toStatus(error)).toMatchObject(want as object);
    return { live, checked: true };
  }
  const { object, managedFields } = applyConfiguration({ ...context, live, applied, force });
  // What an applier emptied is null, which decoding leaves out.
  const known = Object.entries(object).filter(([, value]) => value !== null);
  return { live: settled(Object.fromEntries(known), managedFields, answer), checked: true };
}

/** For everything but apply, the answer is the object to be stored; the test checks its owners. */
function replayUpdate(context: Context, step: Step, answer: Answer, live: JsonObject | undefined): Replayed {
  const body = answer.body;
  const updated =
    body === undefined || !("metadata" in body) ? (step.body ?? {}) : withEntries(body, sentEntries(step));
  const managedFields = updateManagedFields({ ...context, live, updated });
  return { live: settled(updated, managedFields, answer), checked: true };
}

function sentEntries({ body }: Step): ManagedFields | undefined {
  if (Array.isArray(body))
    return (body as readonly JsonObject[]).find(({ path }) => path === "/metadata/managedFields")?.value as never;
  return managedFieldsOf(body);
}

function replayScale(context: Context, step: Step, live: JsonObject | undefined): Replayed {
  const { replicas = 0 } = (step.body?.spec ?? {}) as JsonObject;
  const paths = new Map([[context.apiVersion, fieldPath("spec.replicas")]]);
  const scale = (entries: ManagedFields, count: Json): JsonObject => ({
    metadata: { uid: "x", managedFields: entries as unknown as Json },
    spec: { replicas: count },
  });
  const entries = scaleManagedFields(managedFieldsOf(live), paths);
  const managedFields = updateManagedFields({
    ...context,
    apiVersion: "autoscaling/v1",
    schema: typeSchema("io.k8s.api.autoscaling.v1.Scale"),
    live: scale(entries, 0),
    updated: scale(entries, replicas),
  });
  const parent = parentManagedFields(managedFieldsOf(live), managedFields, paths, context.apiVersion);
  const spec = { ...(live?.spec as JsonObject), replicas };
  return { live: withEntries({ ...live, spec }, parent), checked: false };
}

/** Compares with the answer, and returns the object with what the server added to it. */
function settled(object: JsonObject, managedFields: ManagedFields, { body = {} }: Answer): JsonObject {
  const answered = "metadata" in body ? body : unpicked(body, object);
  const want =
    "metadata" in body
      ? managedFieldsOf(body)
      : (body["/metadata/managedFields"] as unknown as ManagedFields | undefined);
  if ("metadata" in body || want !== undefined) expect(comparable(managedFields)).toEqual(comparable(want ?? []));
  const known = withEntries(answered, undefined);
  if (!("stringData" in object)) expect(known).toMatchObject(withoutServerFields(object));
  return withEntries(known, managedFields.length === 0 ? undefined : managedFields);
}

/** An answer of which only some parts were recorded, by their pointers. */
function unpicked(body: JsonObject, object: JsonObject): JsonObject {
  const spec = body["/spec"];
  return spec === undefined ? object : { ...object, spec };
}

function picked(body: JsonObject): JsonObject {
  const entries = Object.entries(body).filter(([, value]) => value !== "<absent>");
  return Object.fromEntries(entries.map(([pointer, value]) => [pointer.slice(1), value]));
}

function withEntries(object: JsonObject, managedFields: ManagedFields | undefined): JsonObject {
  const { managedFields: _, ...metadata } = isObject(object.metadata ?? null) ? (object.metadata as JsonObject) : {};
  return {
    ...object,
    metadata: { ...metadata, ...(managedFields === undefined ? {} : { managedFields: managedFields as never }) },
  };
}

function withoutServerFields(object: JsonObject): JsonObject {
  const { managedFields: _, resourceVersion: __, generation: ___, ...metadata } = (object.metadata ?? {}) as JsonObject;
  const { data, ...rest } = object;
  return { ...rest, metadata, ...(data === undefined || isEmptyMap(data) ? {} : { data }) };
}

function isEmptyMap(value: Json): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}

function comparable(entries: ManagedFields): unknown[] {
  const byName = [...entries].sort((a, b) =>
    `${a.manager} ${a.operation}`.localeCompare(`${b.manager} ${b.operation}`),
  );
  return byName.map(({ time: _, ...entry }) => entry);
}

function thrown(run: () => unknown): StatusError {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}
