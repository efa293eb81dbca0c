/**
 * The recorded strategic merge patches, with the real schemas: what a patch gives must contain what the server
 * answered, defaults aside.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { typeSchema } from "../../facts/index.ts";
import { recordings } from "../../testing/recordings.ts";
import { isObject, type Json, type JsonObject } from "../json/json.ts";
import { applyStrategicMergePatch } from "./strategic-merge-patch.ts";

const oracle = recordings("oracle/");
const schemas: Readonly<Record<string, string>> = {
  Deployment: "io.k8s.api.apps.v1.Deployment",
  Service: "io.k8s.api.core.v1.Service",
  ConfigMap: "io.k8s.api.core.v1.ConfigMap",
};

interface Step {
  readonly method: string;
  readonly path: string;
  readonly body?: Json;
}

interface Answer {
  readonly status?: number;
  readonly body?: JsonObject;
}

describe.skipIf(!existsSync(oracle))("strategic merge patches of a real server", () => {
  const names = existsSync(oracle)
    ? readdirSync(new URL("cases/", oracle)).filter((name) => name.startsWith("smp-"))
    : [];

  it.each(names)("%s", (name) => {
    const { steps } = read<{ steps: Step[] }>(`cases/${name}`);
    const { steps: answers } = read<{ steps: Answer[] }>(`golden/${name}`);
    let object: JsonObject = {};
    let compared = 0;
    for (const [i, { method, path, body }] of steps.entries()) {
      const answer = answers[i];
      if (method === "POST" && isObject(body)) object = body;
      if (method !== "PATCH" || !isObject(body) || (answer?.status ?? 500) !== 200) continue;
      const patched = withoutEmptyLists(
        applyStrategicMergePatch(object, body, typeSchema(schemas[String(object.kind)] ?? "")),
      ) as JsonObject;
      for (const [pointer, want] of Object.entries(wanted(answer?.body ?? {}))) {
        compared++;
        expect([pointer, at(patched, pointer)]).toEqual([pointer, like(at(patched, pointer), want)]);
      }
      if (!path.includes("dryRun")) object = patched;
    }
    if (name !== "smp-bad.json") expect(compared).toBeGreaterThan(0);
  });
});

function read<T>(path: string): T {
  return JSON.parse(readFileSync(new URL(path, oracle), "utf8")) as T;
}

/** The parts of the answer that a patch alone decides. */
function wanted(body: JsonObject): JsonObject {
  if (isObject(body.metadata)) return { "/metadata/finalizers": body.metadata.finalizers ?? null };
  return Object.fromEntries(Object.entries(body).filter(([pointer]) => /^.spec.(template.spec|ports)$/.test(pointer)));
}

function at(value: Json, pointer: string): Json {
  return pointer
    .split("/")
    .slice(1)
    .reduce<Json>((inner, key) => (isObject(inner) ? (inner[key] ?? null) : null), value);
}

/** As an object is written, which has no empty lists. */
function withoutEmptyLists(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutEmptyLists);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, child]) => !Array.isArray(child) || child.length > 0);
  return Object.fromEntries(entries.map(([key, child]) => [key, withoutEmptyLists(child)]));
}

/**
 * The answer without what defaulting added: what the patched object does not have is left out, lists must agree in
 * length and order.
 */
function like(patched: Json, answer: Json): Json {
  if (Array.isArray(answer) && Array.isArray(patched)) return answer.map((item, i) => like(patched[i] ?? null, item));
  if (!isObject(answer) || !isObject(patched)) return answer;
  return Object.fromEntries(
    Object.entries(answer).flatMap(([key, value]) =>
      key in patched ? [[key, like(patched[key] ?? null, value)]] : [],
    ),
  );
}
