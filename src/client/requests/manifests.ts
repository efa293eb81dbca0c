/** Objects from folders, files and values, applied to a cluster. */
import { readdir, readFile, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { type JsonObject, type KubeObject, parseYaml } from "#api";
import type { Client } from "./client.ts";
import { discoverResources } from "./discovery.ts";
import type { ResourceName } from "./resource.ts";

const EXTENSIONS = new Set([".yaml", ".yml", ".json"]);

export type Manifest = string | object;

/** The objects of folders (with the folders in them), files, and values, in their order. Lists become their items. */
export async function objectsOf(manifests: readonly Manifest[]): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  for (const manifest of manifests) {
    const values = typeof manifest === "string" ? await readAll(manifest) : [manifest];
    for (const value of values) found.push(...itemsOf(value));
  }
  return found;
}

/** Applies objects of any kind that the server knows. */
export async function applyAll(
  client: Client,
  objects: readonly KubeObject[],
  { fieldManager }: { readonly fieldManager: string },
): Promise<void> {
  if (objects.length === 0) return;
  let { resources } = await discoverResources(client);
  for (const object of objects) {
    const { apiVersion = "", kind = "" } = object;
    const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
    // Discovery names the preferred version of each resource alone.
    const find = () => resources.find((each) => each.group === group && each.kind === kind);
    let resource: ResourceName | undefined = find();
    if (resource === undefined) {
      ({ resources } = await discoverResources(client));
      resource = find();
    }
    if (resource === undefined)
      throw new Error(`${objectName(object)}: the cluster does not serve ${apiVersion} ${kind}`);
    const { namespace = "default" } = object.metadata;
    const named = { ...resource, apiVersion };
    const target = resource.namespaced ? client.of(named).in(namespace) : client.of(named);
    await target.apply(object, { fieldManager, force: true }).catch((error: unknown) => {
      throw new Error(`${objectName(object)} could not be applied: ${(error as Error).message}`, { cause: error });
    });
  }
}

async function readAll(path: string): Promise<readonly unknown[]> {
  if ((await stat(path)).isDirectory()) {
    const names = (await readdir(path)).sort();
    const all = await Promise.all(
      names.map(async (name) => {
        const inner = join(path, name);
        return (await stat(inner)).isDirectory() || EXTENSIONS.has(extname(name)) ? readAll(inner) : [];
      }),
    );
    return all.flat();
  }
  const text = await readFile(path, "utf8");
  try {
    return documentsOf(text);
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`, { cause: error });
  }
}

function documentsOf(text: string): readonly unknown[] {
  return text
    .split(/^---(?:[ \t].*)?$/m)
    .filter((document) => document.replace(/^\s*#.*$/gm, "").trim() !== "")
    .map((document) => parseYaml(document).value);
}

function itemsOf(value: unknown): readonly KubeObject[] {
  if (typeof value !== "object" || value === null) throw new Error("a manifest is not an object");
  const object = value as KubeObject & { readonly items?: readonly unknown[] };
  if (object.kind?.endsWith("List") === true && Array.isArray(object.items)) return object.items.flatMap(itemsOf);
  if (typeof object.kind !== "string") throw new Error("a manifest has no kind");
  return [object as KubeObject & JsonObject];
}

export function objectName({ kind = "", metadata }: KubeObject): string {
  return `${kind} ${metadata?.name ?? ""}`;
}
