/**
 * Adds a cluster to the user's kubeconfig, and removes it, as kind does: only the cluster, the user and the context of
 * one name are changed.
 *
 * 1. The file is read, changed and replaced under client-go's lock, in one step; a file that cannot be parsed is left
 *    untouched.
 * 2. A link stays a link, and the file keeps its mode and its owner: root may work in a user's home.
 * 3. A context keeps what its user added to it, such as a namespace.
 */

import { realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { isCollection, isMap, YAMLSeq } from "yaml";
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
  entriesNamed,
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
}

export async function mergeKubeconfig(file: string, config: Kubeconfig, options: MergeOptions): Promise<void> {
  const { clock, setCurrent = true } = options;
  await ensurePrivateFolder(dirname(file));
  await edit(file, clock, (document) => {
    if (!isMap(document.contents)) document.contents = document.createNode({ apiVersion: "v1", kind: "Config" });
    for (const { name, cluster } of config.clusters) put(document, "clusters", name, { ...cluster });
    for (const { name, user } of config.users) put(document, "users", name, { ...user });
    for (const { name, context } of config.contexts) put(document, "contexts", name, { ...context });
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
    for (const listName of LIST_NAMES) {
      const list = listIn(document, listName);
      const entries = entriesNamed(list, name);
      for (const entry of entries) list?.items.splice(list.items.indexOf(entry), 1);
      found ||= entries.length > 0;
    }
    if (!isMap(document.contents) || document.get("current-context") !== name) return found;
    document.set("current-context", "");
    return true;
  });
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
