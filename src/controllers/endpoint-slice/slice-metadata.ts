/** Names, labels and owner references of slices. */
import type { core, ObjectMeta } from "#api";
import { ownedBy } from "../runtime/index.ts";
import { withTriggerTime } from "../services/index.ts";

export const SERVICE_NAME = "kubernetes.io/service-name";
export const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
export const HEADLESS = "service.kubernetes.io/headless";
export const MANAGER = "endpointslice-controller.k8s.io";

const RESERVED = new Set([SERVICE_NAME, MANAGED_BY, HEADLESS]);
/** The maximum length of a name, without the five generated characters. */
const MAX_PREFIX = 253;

/** The Service's labels and the labels that identify slices. */
export function sliceLabels({ metadata, spec }: core.Service): Readonly<Record<string, string>> {
  const own = Object.entries(metadata.labels ?? {}).filter(([key]) => !RESERVED.has(key));
  const { clusterIP = "" } = spec ?? {};
  return {
    ...Object.fromEntries(own),
    ...((clusterIP === "" || clusterIP === "None") && { [HEADLESS]: "" }),
    [MANAGED_BY]: MANAGER,
    [SERVICE_NAME]: metadata.name ?? "",
  };
}

export function newSliceMetadata(service: core.Service, triggerTime: string | undefined): ObjectMeta {
  const { name = "", namespace = "" } = service.metadata;
  return {
    generateName: slicePrefix(name),
    namespace,
    labels: sliceLabels(service),
    annotations: withTriggerTime(undefined, triggerTime),
    ownerReferences: [ownedBy(service, { apiVersion: "v1", kind: "Service" })],
  };
}

export function slicePrefix(name: string): string {
  return name.length < MAX_PREFIX ? `${name}-` : name;
}

/** Whether a slice belongs to this Service and not to a former one of the same name. */
export function isOwnedBy({ ownerReferences = [] }: ObjectMeta, { metadata }: core.Service): boolean {
  return ownerReferences.some(({ kind, uid }) => kind === "Service" && uid === metadata.uid);
}
