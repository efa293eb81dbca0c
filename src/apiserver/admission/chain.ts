/** The admission chain: plugins in the original's order. */
import type { KubeObject } from "#api";
import { fresh } from "../rest/read.ts";
import type { Resources } from "../rest/resources.ts";
import type { Admission, ServerContext } from "../rest/server-context.ts";
import { defaultTolerationSeconds } from "./default-toleration-seconds.ts";
import { namespaceLifecycle } from "./namespace-lifecycle.ts";
import type { AdmissionPlugin, ClusterView } from "./plugin.ts";
import { priority } from "./priority.ts";
import { serviceAccount } from "./service-account.ts";
import { storageObjectInUseProtection } from "./storage-object-in-use-protection.ts";
import { taintNodesByCondition } from "./taint-nodes-by-condition.ts";

export const defaultPlugins: readonly AdmissionPlugin[] = [
  namespaceLifecycle,
  serviceAccount,
  taintNodesByCondition,
  priority,
  defaultTolerationSeconds,
  storageObjectInUseProtection,
];

/** `context` is asked for when a request comes: the chain is a part of it. */
export function admissionChain(
  plugins: readonly AdmissionPlugin[],
  resources: Resources,
  context: () => ServerContext,
): Admission {
  const mutating = plugins.filter(({ mutate }) => mutate !== undefined);
  const validating = plugins.filter(({ validate }) => validate !== undefined);
  const view: ClusterView = {
    get: <T extends KubeObject>(group: string, version: string, plural: string, namespace: string, name: string) => {
      const resource = resources.find(group, version, plural);
      const stored = resource?.cache.get(resource.suffix(namespace, name));
      return stored === undefined ? undefined : (resource?.read(stored) as T);
    },
    *list<T extends KubeObject>(group: string, version: string, plural: string) {
      const resource = resources.find(group, version, plural);
      for (const stored of resource?.cache.snapshot().values() ?? []) yield resource?.read(stored) as T;
    },
    fresh: () => fresh(context()),
    get random() {
      return context().random;
    },
  };
  return {
    mutate: (attributes) => inTurn(mutating, (plugin) => plugin.mutate?.(attributes, view)),
    validate: (attributes) => inTurn(validating, (plugin) => plugin.validate?.(attributes, view)),
  };
}

/** Most plugins have nothing to wait for: only those that do cost a turn. */
async function inTurn(
  plugins: readonly AdmissionPlugin[],
  run: (plugin: AdmissionPlugin) => void | Promise<void>,
): Promise<void> {
  for (const plugin of plugins) {
    const pending = run(plugin);
    if (pending !== undefined) await pending;
  }
}
