/**
 * Recorded answers of a real server, as far as pure functions can give them: what objects become, in what words they
 * are refused, how they are listed. What a server must know besides is left to the server's own tests.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { builtIn } from "./all-kinds.ts";
import { invalidStatus } from "./machinery/errors/field-error.ts";
import { isObject, type Json, type JsonObject } from "./machinery/json/json.ts";
import { apiVersionOf, type Kind } from "./machinery/kind.ts";
import { applyMergePatch } from "./machinery/patch/merge-patch.ts";
import { applyStrategicMergePatch } from "./machinery/patch/strategic-merge-patch.ts";
import type { KubeObject } from "./machinery/schema/object.ts";
import { create, type Outcome, update, updatePart, updateStatus } from "./testing/pure-server.ts";
import { recordings } from "./testing/recordings.ts";

const shared = recordings();
const present = existsSync(shared);

/** Pods and what makes them have tests of their own; so has metadata that all kinds share. */
const foreign = [
  "authentication.k8s.io",
  "authorization.k8s.io",
  "apps",
  "batch",
  "autoscaling",
  "policy",
  "scheduling",
  "coordination",
  "node.k8s.io",
];
const foreignKinds = ["Pod", "PodTemplate", "ReplicationController", "CustomResourceDefinition"];
const foreignCases = /^meta-managed|^crd-|^apply-/;
/** Address ranges, admission plugins, expressions, Go's own way to show a difference. */
const beyond =
  /failed to allocate IP|pod-security|compilation failed|must evaluate to|<uid>|must be specified for an update|\n/;

interface Step {
  readonly method?: string;
  readonly path?: string;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
  /** Parts of the answer that were not recorded. */
  readonly ignore?: readonly string[];
  readonly pick?: readonly string[];
}

interface Answer {
  readonly status?: number;
  readonly body?: JsonObject & { readonly message?: string };
}

interface Target {
  readonly kind: Kind;
  readonly key: string;
  readonly part: string | undefined;
}

/** /apis/GROUP/VERSION/namespaces/NS/PLURAL/NAME/PART */
function targetOf(path: string): Target | undefined {
  const parts = (path.split("?")[0] ?? "").split("/").slice(1);
  const core = parts[0] === "api";
  const apiVersion = core ? parts[1] : `${parts[1]}/${parts[2]}`;
  const rest = parts.slice(core ? 2 : 3);
  const [plural, name, part] =
    rest[0] === "namespaces" && rest.length > 2 && rest[2] !== "finalize" && rest[2] !== "status"
      ? rest.slice(2)
      : rest;
  const kind = builtIn.find((one) => apiVersionOf(one) === apiVersion && one.names.plural === plural);
  if (kind === undefined || foreign.includes(kind.group) || foreignKinds.includes(kind.kind)) return undefined;
  return { kind, key: `${kind.group}/${kind.kind}/${name ?? ""}`, part };
}

function run(step: Step, target: Target, objects: ReadonlyMap<string, KubeObject>): Outcome | undefined {
  const { kind, key, part } = target;
  const body = step.body ?? null;
  if (!isObject(body)) return undefined;
  if (step.method === "POST") return part === undefined ? create(kind, body) : undefined;
  const old = objects.get(key);
  if (old === undefined) return undefined;
  const next = step.method === "PUT" ? body : patched(kind, old, body, step.headers?.["Content-Type"]);
  if (next === undefined) return undefined;
  if (part === "status") return updateStatus(kind, next, old);
  return part === undefined ? update(kind, next, old) : updatePart(kind, part, next, old);
}

function patched(kind: Kind, old: KubeObject, patch: JsonObject, type: string | undefined): JsonObject | undefined {
  const before = old as unknown as JsonObject;
  if (type === "application/merge-patch+json") return applyMergePatch(before, patch) as JsonObject;
  return type === "application/strategic-merge-patch+json"
    ? applyStrategicMergePatch(before, patch, kind.schema)
    : undefined;
}

describe.skipIf(!present)("answers recorded from a real server (../shared/oracle)", () => {
  const areas = ["validation-other", "validation-meta", "kinds", "subresources"];
  for (const file of present ? readdirSync(new URL("oracle/cases/", shared)).sort() : []) {
    const { name, area, steps } = read<{ name: string; area: string; steps: readonly Step[] }>(`oracle/cases/${file}`);
    if (!areas.includes(area) || foreignCases.test(name)) continue;
    const answers = read<{ steps: readonly Answer[] }>(`oracle/golden/${file}`).steps;
    if (!steps.some(({ path }) => targetOf(path ?? "") !== undefined)) continue;
    it(name, () => {
      const objects = new Map<string, KubeObject>();
      for (const [i, step] of steps.entries()) {
        const target = targetOf(step.path ?? "");
        const { status, body } = answers[i] ?? {};
        const message = body?.message ?? "";
        if (target === undefined || beyond.test(message) || (status !== undefined && status >= 400 && status !== 422))
          continue;
        const outcome = run(step, target, objects);
        if (outcome === undefined) continue;
        const { object, errors } = outcome;
        const shown =
          errors.length === 0
            ? ""
            : invalidStatus(target.kind.storedAs ?? target.kind, object.metadata.name ?? "", errors).message;
        if (!message.includes("<rand>")) expect(`${i}: ${shown}`).toBe(`${i}: ${status === 422 ? message : ""}`);
        if (status === 422) continue;
        objects.set(`${target.kind.group}/${target.kind.kind}/${object.metadata.name ?? ""}`, object);
        if (body?.kind === target.kind.kind && step.ignore === undefined && step.pick === undefined)
          expect(content(object)).toEqual(content(body));
      }
    });
  }
});

/** All but the metadata; what a server allocates or stamps is only there. */
function content(object: object): Json {
  const { metadata: _, ...rest } = JSON.parse(JSON.stringify(object)) as JsonObject;
  return normalized(rest);
}

function normalized(value: Json, key = ""): Json {
  // What is stored as protobuf comes back as null if it is empty.
  if (value === null) return [];
  if (Array.isArray(value)) return value.map((item) => normalized(item as Json, key));
  if (isObject(value)) {
    const entries = Object.entries(value).filter(
      ([name]) => name !== "nodePort" && !/^(groups|extra|uid|username)$/.test(name),
    );
    return Object.fromEntries(entries.map(([name, item]) => [name, normalized(item, name)]));
  }
  if (/^clusterIPs?$/.test(key) && value !== "None") return "<ip>";
  if (key === "healthCheckNodePort" || /Time(stamp)?$/.test(key)) return `<${key}>`;
  return value;
}

interface Row {
  readonly cells: readonly Json[];
  readonly object: KubeObject;
}

describe.skipIf(!present)("tables recorded from a real server (../shared/reference)", () => {
  for (const file of present ? readdirSync(new URL("reference/tables/", shared)).sort() : []) {
    const [resource = "", version = "v1"] = file.replace(".json", "").split("_");
    const [plural = "", ...group] = resource.split(".");
    const kind = builtIn.find(
      (one) => one.names.plural === plural && one.group === group.join(".") && one.version === version,
    );
    if (kind?.columns === undefined || foreign.includes(kind.group) || foreignKinds.includes(kind.kind)) continue;
    it(file, () => {
      const { columnDefinitions, rows } = read<{ columnDefinitions: readonly JsonObject[]; rows: readonly Row[] }>(
        `reference/tables/${file}`,
      );
      const columns = [...(kind.columns ?? [])];
      if (!columns.some(({ name }) => name === "Name")) {
        columns.unshift({ name: "Name", type: "string", format: "name", cell: ({ metadata }) => metadata.name ?? "" });
      }
      const shape = columns.map(({ name, type, format = "", priority = 0 }) => ({ name, type, format, priority }));
      expect(shape).toEqual(
        columnDefinitions.map(({ name, type, format, priority }) => ({ name, type, format, priority })),
      );
      for (const { cells, object } of rows) {
        const shown = columns.map((column) => column.cell(object, Date.parse("2026-11-15T08:00:00Z")));
        expect(shown.map(ageless)).toEqual(cells.slice(0, columns.length).map(ageless));
      }
    });
  }
});

/** Ages depend on when the table was made. */
function ageless(cell: Json): Json {
  return typeof cell === "string" ? cell.replace(/^(?:\d+[smhdy])+$/, "<age>") : cell;
}

/** The namespace of a case is written {ns}. */
function read<T>(file: string): T {
  return JSON.parse(readFileSync(new URL(file, shared), "utf8").replaceAll("{ns}", "ns")) as T;
}
