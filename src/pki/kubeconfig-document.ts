/**
 * A kubeconfig as a YAML document that can be edited without losing what its owner wrote: comments, order, other
 * entries, fields that are unknown here.
 *
 * 1. The result of `parseKubeconfig` has the types of a kubeconfig; anything else is refused with file and line.
 * 2. A file that kubectl refuses is refused here.
 */

import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { PkiError } from "./errors.ts";

export type KubeconfigDocument = Document<Node>;

/** The three lists, and the field with the content of an entry. */
export const LISTS = { clusters: "cluster", users: "user", contexts: "context" } as const;
export type ListName = keyof typeof LISTS;
export const LIST_NAMES: readonly ListName[] = ["clusters", "users", "contexts"];

const STRINGS: Readonly<Record<ListName, readonly string[]>> = {
  clusters: ["server", "certificate-authority", "certificate-authority-data", "tls-server-name"],
  users: [
    "client-certificate",
    "client-certificate-data",
    "client-key",
    "client-key-data",
    "token",
    "tokenFile",
    "username",
    "password",
  ],
  contexts: ["cluster", "user", "namespace"],
};

export function parseKubeconfig(file: string, text: string): KubeconfigDocument {
  const lineCounter = new LineCounter();
  const document: KubeconfigDocument = parseDocument<Node>(text, {
    lineCounter,
    merge: true,
    prettyErrors: false,
  });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line } = lineCounter.linePos(error.pos[0]);
    throw new PkiError(`${file}:${line} is not valid YAML: ${error.message}.`, error);
  }
  check(document, (node, problem) => {
    const { line } = lineCounter.linePos(node?.range?.[0] ?? 0);
    return new PkiError(`${file}:${line} is not a kubeconfig: ${problem}.`);
  });
  return document;
}

type Refusal = (node: Node | undefined, problem: string) => PkiError;

function check(document: KubeconfigDocument, refusal: Refusal): void {
  const root = document.contents;
  if (isNothing(root)) return;
  if (!isMap(root)) throw refusal(root, "the file must hold fields and values");
  const at = (map: YAMLMap, key: string) => target(document, map.get(key, true));
  const strings = (map: YAMLMap, keys: readonly string[]) => {
    for (const key of keys) {
      const value = at(map, key);
      if (!isNothing(value) && !isString(value)) throw refusal(value, `"${key}" must be a string`);
    }
  };

  for (const [key, wanted] of [
    ["apiVersion", "v1"],
    ["kind", "Config"],
  ] as const) {
    const value = at(root, key);
    if (!isNothing(value) && (!isScalar(value) || value.value !== wanted)) {
      throw refusal(value, `"${key}" must be ${wanted}`);
    }
  }
  strings(root, ["current-context"]);
  for (const listName of LIST_NAMES) {
    const list = at(root, listName);
    if (isNothing(list)) continue;
    if (!isSeq(list)) throw refusal(list, `"${listName}" must be a list`);
    for (const reference of list.items) {
      const item = target(document, reference);
      if (!isMap(item)) throw refusal(item, `an entry of "${listName}" must have a name`);
      const name = at(item, "name");
      if (!isString(name)) throw refusal(name ?? item, `the name of an entry of "${listName}" must be a string`);
      const content = at(item, LISTS[listName]);
      if (isNothing(content)) continue;
      if (!isMap(content)) throw refusal(content, `"${LISTS[listName]}" must hold fields and values`);
      strings(content, STRINGS[listName]);
    }
  }
}

function target(document: KubeconfigDocument, node: unknown): Node | undefined {
  if (isAlias(node)) return node.resolve(document);
  return isScalar(node) || isMap(node) || isSeq(node) ? node : undefined;
}

function isNothing(node: Node | null | undefined): node is null | undefined {
  return node === undefined || node === null || (isScalar(node) && node.value === null);
}

function isString(node: Node | undefined): boolean {
  return isScalar(node) && typeof node.value === "string";
}

/** The entries of a list, those added to it included; undefined when there is no such list. */
export function listIn(document: KubeconfigDocument, name: ListName): YAMLSeq | undefined {
  const list = isMap(document.contents) ? target(document, document.contents.get(name, true)) : undefined;
  return isSeq(list) ? list : undefined;
}

export function entriesNamed(list: YAMLSeq | undefined, name: string): YAMLMap[] {
  return (list?.items ?? []).filter((item): item is YAMLMap => isMap(item) && item.get("name") === name);
}

/** Of an entry of this program, by the name that kubectl shows it with. */
export const EXTENSION = "k8ts.dev";

/** What an entry of this program says of itself. */
export function extensionIn(extensions: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!Array.isArray(extensions)) return undefined;
  const own = extensions.find((each: unknown) => (each as { name?: unknown } | null)?.name === EXTENSION);
  return (own as { extension?: Readonly<Record<string, unknown>> } | undefined)?.extension;
}
