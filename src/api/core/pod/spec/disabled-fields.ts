/** Drops fields of feature gates that are off in v1.36, unless the old object has them. */
import type { Draft } from "../../../machinery/schema/object.ts";
import type { Container, Pod, PodSpec, VolumeProjection } from "../../../types/core-v1.ts";
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
  if (!allContainers(old ?? noContainers).some(({ lifecycle }) => lifecycle?.stopSignal !== undefined)) {
    for (const container of allContainers(spec)) dropStopSignal(container as Draft<typeof container>);
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

const noContainers: PodSpec = { containers: [] };

/** A lifecycle that had nothing else goes with it. */
function dropStopSignal(container: Pick<Draft<Container>, "lifecycle">): void {
  if (container.lifecycle?.stopSignal === undefined) return;
  const { stopSignal: _, ...lifecycle } = container.lifecycle;
  if (Object.keys(lifecycle).length > 0) container.lifecycle = lifecycle;
  else delete container.lifecycle;
}

function sources(spec: PodSpec | undefined): readonly VolumeProjection[] {
  return (spec?.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
}
