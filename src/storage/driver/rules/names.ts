/** What the driver and its parts are called. */

export const DRIVER_NAME = "local.csi.k8ts.dev";
/** Its value is a node's name: volumes live on the disk of the node that made them. */
export const TOPOLOGY_KEY = `topology.${DRIVER_NAME}/node`;

/** Facts about claims and Pods that Kubernetes adds; the driver does not need them. */
const OF_KUBERNETES = "csi.storage.k8s.io/";
export const EPHEMERAL = `${OF_KUBERNETES}ephemeral`;

/** Parameters and attributes that are meant for the driver. */
export function ownKeys(map: Readonly<Record<string, string>>): string[] {
  return Object.keys(map).filter((key) => !key.startsWith(OF_KUBERNETES));
}

/** The id of an inline volume comes from the kubelet, and becomes the name of a file. */
export function isFileName(id: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id);
}
