/**
 * The number of Pods that owners want: of ReplicaSets (and their Deployments), StatefulSets and ReplicationControllers
 * from the caches, of all other owners from their scale subresource.
 */
import { isStatusError, type KubeObject, kinds, type OwnerReference } from "#api";
import {
  type Client,
  type DiscoveredResource,
  discoverResources,
  type ReadonlyCache,
  type ResourceName,
} from "#client";
import type { Pod } from "../pods/index.ts";
import { type ControllerContext, controllerOf, groupOf } from "../runtime/index.ts";
import type { Expected } from "./plan.ts";

interface Scaled extends KubeObject {
  readonly spec?: { readonly replicas?: number };
}

interface Scale {
  readonly uid: string;
  readonly replicas: number;
}

export interface Owners {
  expected(pods: readonly Pod[], signal: AbortSignal): Promise<Expected>;
}

export function ownersOfPods({ cache, client }: Pick<ControllerContext, "cache" | "client">): Owners {
  const deployments = cache(kinds.Deployment);
  const known: ReadonlyMap<string, ReadonlyCache<Scaled>> = new Map<string, ReadonlyCache<Scaled>>([
    ["apps ReplicaSet", cache(kinds.ReplicaSet)],
    ["extensions ReplicaSet", cache(kinds.ReplicaSet)],
    ["apps StatefulSet", cache(kinds.StatefulSet)],
    [" ReplicationController", cache(kinds.ReplicationController)],
  ]);

  const scales = scalesByApi(client);
  const scaleOf = async (owner: OwnerReference, namespace: string, signal: AbortSignal) => {
    const found = known.get(`${groupOf(owner.apiVersion)} ${owner.kind}`)?.get(`${namespace}/${owner.name}`);
    if (found === undefined || found.metadata.uid !== owner.uid) return scales(owner, namespace, signal);
    const above = controllerOf(found);
    const deployment = above?.kind === "Deployment" ? deployments.get(`${namespace}/${above.name}`) : undefined;
    return replicasOf(deployment !== undefined && deployment.metadata.uid === above?.uid ? deployment : found);
  };

  return {
    async expected(pods, signal) {
      const counts = new Map<string, number>();
      const unmanaged: string[] = [];
      const asked = new Set<string>();
      for (const pod of pods) {
        const { name = "", namespace = "" } = pod.metadata;
        const owner = controllerOf(pod);
        if (owner === undefined) unmanaged.push(name);
        if (owner === undefined || asked.has(owner.uid)) continue;
        asked.add(owner.uid);
        const scale = await scaleOf(owner, namespace, signal);
        if (typeof scale === "string") return { ok: false, why: scale };
        if (scale === undefined) return { ok: false, why: `found no controllers for pod "${name}"` };
        counts.set(scale.uid, scale.replicas);
      }
      return { ok: true, count: [...counts.values()].reduce((sum, each) => sum + each, 0), unmanaged };
    },
  };
}

function replicasOf({ metadata, spec }: Scaled): Scale {
  return { uid: metadata.uid ?? "", replicas: spec?.replicas ?? 1 };
}

/** A string is the reason for a failure; undefined: there is no such owner. */
function scalesByApi(client: Client) {
  /** Resource names by kind: they do not change while the kind exists. */
  const known = new Map<string, DiscoveredResource>();

  const resourceOf = async ({ apiVersion, kind }: OwnerReference, signal: AbortSignal) => {
    const key = `${apiVersion} ${kind}`;
    const found =
      known.get(key) ??
      (await discoverResources(client, { signal })).resources.find(
        (each) => each.group === groupOf(apiVersion) && each.kind === kind && each.namespaced,
      );
    if (found !== undefined) known.set(key, found);
    return found;
  };

  return async (owner: OwnerReference, namespace: string, signal: AbortSignal): Promise<Scale | string | undefined> => {
    const { apiVersion, kind, name, uid } = owner;
    const resource = await resourceOf(owner, signal);
    if (resource === undefined) return `no matches for kind "${kind}" in version "${apiVersion}"`;
    try {
      const scale = await client.of<Scaled>(resource).in(namespace).subresource(name, "scale").get({ signal });
      return scale.metadata.uid === uid ? { uid, replicas: scale.spec?.replicas ?? 0 } : undefined;
    } catch (error) {
      if (!isStatusError(error) || error.reason !== "NotFound") throw error;
      if (await hasScale(client, resource, signal)) return undefined;
      const { plural, group } = resource;
      return `${plural}${group === "" ? "" : `.${group}`} does not implement the scale subresource`;
    }
  };
}

async function hasScale(client: Client, { apiVersion, plural }: ResourceName, signal: AbortSignal): Promise<boolean> {
  const path = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const list = JSON.parse(await client.text(path, { signal })) as { resources?: readonly { name: string }[] };
  return (list.resources ?? []).some(({ name }) => name === `${plural}/scale`);
}
