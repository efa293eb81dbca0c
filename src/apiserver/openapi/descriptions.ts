/**
 * The texts that `kubectl explain` shows, read at run time: from the file that set-up has fetched, else from the
 * documentation comments of @kubernetes/client-node.
 *
 * 1. A file is read when one of its types is first used, and its texts are kept.
 * 2. Without the package, or for an unknown type, there are no descriptions: the documents are complete without them.
 */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { table } from "#base";
import { capital } from "./names.ts";

export interface Descriptions {
  /** Of a type such as io.k8s.api.core.v1.Pod, or of one of its fields by its name in JSON. */
  type(typeName: string, field?: string): string | undefined;
  /** Of a parameter of a method of the client's CoreV1Api, such as listNamespacedPod. */
  parameter(method: string, name: string): string | undefined;
}

export const noDescriptions: Descriptions = { type: () => undefined, parameter: () => undefined };

/** All sources on this machine, best first. `from`: the module to resolve them from. */
export function installedDescriptions(from: string | URL): Descriptions {
  const sources = [documentationFile(from), clientDescriptions(from)];
  return {
    type: (typeName, field) => firstOf(sources, (source) => source.type(typeName, field)),
    parameter: (method, name) => firstOf(sources, (source) => source.parameter(method, name)),
  };
}

/** `from`: the module to resolve the package from. */
export function clientDescriptions(from: string | URL): Descriptions {
  const folder = generatedFolder(from);
  return folder === undefined ? noDescriptions : new ClientDescriptions(folder);
}

/**
 * .tools/api-docs.json of a checkout, written by scripts/api-docs.ts: complete, but only there if set-up could fetch
 * it.
 */
function documentationFile(from: string | URL): Descriptions {
  let docs: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined;
  return {
    type: (typeName, field = "") => {
      docs ??= readDocumentation(from);
      const text = docs[typeName]?.[field];
      return text === "" ? undefined : text;
    },
    parameter: () => undefined,
  };
}

function readDocumentation(from: string | URL): Record<string, Record<string, string>> {
  for (let dir = dirname(fileURLToPath(from)); ; dir = dirname(dir)) {
    if (!existsSync(join(dir, "package.json")) && dir !== dirname(dir)) continue;
    const file = join(dir, ".tools", "api-docs.json");
    return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  }
}

function firstOf<S, T>(sources: readonly S[], ask: (source: S) => T | undefined): T | undefined {
  for (const source of sources) {
    const answer = ask(source);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

/** dist/gen of the package, which sits beside its entry point in dist. */
function generatedFolder(from: string | URL): string | undefined {
  return ifThere(() => join(dirname(createRequire(from).resolve("@kubernetes/client-node")), "gen"));
}

interface ModelTexts {
  readonly own: string | undefined;
  readonly fields: ReadonlyMap<string, string>;
}

export class ClientDescriptions implements Descriptions {
  readonly #folder: string;
  readonly #models = new Map<string, ModelTexts | undefined>();
  /** Names of all model files: a lookup is cheaper than a failed read. */
  #files: ReadonlySet<string> | undefined;
  /** Documentation comments of methods. */
  readonly #methods = new Map<string, string>();
  #api: string | undefined;

  /** `folder`: the package's dist/gen. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  type(typeName: string, field?: string): string | undefined {
    const model = this.#model(typeName);
    return field === undefined ? model?.own : model?.fields.get(memberName(field));
  }

  parameter(method: string, name: string): string | undefined {
    const comment = this.#methods.get(method) ?? this.#commentOf(method);
    this.#methods.set(method, comment);
    const text = new RegExp(`^ +\\* @param _?${name} (.+)$`, "m").exec(comment)?.[1];
    return text === undefined ? undefined : plainText(text);
  }

  #commentOf(method: string): string {
    this.#api ??= this.#read("apis/CoreV1Api.d.ts") ?? "";
    const at = this.#api.indexOf(`\n    ${method}(`);
    return at < 0 ? "" : this.#api.slice(this.#api.lastIndexOf("/**", at), at);
  }

  #model(typeName: string): ModelTexts | undefined {
    if (!this.#models.has(typeName)) {
      this.#files ??= new Set(this.#list("models"));
      const file = modelNames(typeName).find((name) => this.#files?.has(`${name}.d.ts`));
      const text = file === undefined ? undefined : this.#read(`models/${file}.d.ts`);
      this.#models.set(typeName, text === undefined ? undefined : readModel(text));
    }
    return this.#models.get(typeName);
  }

  #list(path: string): string[] {
    return ifThere(() => readdirSync(join(this.#folder, path))) ?? [];
  }

  #read(path: string): string | undefined {
    return ifThere(() => readFileSync(join(this.#folder, path), "utf8"));
  }
}

function ifThere<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** io.k8s.api.core.v1.Event is CoreV1Event, because there is another Event; io.k8s.api.core.v1.Pod is V1Pod. */
function modelNames(typeName: string): string[] {
  const [type = "", version = "", group = ""] = typeName.split(".").reverse();
  const short = capital(version) + type;
  return [capital(group) + short, short];
}

/** Member names in TypeScript: $ref is ref, dashes become underscores, reserved words get an underscore in front. */
function memberName(field: string): string {
  return field.replace(/^\$/, "").replaceAll("-", "_");
}

const COMMENT_OR_MEMBER = /\/\*\*\n((?:(?!\*\/)[\s\S])*)\*\/\n(?:export declare class (\w+)|\s*'(\w+)'\??:)/g;

function readModel(text: string): ModelTexts {
  const fields = new Map<string, string>();
  let own: string | undefined;
  // The first comment is that of the file, before the imports or the class's comment.
  const start = text.indexOf("*/") + 2;
  for (const [, comment = "", className, member = ""] of text.slice(start).matchAll(COMMENT_OR_MEMBER)) {
    const words = plainText(comment.replaceAll(/^\s*\* ?/gm, ""));
    if (className !== undefined) own = words;
    else fields.set(member.replace(/^_/, ""), words);
  }
  return { own, fields };
}

const ENTITIES: Readonly<Record<string, string>> = table({
  "&#39;": "'",
  "&quot;": '"',
  "&lt;": "<",
  "&gt;": ">",
  "&amp;": "&",
  "&#x60;": "`",
  "&#x3D;": "=",
});

/** In Kubernetes' API docs these closing phrases are a paragraph of their own; the client generator joins all lines. */
const CLOSING =
  / {2}(?=(?:Populated by the system|Read-only|Cannot be updated|Must be a DNS_LABEL|More info:|This field is|This is an? (?:alpha|beta)))/g;

/** Undoes the escapes of the client generator. */
function plainText(text: string): string {
  return unescaped(text).replaceAll(CLOSING, "\n\n");
}

function unescaped(text: string): string {
  return text
    .replaceAll(/&(?:#39|quot|lt|gt|amp|#x60|#x3D);/g, (entity) => ENTITIES[entity] ?? entity)
    .replaceAll(/\\(.)/g, "$1")
    .replaceAll("*_/", "*/")
    .replaceAll("/_*", "/*")
    .trim();
}

function isMissing(error: unknown): boolean {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return code === "ENOENT" || code === "MODULE_NOT_FOUND" || code === "ERR_PACKAGE_PATH_NOT_EXPORTED";
}
