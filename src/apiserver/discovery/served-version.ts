/** What is served under one group and version: the unit in which APIs are added and removed. */
import { apiVersionOf, type JsonObject, type Kind } from "#api";
import type { Priority } from "./priority.ts";

export interface ServedVersion {
  readonly group: string;
  readonly version: string;
  /** In the order of discovery. */
  readonly kinds: readonly Kind[];
  /** Its place among the others. Default: what kube-apiserver gives a built-in or custom API. */
  readonly priority?: Priority;
  /** Made by CustomResourceDefinitions. */
  readonly custom?: boolean;
  /** The versions in which objects of custom kinds are stored, by kind. */
  readonly keptIn?: ReadonlyMap<string, string>;
  /** The schemas of custom kinds as their definitions have them, by kind: OpenAPI publishes these. */
  readonly schemas?: ReadonlyMap<string, JsonObject>;
  /** Served by an extension API server, which also serves its own documents; `kinds` is empty. */
  readonly remote?: RemoteVersion;
}

export interface RemoteVersion {
  /** Each an APIResourceDiscovery, as that server wrote it. */
  readonly resources: readonly JsonObject[];
  /** False while that server does not answer: its resources may be outdated. */
  readonly fresh: boolean;
}

/** Kinds in the order of discovery → the versions that they make up. */
export function servedVersions(kinds: readonly Kind[]): ServedVersion[] {
  return [...Map.groupBy(kinds, apiVersionOf).values()].flatMap((kinds) => {
    const [first] = kinds;
    return first === undefined ? [] : [{ group: first.group, version: first.version, kinds }];
  });
}
