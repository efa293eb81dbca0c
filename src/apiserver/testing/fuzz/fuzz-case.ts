/**
 * One random story of one object: it is created, then updated, patched and applied, each time with random edits.
 *
 * 1. Everything follows from the numbers of the plan. A shorter plan is a part of the story, so that a failure can be
 *    shrunk; `story` prints it.
 * 2. The server is in memory, fresh for each case, with the admission plugins that need no network.
 */
import {
  decode,
  decodeProtobuf,
  encodeProtobuf,
  equalJson,
  type Json,
  type JsonObject,
  type Kind,
  type ObjectSchema,
  writeJson,
  writeYaml,
} from "#api";
import { createLogger, type Random, seededRandom, VirtualClock } from "#base";
import { admitting } from "../../admission/testing/index.ts";
import type { TestAnswer } from "../exchange.ts";
import { type TestServer, testServer } from "../test-server.ts";
import { mergePatchOf, operationOf, randomEdit, withEdit } from "./random-edit.ts";

/** A kind, and where its objects are. */
export interface FuzzedKind {
  readonly kind: Pick<Kind, "kind" | "verbs" | "subresources">;
  readonly apiVersion: string;
  readonly collection: string;
  readonly schema: ObjectSchema;
  /** A valid object. */
  readonly sample: JsonObject;
  /** What the server serves. Default: what a default server serves. */
  readonly served?: readonly Kind[] | undefined;
  /** What has to be created first, by its collection. */
  readonly before?: readonly (readonly [string, JsonObject])[];
}

export interface FuzzPlan {
  /** One edit of the sample for each number. */
  readonly edits: readonly number[];
  /** One write for each number. */
  readonly writes: readonly number[];
}

export class FuzzFailure extends Error {
  override readonly name = "FuzzFailure";
}

const NAMESPACE: NonNullable<FuzzedKind["before"]> = [
  ["/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } }],
];
const NETWORK = ["MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"];

/** Whether the object could be created. Throws a FuzzFailure. */
export async function runFuzzCase(fuzzed: FuzzedKind, plan: FuzzPlan): Promise<boolean> {
  const logged: string[] = [];
  const clock = new VirtualClock();
  const log = createLogger({ write: (line) => logged.push(line), format: "pretty", level: "error", clock });
  const server = await testServer({ clock, log, kinds: fuzzed.served, admission: admitting({ disable: NETWORK }) });
  try {
    return await new Story(server, fuzzed, logged).tell(plan);
  } finally {
    await server.close();
  }
}

/** Faults of clients that Kubernetes, too, answers with 500, in its words: of strategic merge patches, most of them. */
const KUBERNETES_FAILS = new RegExp(
  [
    "^strconv.ParseUint: parsing ",
    "^resourceVersion should not be set on objects to be created$",
    "^failed to create typed patch object ",
    "^failed to create typed live object ",
    "^failed to create manager for existing fields: ",
    "^unable to find api field in struct",
    "^unknown patch type: ",
    "^The order in patch list:",
    "^cannot merge lists without merge key for ",
    "^merging lists cannot yet be specified in the patch$",
    "^map: .* does not contain declared merge key: ",
    "^list element types are not identical: ",
    "^expected a .*, but received a ",
  ].join("|"),
);

class Story {
  readonly #server: TestServer;
  readonly #fuzzed: FuzzedKind;
  readonly #logged: readonly string[];
  readonly #told: string[] = [];

  constructor(server: TestServer, fuzzed: FuzzedKind, logged: readonly string[]) {
    this.#server = server;
    this.#fuzzed = fuzzed;
    this.#logged = logged;
  }

  async tell({ edits, writes }: FuzzPlan): Promise<boolean> {
    const { collection, sample, schema, before = [] } = this.#fuzzed;
    for (const [path, body] of [...NAMESPACE, ...before])
      await this.#send("POST", path, "application/json", writeJson(body));
    await this.#server.settle();
    let object = sample;
    for (const seed of edits) object = withEdit(object, randomEdit(object, schema, seededRandom(seed))) as JsonObject;
    const body = writeJson(object);
    const created = await this.#send("POST", collection, "application/json", body);
    if (created.status !== 201) return false;
    const path = `${collection}/${created.metadata.name}`;
    await this.#checkStored(path, created);
    for (const seed of writes) await this.#write(path, seededRandom(seed));
    return true;
  }

  async #write(path: string, random: Random): Promise<void> {
    const { schema } = this.#fuzzed;
    const found = await this.#server.request("GET", path);
    if (found.status !== 200) return;
    const object = found.json;
    const edit = randomEdit(object, schema, random);
    const edited = withEdit(object, edit) as JsonObject;
    const target = this.#targetOf(path, random);
    const answer = await this.#sendOne(target, { object, edit, edited }, random);
    if (answer.status === 200 && target === path) await this.#checkStored(path, answer);
  }

  #targetOf(path: string, random: Random): string {
    const hasStatus = this.#fuzzed.kind.subresources?.status !== undefined;
    return hasStatus && random.next() < 0.25 ? `${path}/status` : path;
  }

  #sendOne(
    path: string,
    { object, edit, edited }: { object: JsonObject; edit: ReturnType<typeof randomEdit>; edited: JsonObject },
    random: Random,
  ): Promise<TestAnswer> {
    const isTyped = this.#fuzzed.schema.goType !== undefined;
    switch (random.integer(isTyped ? 8 : 6)) {
      case 0:
        return this.#send("PUT", path, "application/json", writeJson(edited));
      case 1:
        return this.#send("PUT", path, "application/yaml", writeYaml(edited));
      case 2:
        return this.#send("PATCH", path, "application/merge-patch+json", writeJson(mergePatchOf(object, edit)));
      case 3:
        return this.#send("PATCH", path, "application/json-patch+json", writeJson([operationOf(edit, random)]));
      case 4: {
        const managers = `${path}?fieldManager=${random.pick(["a", "b"])}&force=${random.pick(["true", "false"])}`;
        const { apiVersion } = this.#fuzzed;
        const metadata = { name: object.metadata && (object.metadata as JsonObject).name } as JsonObject;
        const applied = { ...mergePatchOf(object, edit), apiVersion, kind: this.#fuzzed.kind.kind, metadata };
        return this.#send("PATCH", managers, "application/apply-patch+yaml", writeJson(applied));
      }
      case 5:
        return this.#send("PUT", path, "application/json", damaged(writeJson(edited), random));
      case 6:
        return this.#send(
          "PATCH",
          path,
          "application/strategic-merge-patch+json",
          writeJson(mergePatchOf(object, edit)),
        );
      default:
        return this.#send(
          "PATCH",
          path,
          "application/strategic-merge-patch+json",
          writeJson(directed(mergePatchOf(object, edit), random)),
        );
    }
  }

  async #send(method: string, path: string, type: string, body: string): Promise<TestAnswer> {
    this.#told.push(`${method} ${path} ${type}\n    ${body}`);
    const logged = this.#logged.length;
    const answer = await this.#server.request(method, path, { body, headers: { "content-type": type } });
    this.#told.push(`  ${answer.status}${answer.status < 400 ? "" : ` ${answer.text.trim()}`}`);
    if (answer.status >= 500 && !KUBERNETES_FAILS.test(String(answer.json.message)))
      this.#fail(`${method} is answered with ${answer.status}`, this.#logged.slice(logged));
    return answer;
  }

  /** What was accepted is stored as it was answered, has one meaning in every form, and is accepted again. */
  async #checkStored(path: string, answered: TestAnswer): Promise<void> {
    const { schema, kind } = this.#fuzzed;
    await this.#server.settle();
    const read = await this.#server.request("GET", path);
    // The last finalizer of a deleted object is gone, and so is the object.
    if (read.status === 404) return;
    // Controllers in the server write the status of definitions and APIServices.
    const isSame = read.metadata.resourceVersion === answered.metadata.resourceVersion;
    if (isSame && read.text !== answered.text)
      this.#fail("what is read is not what was answered", [answered.text, read.text]);
    const object = read.json;
    if (schema.goType !== undefined) this.#checkForms(schema, object);
    if (!kind.verbs.includes("update")) return;
    const again = await this.#send("PUT", path, "application/json", read.text);
    if (again.status !== 200) this.#fail("what was accepted is not accepted again", [read.text]);
    if (again.text !== read.text) this.#fail("an update with what was read changes it", [read.text, again.text]);
  }

  #checkForms(schema: ObjectSchema, object: JsonObject): void {
    const decoded = decode(schema, object);
    if (!equalJson(decoded.value, object))
      this.#fail("decoding changes it", [writeJson(object), writeJson(decoded.value)]);
    const { kind: _, apiVersion: __, ...rest } = object;
    const bytes = encodeProtobuf(schema, object);
    const { kind: ___, apiVersion: ____, ...read } = decodeProtobuf(schema, bytes);
    if (!equalJson(read, rest)) this.#fail("protobuf changes it", [writeJson(rest), writeJson(read)]);
  }

  #fail(why: string, more: readonly string[]): never {
    throw new FuzzFailure([why, ...more, "", ...this.#told].join("\n"));
  }
}

/** Text with one fault: a part is missing, doubled or replaced. */
function damaged(text: string, random: Random): string {
  const [start, end] = [random.integer(text.length), random.integer(text.length)].sort((a, b) => a - b) as [
    number,
    number,
  ];
  const part = text.slice(start, Math.min(end, start + 20));
  const other = random.pick(["", part + part, '"', "{", "}", "[", "\\", "1e999", "-", "\u0000", "é", "null"]);
  return text.slice(0, start) + other + text.slice(start + part.length);
}

/** A strategic merge patch with a directive at one of its levels. */
function directed(patch: JsonObject, random: Random): JsonObject {
  const directive: readonly (readonly [string, Json])[] = [
    ["$patch", random.pick(["delete", "replace", "merge", "odd"])],
    ["$retainKeys", random.pick<Json>([[], ["type"], [1], "x"])],
    ["$setElementOrder/containers", random.pick<Json>([[], [{ name: "main" }], [{}], [1], {}])],
    ["$deleteFromPrimitiveList/finalizers", random.pick<Json>([[], ["a"], [1], {}])],
  ];
  const [key, value] = random.pick(directive);
  const [name] = Object.keys(patch);
  const inner = name === undefined ? undefined : patch[name];
  if (name !== undefined && typeof inner === "object" && inner !== null && !Array.isArray(inner) && random.next() < 0.6)
    return { ...patch, [name]: directed(inner as JsonObject, random) };
  return { ...patch, [key]: value };
}
