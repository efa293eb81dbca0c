/** Storage: claims, volumes, classes, snapshots, attachments, drivers of nodes, free capacity; a table of each. */
import type { ComponentType } from "preact";
import { useDiscovered } from "../api/discovery.ts";
import { SNAPSHOTS } from "../api/resources.ts";
import { usePage } from "../page.ts";
import { AttachmentsTable, CapacitiesTable, CsiNodesTable } from "./volume-places.tsx";
import { ClaimsTable, ClassesTable, SnapshotsTable, VolumesTable } from "./volume-tables.tsx";

interface Part {
  readonly name: string;
  readonly title: string;
  readonly View: ComponentType;
}

const PARTS: readonly Part[] = [
  { name: "claims", title: "Claims", View: ClaimsTable },
  { name: "volumes", title: "Volumes", View: VolumesTable },
  { name: "classes", title: "Classes", View: ClassesTable },
  { name: "snapshots", title: "Snapshots", View: SnapshotsTable },
  { name: "attachments", title: "Attachments", View: AttachmentsTable },
  { name: "nodes", title: "Drivers of nodes", View: CsiNodesTable },
  { name: "capacity", title: "Capacity", View: CapacitiesTable },
];

export function VolumesView() {
  const page = usePage();
  const route = page.route.value;
  const wanted = ("query" in route && route.query.get("of")) || "claims";
  // Without discovery there is one part less.
  const hasSnapshots = useDiscovered()?.resources.some(
    ({ group, plural }) => group === SNAPSHOTS.group && plural === SNAPSHOTS.plural,
  );
  const parts = PARTS.filter(({ name }) => name !== "snapshots" || hasSnapshots === true);
  const part = parts.find(({ name }) => name === wanted) ?? PARTS[0];
  if (part === undefined) return null;
  return (
    <section class="fill">
      <nav class="tabs parts" aria-label="Parts of storage">
        {parts.map(({ name, title }) => (
          <a key={name} href={`#/volumes?of=${name}`} aria-current={name === part.name ? "page" : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <part.View key={part.name} />
    </section>
  );
}
