/** The API objects that Pods refer to. */
import { type core, isStatusError, kinds, type resource } from "#api";
import { type Client, Informer } from "#client";
import { podReferences } from "./references.ts";
import { WatchedObjects, type WatchedObjectsOptions } from "./watched-objects.ts";

export interface PodObjects {
  configMap(namespace: string, name: string): Promise<core.ConfigMap | undefined>;
  secret(namespace: string, name: string): Promise<core.Secret | undefined>;
  /** Of the namespace, and of `default`, where the API server's Service is. */
  services(namespace: string): readonly core.Service[];
  /** Read from the API each time: it is asked for once before a Pod starts. Throws if there is none. */
  resourceClaim(namespace: string, name: string): Promise<resource.ResourceClaim>;
  /** The handler of a RuntimeClass. Throws if there is no such class. */
  runtimeHandler(runtimeClass: string): Promise<string>;
}

export interface WatchedPodObjects extends PodObjects {
  /** The Pod is new or has changed: watch what it refers to. */
  refer(pod: core.Pod): void;
  /** The Pod is gone. */
  release(uid: string): void;
  run(signal: AbortSignal): Promise<void>;
}

export function podObjects(options: WatchedObjectsOptions): WatchedPodObjects {
  const { client, clock, random, log } = options;
  const services = new Informer<core.Service>({ client: client.of(kinds.Service), clock, random, log });
  const configMaps = new WatchedObjects(kinds.ConfigMap, options);
  const secrets = new WatchedObjects(kinds.Secret, options);
  return {
    configMap: (namespace, name) => configMaps.get(namespace, name),
    secret: (namespace, name) => secrets.get(namespace, name),
    services(namespace) {
      if (!services.hasSynced)
        throw new Error("services have not yet been read at least once, cannot construct envvars");
      const others = namespace === "default" ? [] : services.cache.inNamespace("default");
      return [...others, ...services.cache.inNamespace(namespace)];
    },
    resourceClaim: (namespace, name) => client.of(kinds.ResourceClaim).in(namespace).get(name),
    runtimeHandler: (name) => handlerOf(client, name),
    refer(pod) {
      const references = podReferences(pod);
      configMaps.refer(pod, references.configMaps);
      secrets.refer(pod, references.secrets);
    },
    release(uid) {
      configMaps.release(uid);
      secrets.release(uid);
    },
    run: (signal) => services.run(signal),
  };
}

async function handlerOf(client: Client, name: string): Promise<string> {
  try {
    return (await client.of(kinds.RuntimeClass).get(name)).handler;
  } catch (error) {
    if (isStatusError(error) && error.reason === "NotFound")
      throw new Error(`RuntimeClass "${name}" not found`, { cause: error });
    throw error;
  }
}
