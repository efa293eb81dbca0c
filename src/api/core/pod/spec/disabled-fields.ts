/** Drops fields of feature gates that are off in v1.36, unless the old object has them. */
import type { Draft } from "../../../machinery/schema/object.ts";
import type { Pod, PodSpec, VolumeProjection } from "../../../types/core-v1.ts";
import { allContainers } from "../fields/visit.ts";

/** ClusterTrustBundleProjection and PodCertificateRequest. */
const projections = ["clusterTrustBundle", "podCertificate"] as const;

export function dropDisabledFields(draft: Draft<Pod>, old?: Pod): void {
  // A spec that is identical to the old one adds nothing.
  if (draft.spec !== undefined && draft.spec !== old?.spec) dropDisabledSpecFields(draft.spec, old?.spec);
  dropDisabledStatusFields(draft, old);
}

export function dropDisabledSpecFields(spec: Draft<PodSpec>, old?: PodSpec): void {
  // GenericWorkload
  if (old?.schedulingGroup === undefined) delete spec.schedulingGroup;
  // ContainerStopSignals
  if (!hooks(old).some((lifecycle) => lifecycle?.stopSignal !== undefined)) {
    for (const lifecycle of hooks(spec))
      if (lifecycle !== undefined) delete (lifecycle as Draft<typeof lifecycle>).stopSignal;
  }
  if (spec.volumes === undefined) return;
  for (const name of projections) {
    if (sources(old).some((source) => source[name] !== undefined)) continue;
    for (const source of sources(spec)) delete (source as Draft<VolumeProjection>)[name];
  }
}

/** DRANodeAllocatableResources, ImageVolumeWithDigest. */
function dropDisabledStatusFields({ status }: Draft<Pod>, old: Pod | undefined): void {
  if (status === undefined) return;
  if (old?.status?.nodeAllocatableResourceClaimStatuses === undefined)
    delete status.nodeAllocatableResourceClaimStatuses;
  const statuses = [
    ...(status.initContainerStatuses ?? []),
    ...(status.containerStatuses ?? []),
    ...(status.ephemeralContainerStatuses ?? []),
  ];
  for (const container of statuses) for (const mount of container.volumeMounts ?? []) delete mount.volumeStatus;
}

function hooks(spec: PodSpec | undefined) {
  return spec === undefined ? [] : allContainers(spec).map(({ lifecycle }) => lifecycle);
}

function sources(spec: PodSpec | undefined): readonly VolumeProjection[] {
  return (spec?.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
}
