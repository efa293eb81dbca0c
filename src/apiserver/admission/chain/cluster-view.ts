/** What plugins see of the cluster: the caches of this server. */
import type { KubeObject } from "#api";
import { fresh } from "../../rest/read/fresh.ts";
import type { Resources } from "../../rest/resources.ts";
import type { StorageContext } from "../../rest/server-context.ts";
import type { ClusterView } from "./plugin.ts";

export function clusterView(resources: Resources, storage: StorageContext): ClusterView {
  return {
    get: <T extends KubeObject>(group: string, version: string, plural: string, namespace: string, name: string) => {
      const resource = resources.find(group, version, plural);
      const stored = resource?.cache.get(resource.suffix(namespace, name));
      return stored === undefined ? undefined : (resource?.read(stored) as T);
    },
    *list<T extends KubeObject>(group: string, version: string, plural: string) {
      const resource = resources.find(group, version, plural);
      if (resource === undefined || resource.cache.size === 0) return;
      for (const stored of resource.readable()) yield resource.read(stored) as T;
    },
    listIn<T extends KubeObject>(group: string, version: string, plural: string, namespace: string) {
      const resource = resources.find(group, version, plural);
      if (resource === undefined || resource.cache.size === 0) return [];
      const inside = resource.readable({ from: `${namespace}/`, before: `${namespace}0` });
      return [...inside].map((stored) => resource.read(stored) as T);
    },
    fresh: () => fresh(storage),
    random: storage.random,
    clock: storage.clock,
  };
}
