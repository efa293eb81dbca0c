/**
 * Adds a cluster to the user's kubeconfig, and removes it, as kind does: only the cluster, the user and the context of
 * one name are changed.
 *
 * 1. The file is read, changed and replaced under client-go's lock, in one step; a file that cannot be parsed is left
 *    untouched.
 * 2. A link stays a link, and the file keeps its mode and its owner: root may work in a user's home.
 * 3. A context keeps what its user added to it, such as a namespace.
 * 4. An entry may say where its cluster is (an extension, which kubectl keeps), and which context was the current one
 *    before it: removing the entry makes that the current one again.
 */

import { realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { isCollection, isMap, type YAMLMap, YAMLSeq } from "yaml";
import type { Clock } from "#base";
import { PkiError } from "./errors.ts";
import {
  ensurePrivateFolder,
  errorCode,
  type FileWrite,
  fileError,
  PRIVATE_FILE,
  readIfPresent,
  writeFiles,
} from "./files.ts";
import type { Kubeconfig } from "./kubeconfig.ts";
import {
  EXTENSION,
  entriesNamed,
  extensionIn,
  type KubeconfigDocument,
  LIST_NAMES,
  LISTS,
  type ListName,
  listIn,
  parseKubeconfig,
} from "./kubeconfig-document.ts";
import { withKubeconfigLock } from "./kubeconfig-lock.ts";

export interface MergeOptions {
  readonly clock: Clock;
  /** Makes the context the current one. Default: true. */
  readonly setCurrent?: boolean;
  /** Where the cluster is: kept with its entry. Default: nothing is kept. */
  readonly owner?: string | undefined;
}

export async function mergeKubeconfig(file: string, config: Kubeconfig, options: MergeOptions): Promise<void> {
  const { clock, setCurrent = true, owner } = options;
  await ensurePrivateFolder(dirname(file));
  await edit(file, clock, (document) => {
    if (!isMap(document.contents)) document.contents = document.createNode({ apiVersion: "v1", kind: "Config" });
    const more = (extension: object) => (owner === undefined ? {} : extended(extension));
    const before = setCurrent && owner !== undefined ? currentBefore(document, config["current-context"]) : undefined;
    for (const { name, cluster } of config.clusters)
      put(document, "clusters", name, { ...cluster, ...more({ owner }) });
    for (const { name, user } of config.users) put(document, "users", name, { ...user });
    for (const { name, context } of config.contexts)
      put(document, "contexts", name, { ...context, ...(before !== undefined && extended({ before })) });
    if (setCurrent) document.set("current-context", config["current-context"]);
    return true;
  });
}

/** Does nothing if there is no such name, or no file. */
export async function removeFromKubeconfig(
  file: string,
  name: string,
  { clock }: { readonly clock: Clock },
): Promise<void> {
  if ((await readIfPresent(file)) === undefined) return;
  await edit(file, clock, (document) => {
    let found = false;
    const before = beforeOf(document, name);
    for (const listName of LIST_NAMES) {
      const list = listIn(document, listName);
      const entries = entriesNamed(list, name);
      for (const entry of entries) list?.items.splice(list.items.indexOf(entry), 1);
      found ||= entries.length > 0;
    }
    // Contexts that came after it lead to the one before it.
    for (const entry of contextsOf(document))
      if (beforeOf(document, String(entry.get("name"))) === name) setBefore(document, entry, before ?? "");
    if (!isMap(document.contents) || document.get("current-context") !== name) return found;
    const isThere = before !== undefined && entriesNamed(listIn(document, "contexts"), before).length > 0;
    document.set("current-context", isThere ? before : "");
    return true;
  });
}

function extended(extension: object): { readonly extensions: readonly object[] } {
  return { extensions: [{ name: EXTENSION, extension }] };
}

/** The context to return to. An entry that was the current one already keeps what it has. */
function currentBefore(document: KubeconfigDocument, name: string): string {
  const current = isMap(document.contents) ? document.get("current-context") : undefined;
  if (current === name) return beforeOf(document, name) ?? "";
  return typeof current === "string" ? current : "";
}

function beforeOf(document: KubeconfigDocument, name: string): string | undefined {
  const [entry] = entriesNamed(listIn(document, "contexts"), name);
  const context: unknown = entry?.toJS(document);
  const { extensions } = (context as { context?: { extensions?: unknown } } | undefined)?.context ?? {};
  const found = extensionIn(extensions)?.before;
  return typeof found === "string" ? found : undefined;
}

function setBefore(document: KubeconfigDocument, entry: YAMLMap, before: string): void {
  const context = entry.get("context", true);
  if (isMap(context)) context.set("extensions", document.createNode(extended({ before }).extensions));
}

function contextsOf(document: KubeconfigDocument): YAMLMap[] {
  return (listIn(document, "contexts")?.items ?? []).filter((item) => isMap(item));
}

/** `change` returns whether it changed anything: if not, the file is not written. */
async function edit(file: string, clock: Clock, change: (document: KubeconfigDocument) => boolean): Promise<void> {
  await withKubeconfigLock(file, clock, async () => {
    const before = (await readIfPresent(file)) ?? "";
    const document = parseKubeconfig(file, before);
    if (!change(document)) return;
    const after = print(file, document, before);
    if (after !== before) await writeFiles([{ ...(await replacing(file)), text: after }]);
  });
}

function put(document: KubeconfigDocument, listName: ListName, name: string, content: Record<string, unknown>): void {
  const field = LISTS[listName];
  const list = listIn(document, listName) ?? newList(document, listName);
  const [entry, ...doubles] = entriesNamed(list, name);
  for (const double of doubles) list.items.splice(list.items.indexOf(double), 1);
  if (entry === undefined) {
    if (list.items.length === 0) list.flow = false;
    list.add(document.createNode({ [field]: content, name }));
    return;
  }
  const present = entry.get(field, true);
  if (listName === "contexts" && isMap(present)) for (const key in content) present.set(key, content[key]);
  else entry.set(field, document.createNode(content));
}

function newList(document: KubeconfigDocument, listName: ListName): YAMLSeq {
  const list = new YAMLSeq();
  if (isCollection(document.contents) && document.contents.items.length === 0) document.contents.flow = false;
  document.set(listName, list);
  return list;
}

function print(file: string, document: KubeconfigDocument, before: string): string {
  try {
    // kubectl does not indent lists; a file with another style keeps it.
    const indentSeq = /^ +- /m.test(before) && !/^- /m.test(before);
    return document.toString({ lineWidth: 0, indentSeq });
  } catch (error) {
    throw new PkiError(`${file} refers by an alias to an entry that has to be replaced: write it out there.`, error);
  }
}

async function replacing(file: string): Promise<Omit<FileWrite, "text">> {
  try {
    const path = await realpath(file);
    const { mode, uid, gid } = await stat(path);
    return { path, mode: mode & 0o777, owner: { uid, gid } };
  } catch (error) {
    if (errorCode(error) === "ENOENT") return { path: file, mode: PRIVATE_FILE };
    throw fileError("read", file, error);
  }
}
