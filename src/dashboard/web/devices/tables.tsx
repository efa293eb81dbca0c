/** The tables of devices, of claims, and of extended resources. */
import type { ReadonlySignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { type Collection, type CollectionState, useCollection } from "../api/collection.ts";
import { DEVICE_CLAIMS, NODES, PODS, placeOf, type Resource, SLICES } from "../api/resources.ts";
import type { KubeObject } from "../api/watched.ts";
import { matching } from "../model/table.ts";
import { usePage } from "../page.ts";
import { Bar } from "../parts/bar.tsx";
import { Head } from "../parts/head.tsx";
import { Notice, State } from "../parts/state.tsx";
import { Table, type TableColumn } from "../parts/table.tsx";
import { objectRoute } from "../route.ts";
import type { Node } from "../views/nodes.tsx";
import type { Pod } from "../views/pods.tsx";
import {
  type Claim,
  type ClaimRow,
  claimRow,
  type DeviceRow,
  devicesOf,
  type ExtendedRow,
  extendedOf,
  type Holder,
  type Slice,
} from "./devices.ts";

/** Links to objects of one resource. */
function Links({ of, resource }: { readonly of: readonly Holder[]; readonly resource: Resource }) {
  if (of.length === 0) return <span class="dim">none</span>;
  return (
    <span title={of.map(({ namespace, name }) => `${namespace}/${name}`).join(", ")}>
      {of.map(({ namespace, name }, at) => (
        <>
          {at > 0 && ", "}
          <a tabIndex={-1} href={objectRoute(placeOf(resource, { metadata: { namespace, name } }))}>
            {name}
          </a>
        </>
      ))}
    </span>
  );
}

/** A column of text. */
function text<T>(title: string, width: string, of: (row: T) => string, wide = false): TableColumn<T> {
  return { title, width, wide, key: of, cell: (row) => <span title={of(row)}>{of(row)}</span> };
}

const DEVICE_COLUMNS: readonly TableColumn<DeviceRow>[] = [
  {
    title: "Device",
    width: "minmax(72px, 0.8fr)",
    key: ({ name }) => name,
    cell: ({ name, id }) => (
      <span class="name" title={id}>
        {name}
      </span>
    ),
  },
  {
    title: "Node",
    width: "minmax(66px, 0.8fr)",
    key: ({ node }) => node,
    cell: ({ node }) =>
      node === "" ? (
        <span class="dim">any</span>
      ) : (
        <a tabIndex={-1} href={objectRoute(placeOf(NODES, { metadata: { name: node } }))}>
          {node}
        </a>
      ),
  },
  {
    title: "Status",
    width: "minmax(84px, 1fr)",
    key: ({ state }) => state,
    cell: ({ tone, state }) => <State tone={tone} words={state} />,
  },
  {
    title: "Held by",
    width: "minmax(80px, 1.4fr)",
    key: ({ holders }) => holders.map(({ name }) => name).join(),
    cell: ({ holders }) => <Links of={holders} resource={DEVICE_CLAIMS} />,
  },
  text("Driver", "minmax(124px, 1.4fr)", ({ driver }) => driver, true),
  text("Attributes", "minmax(90px, 2fr)", ({ attributes }) => attributes, true),
  text("Capacity", "minmax(80px, 1.2fr)", ({ capacity }) => capacity, true),
  text("Taints", "minmax(70px, 1.6fr)", ({ taints }) => taints, true),
];

export function DevicesTable() {
  const slices = useCollection<Slice>(SLICES, "");
  const claims = useCollection<Claim>(DEVICE_CLAIMS, "");
  const pods = useCollection<Pod>(PODS, "");
  const all = devicesOf(seen(slices), seen(claims), seen(pods));
  return (
    <Found
      title="Devices"
      all={all}
      columns={DEVICE_COLUMNS}
      states={[slices.state, claims.state, pods.state]}
      textOf={(row) => [
        row.id,
        row.node,
        row.state,
        row.attributes,
        row.taints,
        ...row.holders.map(({ name }) => name),
      ]}
      idOf={({ id }) => id}
      hrefOf={({ slice }) => objectRoute(placeOf(SLICES, { metadata: { name: slice } }))}
      empty={slices.state.value.phase === "loading" ? "Loading …" : "No driver publishes devices."}
      order={{ column: 1, descending: false }}
    />
  );
}

const CLAIM_COLUMNS: readonly TableColumn<ClaimRow>[] = [
  {
    title: "Name",
    width: "minmax(100px, 2fr)",
    key: ({ claim }) => claim.metadata.name,
    cell: ({ claim }) => (
      <a tabIndex={-1} class="name" href={objectRoute(placeOf(DEVICE_CLAIMS, claim))} title={claim.metadata.name}>
        {claim.metadata.name}
      </a>
    ),
  },
  text("Namespace", "minmax(80px, 1fr)", ({ claim }) => claim.metadata.namespace ?? "", true),
  {
    title: "Status",
    width: "minmax(92px, 1fr)",
    key: ({ state }) => state,
    cell: ({ tone, state }) => <State tone={tone} words={state} />,
  },
  text("Wants", "minmax(80px, 1.3fr)", ({ wants }) => wants, true),
  text("Devices", "minmax(100px, 2fr)", ({ devices }) => devices, true),
  {
    title: "Pods",
    width: "minmax(70px, 1fr)",
    wide: true,
    key: ({ pods }) => pods.join(),
    cell: ({ pods, claim }) => (
      <Links of={pods.map((name) => ({ namespace: claim.metadata.namespace ?? "", name }))} resource={PODS} />
    ),
  },
  text("Conditions", "minmax(70px, 1.3fr)", ({ conditions }) => conditions, true),
  {
    title: "Why",
    width: "44px",
    key: () => "",
    cell: ({ claim }) => (
      <a
        tabIndex={-1}
        class="link-text"
        href={objectRoute(placeOf(DEVICE_CLAIMS, claim), "why")}
        aria-label={`Why ${claim.metadata.name}`}
      >
        Why
      </a>
    ),
  },
];

export function ClaimsTable() {
  const page = usePage();
  const claims = useCollection<Claim>(DEVICE_CLAIMS, page.namespace.value);
  return (
    <Found
      title="Claims"
      namespaced
      all={seen(claims).map(claimRow)}
      columns={CLAIM_COLUMNS}
      states={[claims.state]}
      textOf={({ claim: { metadata }, ...row }) => [
        ...[metadata.namespace ?? "", metadata.name, row.state, row.wants, row.devices, row.conditions, ...row.pods],
      ]}
      idOf={({ claim: { metadata } }) => `${metadata.namespace}/${metadata.name}`}
      hrefOf={({ claim }) => objectRoute(placeOf(DEVICE_CLAIMS, claim))}
      empty={claims.state.value.phase === "loading" ? "Loading …" : "There are no claims of devices here."}
    />
  );
}

const EXTENDED_COLUMNS: readonly TableColumn<ExtendedRow>[] = [
  text("Resource", "minmax(120px, 2fr)", ({ resource }) => resource),
  {
    title: "Node",
    width: "minmax(70px, 1fr)",
    key: ({ node }) => node,
    cell: ({ node }) => (
      <a tabIndex={-1} href={objectRoute(placeOf(NODES, { metadata: { name: node } }))}>
        {node}
      </a>
    ),
  },
  {
    title: "In use",
    width: "minmax(84px, 1.4fr)",
    key: ({ used }) => used,
    cell: ({ used, allocatable }) => <Bar value={used} of={allocatable} words={`${used} of ${allocatable}`} />,
  },
  {
    title: "Health",
    width: "minmax(80px, 1fr)",
    wide: true,
    key: ({ capacity, allocatable }) => capacity - allocatable,
    cell: ({ capacity, allocatable }) =>
      capacity > allocatable ? (
        <State tone="bad" words={`${capacity - allocatable} unhealthy`} />
      ) : (
        <State tone="good" words="all healthy" />
      ),
  },
  {
    title: "Pods",
    width: "minmax(80px, 2fr)",
    wide: true,
    key: ({ pods }) => pods.length,
    cell: ({ pods }) => <Links of={pods} resource={PODS} />,
  },
];

export function ExtendedTable() {
  const nodes = useCollection<Node>(NODES, "");
  const pods = useCollection<Pod>(PODS, "");
  return (
    <Found
      title="Extended resources"
      all={extendedOf(seen(nodes), seen(pods))}
      columns={EXTENDED_COLUMNS}
      states={[nodes.state, pods.state]}
      textOf={({ node, resource, pods: holding }) => [node, resource, ...holding.map(({ name }) => name)]}
      idOf={({ id }) => id}
      hrefOf={({ node }) => objectRoute(placeOf(NODES, { metadata: { name: node } }))}
      empty={nodes.state.value.phase === "loading" ? "Loading …" : "No node has extended resources."}
    />
  );
}

/** Its objects; the view is drawn again when they change. */
function seen<T extends KubeObject>(collection: Collection<T>): T[] {
  void collection.version.value;
  return [...collection.objects.values()];
}

interface FoundProps<T> {
  readonly title: string;
  readonly namespaced?: boolean;
  readonly all: readonly T[];
  readonly columns: readonly TableColumn<T>[];
  readonly states: readonly ReadonlySignal<CollectionState>[];
  readonly textOf: (row: T) => readonly string[];
  readonly idOf: (row: T) => string;
  readonly hrefOf: (row: T) => string;
  readonly empty: string;
  readonly order?: { readonly column: number; readonly descending: boolean };
}

function Found<T>({
  title,
  namespaced = false,
  all,
  states,
  textOf,
  empty,
  ...table
}: FoundProps<T>): ComponentChildren {
  const page = usePage();
  const rows = matching(all, page.search.value, (row) => textOf(row).join(" ").toLowerCase());
  const isForbidden = states.some(({ value }) => value.phase === "forbidden");
  const count = rows.length === all.length ? `${all.length}` : `${rows.length} of ${all.length}`;
  return (
    <>
      <Head title={title} count={count} search="Search these" namespaced={namespaced} />
      <Notice states={states} />
      <Table label={title} rows={rows} {...table} empty={isForbidden ? "You may not read these." : empty} />
    </>
  );
}
