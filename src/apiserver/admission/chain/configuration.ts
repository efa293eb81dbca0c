/**
 * The file of `--admission-control-config-file`: an AdmissionConfiguration with a section, or another file, for each
 * plugin.
 */
import { dirname, isAbsolute, join } from "node:path";
import { isObject, type JsonObject, parseYaml, YamlSyntaxError } from "#api";

/** A configuration that a plugin cannot use. The message is for the administrator. */
export class AdmissionConfigError extends Error {
  override readonly name = "AdmissionConfigError";

  constructor(about: string, why: string, cause?: unknown) {
    super(`${about}: ${why}.`, cause === undefined ? undefined : { cause });
  }
}

const VERSIONS = ["v1", "v1beta1", "v1alpha1"].map((version) => `apiserver.config.k8s.io/${version}`);

/** The sections by plugin. `read` returns the text of a file; it may throw. */
export function parseAdmissionConfiguration(
  text: string,
  file: string,
  read: (path: string) => string,
): ReadonlyMap<string, JsonObject> {
  const { kind, apiVersion, plugins = [] } = document(text, file);
  if (kind !== "AdmissionConfiguration" || !VERSIONS.includes(String(apiVersion)))
    throw new AdmissionConfigError(file, `it has to be an AdmissionConfiguration of ${VERSIONS[0]}`);
  if (!Array.isArray(plugins)) throw new AdmissionConfigError(file, "`plugins` has to be a list");
  const found = new Map<string, JsonObject>();
  for (const plugin of plugins) {
    if (!isObject(plugin) || typeof plugin.name !== "string")
      throw new AdmissionConfigError(file, "each of `plugins` needs a `name`");
    const { name, configuration, path } = plugin;
    if (isObject(configuration)) found.set(name, configuration);
    else if (typeof path === "string" && path !== "") found.set(name, document(...fileOf(path, file, read)));
  }
  return found;
}

/** Paths are relative to the configuration file. */
function fileOf(path: string, from: string, read: (path: string) => string): [text: string, file: string] {
  const file = isAbsolute(path) ? path : join(dirname(from), path);
  try {
    return [read(file), file];
  } catch (error) {
    throw new AdmissionConfigError(file, `it cannot be read: ${(error as Error).message}`, error);
  }
}

function document(text: string, file: string): JsonObject {
  try {
    const { value } = parseYaml(text);
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof YamlSyntaxError)) throw error;
    throw new AdmissionConfigError(file, `it is not YAML: ${error.message}`, error);
  }
  throw new AdmissionConfigError(file, "it has to be an object");
}
