/**
 * CNI network configuration: a list of plugins that are called one after the other.
 *
 * 1. Of several files in a folder the first by name is used, as in every runtime.
 * 2. Settings other than `type` and `capabilities` are passed to the plugin unchanged.
 */
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { isObject, type Json, type JsonObject } from "#api";
import { CniError, FAILED_DECODING, INVALID_CONFIGURATION } from "./cni-error.ts";

export interface NetworkConfiguration {
  readonly cniVersion: string;
  readonly name: string;
  readonly disableCheck: boolean;
  readonly plugins: readonly PluginConfiguration[];
}

export interface PluginConfiguration {
  readonly type: string;
  /** Runtime configuration that this plugin accepts for each Pod: `portMappings`, `bandwidth`. */
  readonly capabilities: ReadonlySet<string>;
  /** The plugin's object in the file, without `capabilities`. */
  readonly settings: JsonObject;
}

const EXTENSIONS = [".conf", ".conflist", ".json"];
/** Plugins are programs in certain folders: the type must not be a path that leaves them. */
const TYPE = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;
const OLDEST = "0.1.0";

/** The first network of a folder; undefined if there is none. */
export async function networkIn(folder: string): Promise<NetworkConfiguration | undefined> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const [first] = names.filter((name) => EXTENSIONS.includes(extname(name))).sort();
  return first === undefined ? undefined : parseNetwork(await readFile(join(folder, first), "utf8"));
}

/** A list of plugins, or a single plugin, which counts as a list of one. Throws CniError. */
export function parseNetwork(text: string): NetworkConfiguration {
  const document = parsed(text);
  const { cniVersion = OLDEST, name, disableCheck, plugins } = document;
  if (typeof name !== "string" || !NAME.test(name)) throw invalid(`the network has no usable name: ${shown(name)}`);
  if (typeof cniVersion !== "string") throw invalid(`cniVersion is not a string: ${shown(cniVersion)}`);
  const { cniVersion: _version, name: _name, ...single } = document;
  const list = plugins === undefined ? [single] : plugins;
  if (!Array.isArray(list) || list.length === 0) throw invalid(`network "${name}" has no plugins`);
  return {
    cniVersion,
    name,
    disableCheck: disableCheck === true || disableCheck === "true",
    plugins: list.map(plugin),
  };
}

function parsed(text: string): JsonObject {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (cause) {
    throw new CniError(FAILED_DECODING, `the configuration is not JSON: ${(cause as Error).message}`, { cause });
  }
  if (!isObject(value)) throw invalid("the configuration is not an object");
  return value;
}

function plugin(value: Json): PluginConfiguration {
  if (!isObject(value)) throw invalid(`a plugin is not an object: ${shown(value)}`);
  const { capabilities = {}, ...settings } = value;
  const { type } = settings;
  if (typeof type !== "string" || !TYPE.test(type)) throw invalid(`a plugin has no usable type: ${shown(type)}`);
  const wanted = isObject(capabilities) ? Object.keys(capabilities).filter((name) => capabilities[name] === true) : [];
  return { type, capabilities: new Set(wanted), settings };
}

function invalid(message: string): CniError {
  return new CniError(INVALID_CONFIGURATION, message);
}

function shown(value: Json | undefined): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}
