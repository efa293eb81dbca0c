/** Recorded answers of a real server about custom kinds, as far as pure functions can give them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type FieldError, fieldErrorBody, invalidStatus } from "../machinery/errors/field-error.ts";
import { isObject, type Json, type JsonObject } from "../machinery/json/json.ts";
import { apiVersionOf, type Kind } from "../machinery/kind.ts";
import { applyJsonPatch, decodeJsonPatch } from "../machinery/patch/json-patch.ts";
import { applyMergePatch } from "../machinery/patch/merge-patch.ts";
import { decode } from "../machinery/schema/decode.ts";
import type { KubeObject } from "../machinery/schema/object.ts";
import { create, type Outcome, update, updateStatus } from "../testing/pure-server.ts";
import { recordings } from "../testing/recordings.ts";
import type { CustomResourceDefinition as Definition } from "../types/apiextensions-v1.ts";
import { acceptNames, CustomResourceDefinition, compileCustomKind } from "./index.ts";

const shared = recordings("oracle/");
const present = existsSync(shared);

interface Step {
  readonly method?: string;
  readonly path?: string;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Cause {
  readonly field: string;
  readonly message: string;
}

interface Answer {
  readonly status?: number;
  readonly headers?: { readonly warning?: readonly string[] };
  readonly body?: JsonObject & {
    readonly message?: string;
    readonly details?: { readonly causes?: readonly Cause[] };
  };
}

/** What the definitions of a case make: its objects by plural and name. */
class World {
  readonly definitions = new Map<string, Definition>();
  readonly objects = new Map<string, KubeObject>();

  kindAt(plural: string): Kind | undefined {
    if (plural === "customresourcedefinitions") return CustomResourceDefinition;
    const definition = [...this.definitions.values()].find(({ spec }) => spec.names.plural === plural);
    return definition && compileCustomKind(definition, "v1");
  }

  keep(plural: string, object: KubeObject): void {
    const { name = "" } = object.metadata;
    this.objects.set(`${plural}/${name}`, object);
    if (plural === "customresourcedefinitions") this.define(name, object as Definition);
  }

  /** As a server does it at once: names accepted, established. */
  define(name: string, definition: Definition): void {
    const { names } = acceptNames(definition, this.definitions.values());
    const conditions = [{ type: "Established", status: "True" }];
    const established = { ...definition, status: { ...definition.status, acceptedNames: names, conditions } };
    this.definitions.set(name, established);
    this.objects.set(`customresourcedefinitions/${name}`, established);
  }
}

interface Target {
  readonly plural: string;
  readonly name: string;
  readonly part: string;
}

/** /apis/GROUP/VERSION[/namespaces/NS]/PLURAL/NAME/PART */
function targetOf(path: string): Target {
  const rest = (path.split("?")[0] ?? "").split("/").slice(4);
  const [plural = "", name = "", part = ""] = rest[0] === "namespaces" ? rest.slice(2) : rest;
  return { plural, name, part };
}

function run(step: Step, { plural, name, part }: Target, kind: Kind, world: World): Outcome | undefined {
  const body = step.body ?? null;
  if (step.method === "POST") return isObject(body) && isTyped(body, kind) ? create(kind, body) : undefined;
  const old = world.objects.get(`${plural}/${name}`);
  if (old === undefined || (step.method !== "PUT" && step.method !== "PATCH")) return undefined;
  const next =
    step.method === "PUT" ? body : patched(old as unknown as JsonObject, body, step.headers?.["Content-Type"]);
  if (!isObject(next) || part === "scale") return undefined;
  return part === "status" ? updateStatus(kind, next, old) : update(kind, next, old);
}

function isTyped(body: JsonObject, kind: Kind): boolean {
  return body.apiVersion === apiVersionOf(kind) && body.kind === kind.kind;
}

function patched(old: JsonObject, patch: Json, type: string | undefined): Json {
  if (type === "application/merge-patch+json") return applyMergePatch(old, patch);
  return type === "application/json-patch+json" ? applyJsonPatch(old, decodeJsonPatch(patch)) : null;
}

describe.skipIf(!present)("answers recorded from a real server (../shared/oracle)", () => {
  const files = present ? readdirSync(new URL("cases/", shared)).filter((file) => file.startsWith("crd-")) : [];
  for (const file of files.sort()) {
    it(file, () => {
      const world = new World();
      const steps = read<{ steps: readonly Step[] }>(`cases/${file}`).steps;
      const answers = read<{ steps: readonly Answer[] }>(`golden/${file}`).steps;
      let compared = 0;
      for (const [i, step] of steps.entries()) {
        const { status, body, headers } = answers[i] ?? {};
        const target = targetOf(step.path ?? "");
        const kind = world.kindAt(target.plural);
        const outcome = kind && run(step, target, kind, world);
        if (kind === undefined || outcome === undefined || (status !== undefined && status >= 400 && status !== 422))
          continue;
        compared++;
        const { object, errors } = outcome;
        if (status === 422 && body?.message === undefined) {
          expect([i, errors.length]).not.toEqual([i, 0]);
          continue;
        }
        expect([i, ...reported(kind, object, errors, body)]).toEqual([i, ...recorded(status, body)]);
        if (status === 422) continue;
        world.keep(target.plural, object);
        if (body?.kind === kind.kind) expect(content(object)).toEqual(content(body));
        if (headers?.warning !== undefined && isObject(step.body ?? null))
          expect([i, unknownFields(kind, step.body ?? null)]).toEqual([i, unknownIn(headers.warning)]);
      }
      expect(compared).toBeGreaterThan(0);
    });
  }
});

/** The message where the order of faults is known, else the causes in any order. */
function reported(
  kind: Kind,
  object: KubeObject,
  errors: readonly FieldError[],
  body: Answer["body"],
): readonly string[] {
  if (errors.length === 0) return [];
  if (body?.message !== undefined && !body.message.includes("<the causes in any order>"))
    return [invalidStatus(kind, object.metadata.name ?? "", errors).message];
  return errors.map((error) => `${error.field}: ${fieldErrorBody(error)}`).sort();
}

function recorded(status: number | undefined, body: Answer["body"]): readonly string[] {
  if (status !== 422) return [];
  const { message = "", details } = body ?? {};
  if (message !== "" && !message.includes("<the causes in any order>")) return [message];
  return (details?.causes ?? []).map((cause) => `${cause.field}: ${cause.message}`).sort();
}

function unknownFields(kind: Kind, body: Json): readonly string[] {
  return decode(kind.schema, body).unknown;
}

function unknownIn(warnings: readonly string[]): readonly string[] {
  return warnings.flatMap((text) => /unknown field \\"(.*)\\"/.exec(text)?.[1] ?? []);
}

/** All but what a server stamps. */
function content(object: object): Json {
  const { metadata, status, ...rest } = JSON.parse(JSON.stringify(object)) as JsonObject;
  const { labels, annotations } = metadata as JsonObject;
  return normalized({
    ...rest,
    ...(isObject(status ?? null) && { status: status ?? null }),
    labels: labels ?? {},
    annotations: annotations ?? {},
  });
}

function normalized(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => normalized(item as Json));
  if (!isObject(value)) return value;
  // What is stored as protobuf comes back as null if it is empty.
  const entries = Object.entries(value).map(([name, part]) => [name, name === "conditions" ? (part ?? []) : part]);
  return Object.fromEntries(entries.map(([name, part]) => [name, normalized(part as Json)]));
}

/** The namespace of a case is written {ns}. */
function read<T>(file: string): T {
  return JSON.parse(readFileSync(new URL(file, shared), "utf8").replaceAll("{ns}", "ns")) as T;
}
