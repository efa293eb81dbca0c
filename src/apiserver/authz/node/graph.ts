/**
 * Which objects concern which nodes, maintained from events, so that a decision is a few look-ups.
 *
 *     secret, configmap, pvc, service account, resource claim ──► pod ──► node
 *     pv ──► pvc        secret ──► pv ──► pvc        volume attachment, resource slice ──► node
 *
 * References are counted: the right ends with the last one.
 */
import type { KubeObject } from "#api";
import type { Follower } from "../../loopback/follow.ts";
import {
  type PersistentVolume,
  type Pod,
  podReferences,
  type Reference,
  type ReferredKind,
  type VolumeReferences,
  volumeReferences,
} from "./references.ts";

/** The kinds that depend on the graph. */
export type Vertex = ReferredKind | "pod" | "pv" | "volumeattachment" | "resourceslice";

interface KnownPod {
  readonly uid: string;
  readonly node: string;
  readonly ephemeralContainers: number;
  readonly claims: string;
  readonly references: readonly Reference[];
}

export class NodeGraph {
  /** How many Pods on each node refer to an object. */
  readonly #needed = new Map<string, Map<string, number>>();
  readonly #pods = new Map<string, KnownPod>();
  readonly #volumes = new Map<string, VolumeReferences>();
  readonly #volumesOfSecret = new Map<string, Set<string>>();
  readonly #nodeOf = { volumeattachment: new Map<string, string>(), resourceslice: new Map<string, string>() };

  concerns(node: string, kind: Vertex, namespace: string, name: string): boolean {
    switch (kind) {
      case "pod":
        return this.#pods.get(`${namespace}/${name}`)?.node === node;
      case "volumeattachment":
      case "resourceslice":
        return this.#nodeOf[kind].get(name) === node;
      case "pv":
        return this.#needsVolume(node, name);
      case "secret": {
        const key = keyOf(kind, namespace, name);
        if (this.#needs(node, key)) return true;
        for (const volume of this.#volumesOfSecret.get(key) ?? []) if (this.#needsVolume(node, volume)) return true;
        return false;
      }
      default:
        return this.#needs(node, keyOf(kind, namespace, name));
    }
  }

  readonly pods: Follower = {
    clear: () => {
      for (const key of [...this.#pods.keys()]) this.pods.delete(key);
    },
    set: (key, object) => this.#setPod(key, object as Pod),
    delete: (key) => {
      const pod = this.#pods.get(key);
      if (pod === undefined) return;
      this.#pods.delete(key);
      for (const reference of pod.references) this.#count(reference, pod.node, -1);
    },
  };

  readonly volumes: Follower = {
    clear: () => {
      this.#volumes.clear();
      this.#volumesOfSecret.clear();
    },
    set: (name, object) => {
      this.volumes.delete(name);
      const references = volumeReferences(object as PersistentVolume);
      if (references === undefined) return;
      this.#volumes.set(name, references);
      for (const secret of references.secrets) {
        const key = keyOf("secret", secret.namespace, secret.name);
        this.#volumesOfSecret.set(key, (this.#volumesOfSecret.get(key) ?? new Set<string>()).add(name));
      }
    },
    delete: (name) => {
      for (const secret of this.#volumes.get(name)?.secrets ?? []) {
        const key = keyOf("secret", secret.namespace, secret.name);
        const volumes = this.#volumesOfSecret.get(key);
        volumes?.delete(name);
        if (volumes?.size === 0) this.#volumesOfSecret.delete(key);
      }
      this.#volumes.delete(name);
    },
  };

  readonly attachments = followNodeName(this.#nodeOf.volumeattachment);
  readonly slices = followNodeName(this.#nodeOf.resourceslice);

  #setPod(key: string, pod: Pod): void {
    const node = pod.spec?.nodeName ?? "";
    if (node === "") {
      this.pods.delete(key);
      return;
    }
    const known = this.#pods.get(key);
    const next = {
      uid: pod.metadata.uid ?? "",
      node,
      ephemeralContainers: pod.spec?.ephemeralContainers?.length ?? 0,
      claims: claimsOf(pod),
    };
    // Other references of a Pod never change; most updates concern its status.
    if (
      known !== undefined &&
      known.uid === next.uid &&
      known.node === node &&
      known.ephemeralContainers === next.ephemeralContainers &&
      known.claims === next.claims
    )
      return;
    this.pods.delete(key);
    const references = podReferences(pod);
    this.#pods.set(key, { ...next, references });
    for (const reference of references) this.#count(reference, node, 1);
  }

  #needs(node: string, key: string): boolean {
    return this.#needed.get(key)?.has(node) === true;
  }

  #needsVolume(node: string, name: string): boolean {
    const claim = this.#volumes.get(name)?.claim;
    return claim !== undefined && this.#needs(node, keyOf("pvc", claim.namespace, claim.name));
  }

  #count({ kind, namespace, name }: Reference, node: string, by: 1 | -1): void {
    const key = keyOf(kind, namespace, name);
    const nodes = this.#needed.get(key) ?? new Map<string, number>();
    this.#needed.set(key, nodes);
    const count = (nodes.get(node) ?? 0) + by;
    if (count > 0) nodes.set(node, count);
    else nodes.delete(node);
    if (nodes.size === 0) this.#needed.delete(key);
  }
}

function keyOf(kind: ReferredKind, namespace: string, name: string): string {
  return `${kind}:${namespace}/${name}`;
}

/** The part of a Pod's status that names its claims. */
function claimsOf({ status = {} }: Pod): string {
  const { resourceClaimStatuses, extendedResourceClaimStatus } = status;
  if (resourceClaimStatuses === undefined && extendedResourceClaimStatus === undefined) return "";
  return JSON.stringify([resourceClaimStatuses, extendedResourceClaimStatus?.resourceClaimName]);
}

function followNodeName(nodes: Map<string, string>): Follower {
  return {
    clear: () => nodes.clear(),
    set: (name, object) => {
      const { nodeName = "" } = (object as KubeObject & { spec?: { nodeName?: string } }).spec ?? {};
      if (nodeName === "") nodes.delete(name);
      else nodes.set(name, nodeName);
    },
    delete: (name) => void nodes.delete(name),
  };
}
