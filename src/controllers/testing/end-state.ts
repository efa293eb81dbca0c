/**
 * The state of a cluster as lines, to compare two runs of the same scenario: generated names are made equal, times and
 * revisions are left out.
 */
import type { KubeObject } from "#api";
import type { TestServer } from "../../apiserver/testing/index.ts";

/** Fields that depend on the number or the time of writes, not on the outcome. */
const LEFT_OUT = new Set([
  "resourceVersion",
  "uid",
  "generation",
  "observedGeneration",
  "managedFields",
  "creationTimestamp",
  "lastTransitionTime",
  "lastUpdateTime",
  "lastProbeTime",
  "startTime",
  "completionTime",
  "lastScheduleTime",
  "lastSuccessfulTime",
  "deletionTimestamp",
  // Depends on when an old ReplicaSet was last reconciled.
  "deployment.kubernetes.io/desired-replicas",
  "deployment.kubernetes.io/max-replicas",
  // Depends on how many changes were handled together.
  "endpoints.kubernetes.io/last-change-trigger-time",
]);
/** Kinds that depend on the number of attempts. */
const NOT_COMPARED = new Set(["events", "leases"]);

export async function endState(server: TestServer): Promise<readonly string[]> {
  const objects: { readonly kind: string; readonly object: KubeObject }[] = [];
  for (const { kind } of server.resources.all()) {
    const { group, version, names } = kind;
    if (NOT_COMPARED.has(names.plural) || group.startsWith("rbac")) continue;
    const path = `${group === "" ? "/api" : `/apis/${group}`}/${version}/${names.plural}`;
    const answer = await server.request("GET", path);
    if (answer.status !== 200) continue; // What cannot be listed, such as reviews, is not kept either.
    for (const object of answer.list.items) objects.push({ kind: kind.kind, object });
  }
  const byChance = new Map(
    objects.flatMap(({ kind, object }) => {
      const { name = "", uid = "" } = object.metadata;
      const shown = readableName(object);
      return [[uid, `uid of ${kind} ${shown}`] as const, ...(name === shown ? [] : [[name, shown] as const])];
    }),
  );
  const shownAs = (text: string) => {
    let shown = text;
    for (const [name, readable] of byChance) shown = shown.replaceAll(name, readable);
    return shown;
  };
  return objects
    .flatMap(({ kind, object }) => {
      const { namespace = "" } = object.metadata;
      const title = `${kind} ${namespace === "" ? "" : `${namespace}/`}${readableName(object)}`;
      return [...leaves(simplified(object), "")].map((leaf) => shownAs(`${title}${leaf}`));
    })
    .sort();
}

function readableName({ metadata: { name = "", generateName = "" } }: KubeObject): string {
  return generateName !== "" && name.startsWith(generateName) ? `${generateName}*` : name;
}

function simplified(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map(simplified).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !LEFT_OUT.has(key));
  return Object.fromEntries(kept.map(([key, inner]) => [key, simplified(inner)]));
}

function* leaves(value: unknown, path: string): Iterable<string> {
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0)
    yield `${path} = ${JSON.stringify(value)}`;
  else for (const [key, inner] of Object.entries(value)) yield* leaves(inner, `${path}.${key}`);
}
