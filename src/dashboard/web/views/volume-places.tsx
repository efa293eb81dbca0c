/** Where volumes are and may be: attachments, drivers of nodes, capacity. */
import type { storage } from "#api";
import { ATTACHMENTS, CSI_CAPACITIES, CSI_NODES } from "../api/resources.ts";
import type { KubeObject } from "../api/watched.ts";
import { quantity } from "../model/quantity.ts";
import { attachmentState } from "../model/volume.ts";
import { ResourceTable } from "../parts/resource-table.tsx";
import { State } from "../parts/state.tsx";
import type { TableColumn } from "../parts/table.tsx";
import type { Attachment } from "./claim.tsx";

type CsiNode = storage.CSINode & KubeObject;
type Capacity = storage.CSIStorageCapacity & KubeObject;

const ATTACHMENT_COLUMNS: readonly TableColumn<Attachment>[] = [
  {
    title: "Status",
    width: "minmax(90px, 1.4fr)",
    key: (each) => attachmentState(each).word,
    cell: (each) => <State tone={attachmentState(each).tone} words={attachmentState(each).word} />,
  },
  { title: "Node", width: "minmax(70px, 1fr)", key: ({ spec }) => spec.nodeName, cell: ({ spec }) => spec.nodeName },
  {
    title: "Volume",
    width: "minmax(90px, 2fr)",
    wide: true,
    key: ({ spec }) => spec.source?.persistentVolumeName ?? "",
    cell: ({ spec }) => spec.source?.persistentVolumeName ?? "inline",
  },
  {
    title: "Driver",
    width: "minmax(90px, 1.5fr)",
    wide: true,
    key: ({ spec }) => spec.attacher,
    cell: ({ spec }) => spec.attacher,
  },
];

export const AttachmentsTable = () => (
  <ResourceTable<Attachment>
    title="Attachments"
    resource={ATTACHMENTS}
    columns={ATTACHMENT_COLUMNS}
    empty="No volume is attached."
  />
);

const driversOf = ({ spec }: CsiNode) =>
  spec.drivers
    .map(({ name, allocatable }) =>
      allocatable?.count === undefined ? name : `${name} (at most ${allocatable.count})`,
    )
    .join(", ");
const topologyOf = ({ spec }: CsiNode) =>
  [...new Set(spec.drivers.flatMap(({ topologyKeys = [] }) => topologyKeys))].join(", ");

const NODE_COLUMNS: readonly TableColumn<CsiNode>[] = [
  {
    title: "Drivers",
    width: "minmax(110px, 3fr)",
    key: driversOf,
    cell: (node) => <span title={driversOf(node)}>{driversOf(node) || <span class="dim">none</span>}</span>,
  },
  { title: "Topology", width: "minmax(90px, 2fr)", wide: true, key: topologyOf, cell: topologyOf },
];

export const CsiNodesTable = () => (
  <ResourceTable<CsiNode>
    title="Drivers of nodes"
    resource={CSI_NODES}
    columns={NODE_COLUMNS}
    empty="No node has registered."
  />
);

const placeText = ({ nodeTopology }: Capacity) =>
  Object.entries(nodeTopology?.matchLabels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(", ");

const CAPACITY_COLUMNS: readonly TableColumn<Capacity>[] = [
  {
    title: "Class",
    width: "minmax(70px, 1fr)",
    key: (each) => each.storageClassName,
    cell: (each) => each.storageClassName,
  },
  {
    title: "Free",
    width: "84px",
    numeric: true,
    key: ({ capacity }) => quantity(capacity),
    cell: ({ capacity }) => capacity,
  },
  {
    title: "Largest",
    width: "84px",
    numeric: true,
    wide: true,
    key: ({ maximumVolumeSize }) => quantity(maximumVolumeSize),
    cell: ({ maximumVolumeSize }) => maximumVolumeSize,
  },
  { title: "Where", width: "minmax(90px, 2fr)", wide: true, key: placeText, cell: placeText },
];

export const CapacitiesTable = () => (
  <ResourceTable<Capacity>
    title="Capacity"
    resource={CSI_CAPACITIES}
    columns={CAPACITY_COLUMNS}
    empty="No driver reports its capacity."
  />
);
