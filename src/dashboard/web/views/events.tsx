/** Events, newest first, live. */
import type { core } from "#api";
import { useCollection } from "../api/collection.ts";
import { EVENTS, referredPlace } from "../api/resources.ts";
import type { KubeObject } from "../api/watched.ts";
import { matching } from "../model/table.ts";
import { usePage } from "../page.ts";
import { Head } from "../parts/head.tsx";
import { Age, Notice, State } from "../parts/state.tsx";
import { Table, type TableColumn } from "../parts/table.tsx";
import { objectRoute } from "../route.ts";

export type ClusterEvent = core.Event & KubeObject;

export function lastSeen({ series, lastTimestamp, eventTime, metadata }: ClusterEvent): string {
  return series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? "";
}

const COLUMNS: readonly TableColumn<ClusterEvent>[] = [
  { title: "Last seen", width: "76px", key: lastSeen, cell: (event) => <Age since={lastSeen(event)} /> },
  {
    title: "Type",
    width: "92px",
    wide: true,
    key: ({ type }) => type ?? "",
    cell: ({ type = "" }) => <State tone={type === "Warning" ? "bad" : "quiet"} words={type} />,
  },
  { title: "Reason", width: "minmax(96px, 1.5fr)", key: ({ reason }) => reason ?? "", cell: ({ reason }) => reason },
  {
    title: "Object",
    width: "minmax(110px, 1.9fr)",
    wide: true,
    key: ({ involvedObject }) => `${involvedObject?.kind}/${involvedObject?.name}`,
    cell: ({ involvedObject }) => `${involvedObject?.kind}/${involvedObject?.name}`,
  },
  {
    title: "Message",
    width: "minmax(140px, 4fr)",
    key: ({ message }) => message ?? "",
    cell: ({ message }) => <span title={message}>{message}</span>,
  },
  {
    title: "Count",
    width: "64px",
    numeric: true,
    wide: true,
    key: ({ count, series }) => series?.count ?? count ?? 1,
    cell: ({ count, series }) => series?.count ?? count ?? 1,
  },
];

export function EventsView() {
  const page = usePage();
  const events = useCollection<ClusterEvent>(EVENTS, page.namespace.value);
  void events.version.value;
  const all = [...events.objects.values()];
  const found = matching(all, page.search.value, textOf);
  return (
    <section class="fill">
      <Head
        title="Events"
        count={found.length === all.length ? `${all.length}` : `${found.length} of ${all.length}`}
        search="Search events"
      />
      <Notice states={[events.state]} />
      <EventTable
        events={found}
        empty={events.state.value.phase === "loading" ? "Loading …" : "There are no events."}
      />
    </section>
  );
}

function textOf({ reason, message, type, involvedObject, metadata }: ClusterEvent): string {
  return `${type} ${reason} ${metadata.namespace} ${involvedObject?.kind}/${involvedObject?.name} ${message}`.toLowerCase();
}

export function EventTable({ events, empty }: { readonly events: readonly ClusterEvent[]; readonly empty: string }) {
  return (
    <Table
      label="Events"
      rows={events}
      columns={COLUMNS}
      order={{ column: 0, descending: true }}
      idOf={({ metadata }) => `${metadata.namespace}/${metadata.name}`}
      hrefOf={({ involvedObject }) => {
        const place = referredPlace(involvedObject ?? {}, involvedObject?.namespace ?? "");
        return place === undefined ? undefined : objectRoute(place);
      }}
      empty={empty}
    />
  );
}
