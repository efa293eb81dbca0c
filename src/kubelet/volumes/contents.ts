/**
 * The files of a volume that is made of API objects: ConfigMaps, Secrets, fields of the Pod, tokens, or several of
 * them. Pure.
 *
 * 1. Without `items` every key is a file; with `items` only those, at their paths.
 * 2. A missing object or key is an error, unless it is optional.
 * 3. The mode of a file overrides that of the volume.
 */
import type { core } from "#api";
import { fieldValue, resourceValue } from "../containers/index.ts";
import type { FileContent } from "./atomic-writer.ts";
import { VolumeError } from "./volume-error.ts";

export type Files = Map<string, FileContent>;

const DEFAULT_MODE = 0o644;
/** The mode of a token that is owned by the containers' user. */
const TOKEN_MODE = 0o600;

export interface ContentSources {
  readonly pod: core.Pod;
  readonly configMap: (name: string) => core.ConfigMap | undefined;
  readonly secret: (name: string) => core.Secret | undefined;
  readonly token: (projection: core.ServiceAccountTokenProjection) => string;
  readonly allocatable: Readonly<Record<string, string>>;
}

interface KeyedObject {
  readonly items?: readonly core.KeyToPath[] | undefined;
  readonly optional?: boolean | undefined;
}

/** Undefined if the volume is of another kind. */
export function volumeContents(volume: core.Volume, sources: ContentSources): Files | undefined {
  const { configMap, secret, downwardAPI, projected } = volume;
  if (configMap !== undefined)
    return configMapFiles(
      sources.configMap(configMap.name ?? ""),
      configMap.name ?? "",
      configMap,
      configMap.defaultMode,
    );
  if (secret !== undefined)
    return secretFiles(sources.secret(secret.secretName ?? ""), secret.secretName ?? "", secret, secret.defaultMode);
  if (downwardAPI !== undefined) return downwardFiles(downwardAPI.items, sources, downwardAPI.defaultMode);
  if (projected === undefined) return undefined;
  const files: Files = new Map();
  for (const source of projected.sources ?? [])
    for (const [path, content] of projectedFiles(source, sources, projected.defaultMode)) files.set(path, content);
  return files;
}

function projectedFiles(source: core.VolumeProjection, sources: ContentSources, mode: number | undefined): Files {
  const { configMap, secret, downwardAPI, serviceAccountToken } = source;
  if (configMap !== undefined)
    return configMapFiles(sources.configMap(configMap.name ?? ""), configMap.name ?? "", configMap, mode);
  if (secret !== undefined) return secretFiles(sources.secret(secret.name ?? ""), secret.name ?? "", secret, mode);
  if (downwardAPI !== undefined) return downwardFiles(downwardAPI.items, sources, mode);
  if (serviceAccountToken !== undefined) {
    const uid = oneUser(sources.pod);
    const isOwned = uid !== undefined || sources.pod.spec?.securityContext?.fsGroup !== undefined;
    const bytes = Buffer.from(sources.token(serviceAccountToken));
    const content = { bytes, mode: isOwned ? TOKEN_MODE : (mode ?? DEFAULT_MODE), uid };
    return new Map([[serviceAccountToken.path, content]]);
  }
  throw new VolumeError(`this node cannot project ${Object.keys(source).join(", ")}`);
}

/** The user that all containers run as; undefined if they differ or it is not set. */
function oneUser({ spec }: core.Pod): number | undefined {
  const { initContainers = [], containers = [], securityContext } = spec ?? {};
  const users = [...initContainers, ...containers].map(
    (container) => container.securityContext?.runAsUser ?? securityContext?.runAsUser,
  );
  const [user] = users;
  return new Set(users).size === 1 && user !== undefined ? Number(user) : undefined;
}

function configMapFiles(
  map: core.ConfigMap | undefined,
  name: string,
  { items, optional }: KeyedObject,
  mode: number | undefined,
): Files {
  if (map === undefined && optional !== true) throw new VolumeError(`configmap "${name}" not found`);
  const bytes = new Map<string, Uint8Array>();
  for (const [key, text] of Object.entries(map?.data ?? {})) bytes.set(key, Buffer.from(text));
  for (const [key, base64] of Object.entries(map?.binaryData ?? {})) bytes.set(key, Buffer.from(base64, "base64"));
  return picked(bytes, "config", { items, optional }, mode);
}

function secretFiles(
  secret: core.Secret | undefined,
  name: string,
  { items, optional }: KeyedObject,
  mode: number | undefined,
): Files {
  if (secret === undefined && optional !== true) throw new VolumeError(`secret "${name}" not found`);
  const bytes = new Map(
    Object.entries(secret?.data ?? {}).map(([key, base64]) => [key, Buffer.from(base64, "base64")]),
  );
  return picked(bytes, "secret", { items, optional }, mode);
}

function picked(
  bytes: ReadonlyMap<string, Uint8Array>,
  what: "config" | "secret",
  { items = [], optional }: KeyedObject,
  defaultMode: number | undefined,
): Files {
  if (items.length === 0)
    return new Map([...bytes].map(([key, content]) => [key, { bytes: content, mode: defaultMode ?? DEFAULT_MODE }]));
  const files: Files = new Map();
  for (const { key, path, mode } of items) {
    const content = bytes.get(key);
    if (content !== undefined) files.set(path, { bytes: content, mode: mode ?? defaultMode ?? DEFAULT_MODE });
    else if (optional !== true) throw new VolumeError(`references non-existent ${what} key: ${key}`);
  }
  return files;
}

function downwardFiles(
  items: readonly core.DownwardAPIVolumeFile[] = [],
  { pod, allocatable }: ContentSources,
  defaultMode: number | undefined,
): Files {
  const nowhere = { podIps: [], hostIps: [] };
  return new Map(
    items.map(({ path, fieldRef, resourceFieldRef, mode }) => {
      const text =
        fieldRef !== undefined
          ? fieldValue(pod, fieldRef.fieldPath, nowhere)
          : resourceFieldRef !== undefined
            ? resourceValue(pod, resourceFieldRef, undefined, allocatable)
            : "";
      return [path, { bytes: Buffer.from(text), mode: mode ?? defaultMode ?? DEFAULT_MODE }];
    }),
  );
}
