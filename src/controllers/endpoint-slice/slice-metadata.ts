/** How slices of a Service are named, labelled and owned. */
import type { core, ObjectMeta } from "#api";
import { ownedBy } from "../runtime/index.ts";
import { withTriggerTime } from "../services/index.ts";

export const SERVICE_NAME = "kubernetes.io/service-name";
export const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
export const HEADLESS = "service.kubernetes.io/headless";
export const MANAGER = "endpointslice-controller.k8s.io";

const RESERVED = new Set([SERVICE_NAME, MANAGED_BY, HEADLESS]);
/** Names are at most this long, and the generated end takes five. */
const MAX_PREFIX = 253;

/** The labels of the Service, and those by which slices are found. */
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

/** Whether a slice is this very Service's, and not one of the same name before it. */
export function isOwnedBy({ ownerReferences = [] }: ObjectMeta, { metadata }: core.Service): boolean {
  return ownerReferences.some(({ kind, uid }) => kind === "Service" && uid === metadata.uid);
}
