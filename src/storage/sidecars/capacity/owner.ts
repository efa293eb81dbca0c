/**
 * Who owns CSIStorageCapacity objects: what the provisioner was deployed as, so that they go with it.
 *
 *     level 0: its Pod;  1: the Pod's controller, such as a StatefulSet;  2: that one's, such as a Deployment
 */
import { type KubeObject, kinds } from "#api";
import { table } from "#base";
import type { Client, ResourceOf } from "#client";
import { controllerOf } from "#controllers";

export type OwnerReference = NonNullable<KubeObject["metadata"]["ownerReferences"]>[number];

/** Those that have controllers of their own. */
const PARENTS = table<ResourceOf<KubeObject>>({ ReplicaSet: kinds.ReplicaSet, Job: kinds.Job });

/** `level`: how many objects lie between. Throws where there are not as many. */
export async function capacityOwner(
  client: Client,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  level: number,
  signal?: AbortSignal,
): Promise<OwnerReference> {
  let object: KubeObject = await client.of(kinds.Pod).in(namespace).get(name, { signal });
  let { uid = "" } = object.metadata;
  let owner: OwnerReference = { apiVersion: "v1", kind: "Pod", name, uid, controller: true };
  for (let above = 1; above <= level; above++) {
    if (above > 1) {
      const resource = PARENTS[owner.kind];
      if (resource === undefined)
        throw new Error(`${owner.kind} ${owner.name} has no controller that could own capacities`);
      object = await client.of(resource).in(namespace).get(owner.name, { signal });
    }
    const parent = controllerOf(object);
    if (parent === undefined)
      throw new Error(`${owner.kind} ${namespace}/${owner.name} has no controller: choose a lower level of owner`);
    ({ uid } = parent);
    owner = { apiVersion: parent.apiVersion, kind: parent.kind, name: parent.name, uid, controller: true };
  }
  return owner;
}
