/**
 * A container's environment from Services, envFrom and env, in the documented order of precedence.
 *
 * 1. `env` overrides `envFrom`, which overrides Services; of two entries with the same name the later one wins.
 * 2. `$(NAME)` in a value refers to an earlier entry or to a Service's variable.
 * 3. A ConfigMap, Secret or key that is missing is an error, unless it is optional.
 */
import type { core } from "#api";
import { RuntimeConfigError } from "./config-error.ts";
import { EnvFileError, parseEnvFile } from "./env-file.ts";
import { expand } from "./expand.ts";
import { fieldValue, type PodAddresses, resourceValue } from "./field-ref.ts";
import type { AnyContainer } from "./names.ts";

export interface EnvSources {
  /** By name, of the Pod's namespace. */
  readonly configMaps: ReadonlyMap<string, core.ConfigMap>;
  readonly secrets: ReadonlyMap<string, core.Secret>;
  /** Contents of files in volumes, by `volume/path`; absent files are missing. */
  readonly files?: ReadonlyMap<string, string>;
  readonly services: Readonly<Record<string, string>>;
  readonly addresses: PodAddresses;
  readonly allocatable: Readonly<Record<string, string>>;
}

export interface Environment {
  readonly variables: ReadonlyMap<string, string>;
  /** Keys of `envFrom` that are not valid variable names, by source. */
  readonly skipped: readonly { readonly source: string; readonly keys: readonly string[] }[];
}

/** Everything printable except the equals sign. */
const isVariableName = (name: string) => /^[\x20-\x3c\x3e-\x7e]+$/.test(name);

export function environment(pod: core.Pod, container: AnyContainer, sources: EnvSources): Environment {
  const own = new Map<string, string>();
  const skipped: { source: string; keys: readonly string[] }[] = [];
  for (const from of container.envFrom ?? []) {
    const { source, entries } = entriesOf(pod, from, sources);
    const bad = entries.filter(([key]) => !isVariableName(key)).map(([key]) => key);
    if (bad.length > 0) skipped.push({ source, keys: bad.sort() });
    for (const [key, value] of entries) if (isVariableName(key)) own.set(key, value);
  }
  const lookup = (name: string) => own.get(name) ?? sources.services[name];
  for (const { name, value = "", valueFrom } of container.env ?? []) {
    const found = valueFrom === undefined ? expand(value, lookup) : sourcedValue(pod, container, valueFrom, sources);
    if (found !== undefined) own.set(name, found);
  }
  const variables = new Map(own);
  for (const [name, value] of Object.entries(sources.services)) if (!own.has(name)) variables.set(name, value);
  return { variables, skipped };
}

/** The ConfigMaps, Secrets and files that the environment refers to. */
export function envReferences(container: AnyContainer): {
  readonly configMaps: ReadonlySet<string>;
  readonly secrets: ReadonlySet<string>;
  readonly files: readonly { readonly volumeName: string; readonly path: string }[];
} {
  const configMaps = new Set<string>();
  const secrets = new Set<string>();
  const files = (container.env ?? []).flatMap(({ valueFrom }) => valueFrom?.fileKeyRef ?? []);
  for (const { configMapRef, secretRef } of container.envFrom ?? []) {
    if (configMapRef?.name !== undefined) configMaps.add(configMapRef.name);
    if (secretRef?.name !== undefined) secrets.add(secretRef.name);
  }
  for (const { valueFrom } of container.env ?? []) {
    if (valueFrom?.configMapKeyRef?.name !== undefined) configMaps.add(valueFrom.configMapKeyRef.name);
    if (valueFrom?.secretKeyRef?.name !== undefined) secrets.add(valueFrom.secretKeyRef.name);
  }
  return { configMaps, secrets, files };
}

function entriesOf(pod: core.Pod, from: core.EnvFromSource, { configMaps, secrets }: EnvSources) {
  const { prefix = "", configMapRef, secretRef } = from;
  const { namespace = "" } = pod.metadata;
  const prefixed = (entries: [string, string][]) =>
    entries.map(([key, value]): [string, string] => [prefix + key, value]);
  if (configMapRef !== undefined) {
    const { name = "", optional } = configMapRef;
    const map = configMaps.get(name);
    if (map === undefined && optional !== true) throw new RuntimeConfigError(`configmap "${name}" not found`);
    return { source: `ConfigMap ${namespace}/${name}`, entries: prefixed(Object.entries(map?.data ?? {})) };
  }
  const { name = "", optional } = secretRef ?? {};
  const secret = secrets.get(name);
  if (secret === undefined && optional !== true) throw new RuntimeConfigError(`secret "${name}" not found`);
  const entries = Object.entries(secret?.data ?? {}).map(([key, value]): [string, string] => [key, decoded(value)]);
  return { source: `Secret ${namespace}/${name}`, entries: prefixed(entries) };
}

function sourcedValue(
  pod: core.Pod,
  container: AnyContainer,
  from: core.EnvVarSource,
  sources: EnvSources,
): string | undefined {
  const { namespace = "" } = pod.metadata;
  if (from.fieldRef !== undefined) return fieldValue(pod, from.fieldRef.fieldPath, sources.addresses);
  if (from.resourceFieldRef !== undefined)
    return resourceValue(pod, from.resourceFieldRef, container.name, sources.allocatable);
  if (from.configMapKeyRef !== undefined) {
    const { name = "", key, optional } = from.configMapKeyRef;
    const map = sources.configMaps.get(name);
    const value = map?.data?.[key];
    if (value !== undefined || optional === true) return value;
    throw new RuntimeConfigError(
      map === undefined
        ? `configmap "${name}" not found`
        : `couldn't find key ${key} in ConfigMap ${namespace}/${name}`,
    );
  }
  if (from.secretKeyRef !== undefined) {
    const { name = "", key, optional } = from.secretKeyRef;
    const secret = sources.secrets.get(name);
    const value = secret?.data?.[key];
    if (value !== undefined) return decoded(value);
    if (optional === true) return undefined;
    throw new RuntimeConfigError(
      secret === undefined ? `secret "${name}" not found` : `couldn't find key ${key} in Secret ${namespace}/${name}`,
    );
  }
  if (from.fileKeyRef !== undefined) return fileValue(from.fileKeyRef, sources.files ?? new Map());
  throw new RuntimeConfigError("this source of an environment variable is not supported by this node");
}

function fileValue(
  { volumeName, path, key, optional }: core.FileKeySelector,
  files: ReadonlyMap<string, string>,
): string | undefined {
  const text = files.get(`${volumeName}/${path}`);
  if (text === undefined && optional !== true)
    throw new RuntimeConfigError(`file "${path}" not found in volume "${volumeName}"`);
  try {
    const value = parseEnvFile(text ?? "").get(key);
    if (value !== undefined || optional === true) return value;
  } catch (error) {
    if (!(error instanceof EnvFileError)) throw error;
    throw new RuntimeConfigError(`couldn't parse env file "${path}": ${error.message}`, { cause: error });
  }
  throw new RuntimeConfigError(`environment variable key "${key}" not found in file "${path}"`);
}

function decoded(base64: string): string {
  return Buffer.from(base64, "base64").toString();
}
