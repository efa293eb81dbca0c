/**
 * Runs one plugin for one write in a cluster of a few objects.
 *
 * The plugin runs in a chain of its own, so that its rules are matched as in the server.
 */
import { builtIn, isStatusError, type Kind, type KubeObject, type StatusError } from "#api";
import { type Clock, seededRandom, VirtualClock } from "#base";
import { ResourceCache } from "../../cache/resource-cache.ts";
import type { UserInfo } from "../../identity/user.ts";
import { Resource, storePrefixOf } from "../../rest/resource.ts";
import type { AdmissionAttributes } from "../../rest/server-context.ts";
import { admissionChain } from "../chain/chain.ts";
import type { AdmissionPlugin, ClusterView, Operation } from "../chain/plugin.ts";

export interface Attempt {
  /** Default: CREATE, or UPDATE where there is an old object. */
  readonly operation?: Operation;
  /** `pods`, `pods/status`, `leases.coordination.k8s.io`. Default: pods. */
  readonly resource?: string;
  readonly object?: object;
  readonly old?: object;
  readonly user?: UserInfo;
  /** Default: `a`. */
  readonly namespace?: string;
  readonly name?: string;
  readonly dryRun?: boolean;
  /** Existing objects, with kind and apiVersion. */
  readonly cluster?: readonly object[];
  readonly clock?: Clock;
  /** Kinds besides those that are built in. */
  readonly kinds?: readonly Kind[];
}

export interface Admitted {
  /** The object afterwards. */
  readonly object: KubeObject & Readonly<Record<string, unknown>>;
  readonly warnings: readonly string[];
  readonly annotations: Readonly<Record<string, string>>;
  readonly error?: StatusError;
  /** The message of the refusal; "" if it was admitted. */
  readonly why: string;
}

export const ADMIN: UserInfo = { name: "admin", groups: ["system:masters"] };

export async function admit(plugin: AdmissionPlugin, attempt: Attempt): Promise<Admitted> {
  const warnings: string[] = [];
  const annotations: Record<string, string> = {};
  const object = structuredClone(attempt.object ?? {}) as Admitted["object"];
  const attributes = attributesOf(
    { ...attempt, ...(attempt.object !== undefined && { object }) },
    warnings,
    annotations,
  );
  const chain = admissionChain([plugin], viewOf(attempt));
  try {
    await chain.mutate(attributes);
    await chain.validate(attributes);
    return { object, warnings, annotations, why: "" };
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return { object, warnings, annotations, error, why: error.message.replace(/^\S+( "[^"]*")? is forbidden: /, "") };
  }
}

export function resourceOf(name: string, more: readonly Kind[] = []): Resource {
  const kind = [...builtIn, ...more].find((each) => nameOf(each) === name);
  if (kind === undefined) throw new Error(`there is no kind behind ${name}`);
  return new Resource(kind, new ResourceCache(storePrefixOf(kind)));
}

function nameOf({ group, names }: Kind): string {
  return group === "" ? names.plural : `${names.plural}.${group}`;
}

function attributesOf(attempt: Attempt, warnings: string[], annotations: Record<string, string>): AdmissionAttributes {
  const { resource: path = "pods", user = ADMIN, dryRun = false } = attempt;
  const [resource = "", subresource = ""] = path.split("/");
  const object = attempt.object as KubeObject | undefined;
  const old = attempt.old as KubeObject | undefined;
  const found = resourceOf(resource, attempt.kinds);
  return {
    operation: attempt.operation ?? (old === undefined ? "CREATE" : "UPDATE"),
    resource: found,
    subresource,
    namespace: found.kind.scope === "Namespaced" ? (attempt.namespace ?? "a") : "",
    name: attempt.name ?? object?.metadata?.name ?? old?.metadata.name ?? "",
    user,
    dryRun,
    ...(object !== undefined && { object }),
    ...(old !== undefined && { old }),
    warn: (message) => warnings.push(message),
    annotate: (key, value) => {
      annotations[key] = value;
    },
  };
}

function viewOf({ cluster = [], clock = new VirtualClock(), kinds = [] }: Attempt): ClusterView {
  const objects = cluster as readonly KubeObject[];
  const all = (group: string, version: string, plural: string) => {
    const kind = [...builtIn, ...kinds].find(
      (each) => each.group === group && each.version === version && each.names.plural === plural,
    );
    const apiVersion = group === "" ? version : `${group}/${version}`;
    return objects.filter((object) => object.kind === kind?.kind && object.apiVersion === apiVersion);
  };
  const inside = (namespace: string) => (object: KubeObject) => (object.metadata.namespace ?? "") === namespace;
  return {
    get: <T extends KubeObject>(group: string, version: string, plural: string, namespace: string, name: string) =>
      all(group, version, plural).find((object) => object.metadata.name === name && inside(namespace)(object)) as T,
    list: <T extends KubeObject>(group: string, version: string, plural: string) =>
      all(group, version, plural) as unknown as readonly T[],
    listIn: <T extends KubeObject>(group: string, version: string, plural: string, namespace: string) =>
      all(group, version, plural).filter(inside(namespace)) as unknown as readonly T[],
    fresh: async () => {},
    random: seededRandom(1),
    clock,
  };
}
