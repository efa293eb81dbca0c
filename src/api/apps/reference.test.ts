/**
 * Compares workloads, autoscalers, budgets, leases and classes with recordings of a real server: every table row, and
 * every answer of the oracle's cases that a kind's rules decide.
 */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { builtIn } from "../all-kinds.ts";
import { autoscalingKinds } from "../autoscaling/index.ts";
import { batchKinds } from "../batch/index.ts";
import { coordinationKinds } from "../coordination/index.ts";
import { ReplicationController } from "../core/workload/replication-controller.ts";
import { ageColumn } from "../definition/columns.ts";
import { isObject, type Json, type JsonObject } from "../machinery/json/json.ts";
import { apiVersionOf, type Kind } from "../machinery/kind.ts";
import { applyJsonPatch, decodeJsonPatch } from "../machinery/patch/json-patch.ts";
import { applyMergePatch } from "../machinery/patch/merge-patch.ts";
import { applyStrategicMergePatch } from "../machinery/patch/strategic-merge-patch.ts";
import { DecodeError } from "../machinery/schema/decode.ts";
import type { KubeObject } from "../machinery/schema/object.ts";
import { nodeKinds } from "../node/index.ts";
import { policyKinds } from "../policy/index.ts";
import { schedulingKinds } from "../scheduling/index.ts";
import { recordings } from "../testing/recordings.ts";
import { appsKinds } from "./index.ts";
import { create, decided, type Outcome, testNamespace, testUid, update } from "./testing/run-rules.ts";

const shared = fileURLToPath(recordings());
const here = existsSync(shared);

const kinds: readonly Kind[] = [
  ...appsKinds,
  ReplicationController,
  ...batchKinds,
  ...autoscalingKinds,
  ...policyKinds,
  ...schedulingKinds,
  ...coordinationKinds,
  ...nodeKinds,
];

function read(path: string): JsonObject {
  // The recordings leave the namespace open.
  return JSON.parse(readFileSync(`${shared}${path}`, "utf8").replaceAll("{ns}", testNamespace)) as JsonObject;
}

describe.skipIf(!here)("tables of a real server (needs ../shared)", () => {
  const recorded = new Set(builtIn.map(apiVersionOf));
  for (const kind of kinds.filter((one) => recorded.has(apiVersionOf(one)))) {
    const version = kind.group === "" ? "" : `.${kind.group}_${kind.version}`;
    it(`${apiVersionOf(kind)} ${kind.names.plural}`, () => {
      const table = read(`reference/tables/${kind.names.plural}${version}.json`);
      const columns = kind.columns ?? [];
      const described = columns.map(({ name, type, format = "", priority = 0 }) => ({ name, type, format, priority }));
      expect(described).toEqual((table.columnDefinitions as Json[]).slice(1));
      for (const row of table.rows as JsonObject[]) {
        // The real server prints what is stored: of an older view, the order of metrics is lost.
        if (kind.storedAs !== undefined && JSON.stringify(row.cells).includes("more...")) continue;
        const object = row.object as unknown as KubeObject;
        const now = Date.parse(object.metadata.creationTimestamp ?? "");
        const cells = columns.map((column) => (isRelative(column.name) ? null : column.cell(object, now)));
        const wanted = (row.cells as Json[])
          .slice(1)
          .map((cell, i) => (isRelative(columns[i]?.name ?? "") ? null : cell));
        expect(cells).toEqual(wanted);
      }
    });
  }
});

/** Cells that tell how long ago something was. */
function isRelative(column: string): boolean {
  return [ageColumn.name, "Duration", "Last Schedule"].includes(column);
}

const cases = [
  "daemonset-invalid",
  "deployment-defaults",
  "deployment-immutable",
  "deployment-invalid-numbers",
  "deployment-invalid-selector",
  "deployment-invalid-template",
  "generation",
  "hpa-invalid",
  "job-immutable",
  "lease-invalid",
  "pdb-invalid",
  "priorityclass-immutable",
  "priorityclass-invalid",
  "replicaset-invalid",
  "statefulset-defaults",
  "statefulset-immutable",
  "statefulset-invalid",
  ...["controllerrevisions", "daemonsets", "deployments", "hpa-v1", "hpa-v2", "jobs", "leases"].map(
    (name) => `kind-${name}-write`,
  ),
  ...["poddisruptionbudgets", "priorityclasses", "replicasets", "replicationcontrollers", "statefulsets"].map(
    (name) => `kind-${name}-write`,
  ),
  ...["cronjobs", "daemonsets", "hpa-v1", "hpa-v2", "jobs", "leases", "priorityclasses", "replicasets"].map(
    (name) => `kind-${name}-create`,
  ),
  ...["replicationcontrollers", "runtimeclasses"].map((name) => `kind-${name}-create`),
];

/** Decoding drops the empty list that this step is about: what is left is a list that was never given. */
const unreachable = new Set(["hpa-invalid 8"]);

describe.skipIf(!here)("answers of a real server (needs ../shared)", () => {
  for (const name of cases) {
    it(name, () => {
      const steps = read(`oracle/cases/${name}.json`).steps as JsonObject[];
      const answers = read(`oracle/golden/${name}.json`).steps as JsonObject[];
      const stored = new Map<string, JsonObject>();
      for (const [i, step] of steps.entries()) {
        const outcome = run(step, stored);
        const answer = answers[i];
        if (outcome === undefined || unreachable.has(`${name} ${i}`) || !isObject(answer?.body ?? null)) continue;
        compare(outcome, answer as JsonObject, step, `${name} step ${i}`);
      }
    });
  }
});

/** Undefined where a step is not a matter of a kind's rules. */
function run(step: JsonObject, stored: Map<string, JsonObject>): Outcome | undefined {
  const [, , plural = "", objectName, subresource] = partsOf(step);
  const kind = kindOf(step, plural);
  const body = step.body;
  if (kind === undefined || subresource !== undefined || body === undefined || typeof body === "string")
    return undefined;
  const key = `${plural}/${objectName ?? nameOf(body)}`;
  const outcome = decodable(() =>
    step.method === "POST" ? create(kind, body) : changedBy(kind, step, stored.get(key)),
  );
  if (outcome?.object !== undefined && !String(step.path).includes("dryRun")) stored.set(key, outcome.object);
  return outcome;
}

/** Values of wrong types never come as far as a kind's rules. */
function decodable(outcome: () => Outcome | undefined): Outcome | undefined {
  try {
    return outcome();
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

function changedBy(kind: Kind, step: JsonObject, old: JsonObject | undefined): Outcome | undefined {
  const body = step.body ?? null;
  if (old === undefined) return undefined;
  if (step.method === "PUT") {
    const versioned = isObject(body) && (body.metadata as JsonObject).resourceVersion !== undefined;
    return kind.update?.allowUnconditional === false && !versioned ? undefined : update(kind, old, body);
  }
  const type = (step.headers as JsonObject | undefined)?.["Content-Type"];
  if (type === "application/merge-patch+json") return update(kind, old, applyMergePatch(old, body));
  if (type === "application/json-patch+json") return update(kind, old, applyJsonPatch(old, decodeJsonPatch(body)));
  return update(kind, old, applyStrategicMergePatch(old, body as JsonObject, kind.schema));
}

function compare(outcome: Outcome, answer: JsonObject, step: JsonObject, what: string): void {
  const body = answer.body as JsonObject;
  const status = answer.status as number;
  const ignored = (step.ignore as string[] | undefined) ?? [];
  if (status === 422 && !isOurs(body)) return;
  if (status === 422) {
    const drop = (object: JsonObject): object => {
      const causes = ((object.details as JsonObject).causes as JsonObject[]).map(({ message, ...cause }) =>
        ignored.length > 0 ? cause : { ...cause, message },
      );
      return ignored.length > 0 ? causes : { message: object.message ?? null, causes };
    };
    expect(outcome.refused, `${what}: must be refused`).toBeDefined();
    expect(drop(outcome.refused ?? {}), what).toEqual(drop(body));
    return;
  }
  if (status !== 200 && status !== 201) return;
  expect(outcome.refused, what).toBeUndefined();
  if (body.kind === undefined || step.pick !== undefined) return;
  const withoutIgnored = (object: Json): Json => {
    const kept = structuredClone(object) as { metadata: { annotations?: Json } };
    if (ignored.includes("/metadata/annotations")) kept.metadata.annotations = null;
    return kept as unknown as Json;
  };
  expect(withoutIgnored(decided(normalised(outcome.object ?? null))), what).toEqual(withoutIgnored(decided(body)));
}

/** A 422 of the storage itself names the resource, not the kind. */
function isOurs(body: JsonObject): boolean {
  return !String(body.message).includes("metadata.resourceVersion");
}

/** The recordings name uids after their objects. */
function normalised(object: Json): Json {
  return JSON.parse(JSON.stringify(object).replaceAll(testUid, `<uid:${nameOf(object)}>`)) as Json;
}

function nameOf(object: Json): string {
  return isObject(object) ? String((object.metadata as JsonObject | undefined)?.name) : "";
}

/** `apps/v1`, namespace, plural, name, subresource. */
function partsOf(step: JsonObject): readonly (string | undefined)[] {
  const path = String(step.path).split("?")[0] ?? "";
  const match =
    /^\/(?:api|apis)\/((?:[^/]+\/)?v\d+)(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(path);
  return match === null ? [] : match.slice(1);
}

function kindOf(step: JsonObject, plural: string): Kind | undefined {
  const [apiVersion] = partsOf(step);
  return kinds.find((kind) => kind.names.plural === plural && apiVersionOf(kind) === apiVersion);
}
