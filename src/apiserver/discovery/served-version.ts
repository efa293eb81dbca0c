/** What is served under one group and version: the unit in which APIs come and go. */
import { apiVersionOf, type JsonObject, type Kind } from "#api";
import type { Priority } from "./priority.ts";

export interface ServedVersion {
  readonly group: string;
  readonly version: string;
  /** In the order of discovery. */
  readonly kinds: readonly Kind[];
  /** Where it stands among the others. Default: what a real server gives a built-in or custom API. */
  readonly priority?: Priority;
  /** Made by CustomResourceDefinitions. */
  readonly custom?: boolean;
  /** The versions in which objects of custom kinds are stored, by kind. */
  readonly keptIn?: ReadonlyMap<string, string>;
  /** The schemas of custom kinds as their definitions wrote them, by kind: OpenAPI shows these. */
  readonly schemas?: ReadonlyMap<string, JsonObject>;
  /** Served by another API server, which is asked for its own documents; `kinds` is empty. */
  readonly remote?: RemoteVersion;
}

export interface RemoteVersion {
  /** Each an APIResourceDiscovery, as that server wrote it. */
  readonly resources: readonly JsonObject[];
  /** False while that server does not answer: then it is not known which resources there are. */
  readonly fresh: boolean;
}

/** Kinds in the order of discovery → the versions that they make up. */
export function servedVersions(kinds: readonly Kind[]): ServedVersion[] {
  return [...Map.groupBy(kinds, apiVersionOf).values()].flatMap((kinds) => {
    const [first] = kinds;
    return first === undefined ? [] : [{ group: first.group, version: first.version, kinds }];
  });
}
