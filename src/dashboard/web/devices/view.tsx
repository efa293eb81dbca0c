/** Devices: those of ResourceSlices, claims of them, extended resources of nodes; a table of each. */
import type { ComponentType } from "preact";
import { usePage } from "../page.ts";
import { ClaimsTable, DevicesTable, ExtendedTable } from "./tables.tsx";

interface Part {
  readonly name: string;
  readonly title: string;
  readonly View: ComponentType;
}

const PARTS: readonly Part[] = [
  { name: "devices", title: "Devices", View: DevicesTable },
  { name: "claims", title: "Claims", View: ClaimsTable },
  { name: "extended", title: "Extended resources", View: ExtendedTable },
];

export function DevicesView() {
  const page = usePage();
  const route = page.route.value;
  const wanted = "query" in route ? route.query.get("of") : null;
  const part = PARTS.find(({ name }) => name === wanted) ?? PARTS[0];
  if (part === undefined) return null;
  return (
    <section class="fill">
      <nav class="tabs parts" aria-label="Parts of devices">
        {PARTS.map(({ name, title }) => (
          <a key={name} href={`#/devices?of=${name}`} aria-current={name === part.name ? "page" : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <part.View key={part.name} />
    </section>
  );
}
