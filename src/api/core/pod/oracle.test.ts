/** The answers of a real server to requests that write pods: refused or not, in which words, and what is stored. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../machinery/json/json.ts";
import { recordings } from "../../testing/recordings.ts";
import { podWarnings } from "./spec/warnings.ts";
import { PodReplay } from "./testing/replay.ts";

const oracle = recordings("oracle/");
const names =
  /^(pod-|ephemeral-containers|kind-pods-write|binding-gated|deprecation-warnings|meta-name-pod|managedfields-lists)/;

interface Step {
  readonly method: string;
  readonly path: string;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
}
interface Golden {
  readonly status?: number;
  readonly headers?: { readonly warning?: readonly string[] };
  readonly body?: JsonObject;
}

describe.skipIf(!existsSync(oracle))("answers of a real server", () => {
  const files = existsSync(oracle) ? readdirSync(new URL("cases/", oracle)).filter((file) => names.test(file)) : [];
  it.each(files)("%s", (file) => {
    const steps = (read("cases", file).steps ?? []) as unknown as readonly Step[];
    const goldens = (read("golden", file).steps ?? []) as unknown as readonly Golden[];
    const server = new PodReplay();
    for (const [i, step] of steps.entries()) {
      const contentType = step.headers?.["Content-Type"] ?? "";
      const answer = server.send({
        method: step.method,
        path: step.path,
        contentType,
        ...(step.body === undefined ? {} : { body: step.body }),
      });
      const golden = goldens[i];
      if (answer === undefined || golden?.status === undefined || golden.status === 403) continue;
      const where = `${i}: ${step.method} ${step.path}`;
      expect([where, answer.message, answer.status]).toEqual([
        where,
        golden.body?.message as string | undefined,
        golden.status,
      ]);
      if (golden.status === 422) expect([where, answer.causes]).toEqual([where, causesOf(golden)]);
      const recorded = (golden.headers?.warning ?? []).map((warning) =>
        warning.replace(/^299 - "(.*)"$/, "$1").replaceAll('\\"', '"'),
      );
      if (step.method === "POST" && golden.status === 201 && answer.pod !== undefined)
        expect([where, podWarnings(answer.pod)]).toEqual([where, recorded]);
      for (const [pointer, want] of partsOf(golden.body)) {
        if (golden.status < 300)
          expect([where, pointer, at(answer.pod as unknown as Json, pointer)]).toEqual([where, pointer, want]);
      }
    }
  });
});

function read(folder: string, file: string): JsonObject {
  const text = readFileSync(new URL(`${folder}/${file}`, oracle), "utf8")
    .replaceAll("kube-api-access-<rand>", "kube-api-access-rand")
    .replaceAll("{ns}", "ns");
  const parsed = JSON.parse(text) as JsonObject | readonly Json[];
  return Array.isArray(parsed) ? { steps: parsed } : (parsed as JsonObject);
}

function causesOf(golden: Golden): readonly string[] {
  const details = golden.body?.details as JsonObject | undefined;
  const causes = (details?.causes ?? []) as readonly JsonObject[];
  return causes.map((cause) => `${cause.field} ${cause.reason} ${cause.message}`);
}

/** Whole objects by spec, status and generation; picked parts as they are. */
function partsOf(body: JsonObject | undefined): readonly (readonly [string, Json])[] {
  if (body === undefined || body.kind === "Status") return [];
  if (body.kind === "Pod")
    return ["/spec", "/status", "/metadata/generation"].map((pointer) => [pointer, at(body, pointer)] as const);
  return Object.entries(body).filter(([pointer]) => /^\/(spec|status|metadata\/generation)/.test(pointer));
}

function at(value: Json, pointer: string): Json {
  const found = pointer
    .split("/")
    .slice(1)
    .reduce<Json>((inner, key) => (inner as JsonObject | null)?.[key] ?? null, value);
  return JSON.parse(JSON.stringify(found).replaceAll("1970-01-01T00:00:00Z", "<time>")) as Json;
}
