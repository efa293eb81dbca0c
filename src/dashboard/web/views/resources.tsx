/** Every resource of the server, including custom ones, in the columns that the server prints. */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useCollection } from "../api/collection.ts";
import { useDiscovered } from "../api/discovery.ts";
import { ask, wordsOf } from "../api/request.ts";
import { listPath, type Resource } from "../api/resources.ts";
import { type ServerRow, type ServerTable, TABLE } from "../api/server-table.ts";
import { matching } from "../model/table.ts";
import { usePage } from "../page.ts";
import { Head } from "../parts/head.tsx";
import { Notice } from "../parts/state.tsx";
import { Table, type TableColumn } from "../parts/table.tsx";
import { objectRoute } from "../route.ts";
import { sleep } from "../time.ts";

const REPRINT_MS = 400;

export function ResourcesView() {
  const page = usePage();
  const route = page.route.value;
  const wanted = "query" in route ? (route.query.get("of") ?? "configmaps") : "configmaps";
  const words = useSignal("");
  const count = useSignal<number | undefined>(undefined);
  const resources =
    useDiscovered((error) => {
      words.value = wordsOf(error);
    })?.resources ?? [];
  const resource = resources.find((each) => nameOf(each) === wanted);
  return (
    <section class="fill">
      <Head
        title="Resources"
        count={count.value === undefined ? undefined : String(count.value)}
        search="Search these"
        namespaced={resource?.namespaced ?? true}
      >
        <select
          aria-label="Resource"
          value={wanted}
          onChange={({ currentTarget }) => {
            location.hash = `#/resources?of=${encodeURIComponent(currentTarget.value)}`;
          }}
        >
          {resources.map((each) => (
            <option key={nameOf(each)} value={nameOf(each)}>
              {nameOf(each)}
            </option>
          ))}
        </select>
      </Head>
      {words.value !== "" && <p class="notice">{words.value}</p>}
      {resource !== undefined && <ResourceTable key={wanted} resource={resource} count={count} />}
    </section>
  );
}

/** Fetched again as a table when a watch reports a change. */
function ResourceTable({
  resource,
  count,
}: {
  readonly resource: Resource;
  readonly count: Signal<number | undefined>;
}) {
  const page = usePage();
  const namespace = page.namespace.value;
  const objects = useCollection(resource, resource.namespaced ? namespace : "");
  const table = useSignal<ServerTable | undefined>(undefined);
  const version = objects.version.value;
  useEffect(() => {
    const abort = new AbortController();
    void sleep(table.peek() === undefined ? 0 : REPRINT_MS, abort.signal).then(async () => {
      if (abort.signal.aborted) return;
      // Errors here also occur on the watch, which reports them.
      const answer = await ask<ServerTable>(listPath(resource, namespace), {
        accept: TABLE,
        signal: abort.signal,
      }).catch(() => undefined);
      if (answer !== undefined) table.value = answer;
    });
    return () => abort.abort();
  }, [resource, namespace, version, table]);
  const rows = matching(table.value?.rows ?? [], page.search.value, ({ cells, object }) =>
    `${object.metadata.namespace} ${cells.join(" ")}`.toLowerCase(),
  );
  useEffect(() => {
    count.value = table.value === undefined ? undefined : rows.length;
  }, [count, rows.length, table.value]);
  return (
    <>
      <Notice states={[objects.state]} />
      {table.value !== undefined && (
        <Table
          label={nameOf(resource)}
          rows={rows}
          columns={columnsOf(table.value, resource.namespaced && namespace === "")}
          idOf={({ object }) => `${object.metadata.namespace}/${object.metadata.name}`}
          hrefOf={({ object: { metadata } }) => {
            const { group, version: inVersion, plural } = resource;
            return objectRoute({
              group,
              version: inVersion,
              plural,
              namespace: metadata.namespace ?? "",
              name: metadata.name,
            });
          }}
          empty="There are none."
        />
      )}
    </>
  );
}

function nameOf({ plural, group }: Resource): string {
  return group === "" ? plural : `${plural}.${group}`;
}

function columnsOf({ columnDefinitions }: ServerTable, withNamespace: boolean): TableColumn<ServerRow>[] {
  const columns = columnDefinitions.flatMap(({ name, priority, type }, at): TableColumn<ServerRow>[] =>
    priority > 0
      ? []
      : [
          {
            title: name,
            width: at === 0 ? "minmax(140px, 2fr)" : "minmax(64px, 1fr)",
            wide: at > 2,
            numeric: type === "integer" || type === "number",
            key: ({ cells }) => {
              const cell = cells[at];
              return typeof cell === "number" ? cell : String(cell ?? "");
            },
            cell: ({ cells }) => <span class={at === 0 ? "name" : ""}>{String(cells[at] ?? "")}</span>,
          },
        ],
  );
  const [first, ...rest] = columns;
  const namespace: TableColumn<ServerRow> = {
    title: "Namespace",
    width: "minmax(80px, 1fr)",
    wide: true,
    key: ({ object }) => object.metadata.namespace ?? "",
    cell: ({ object }) => object.metadata.namespace,
  };
  return withNamespace && first !== undefined ? [first, namespace, ...rest] : columns;
}
