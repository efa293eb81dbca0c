/** Releases of Helm: all of them, or the one that the URL names. */
import { useEffect, useMemo } from "preact/hooks";
import { useCollection } from "../api/collection.ts";
import { SECRETS } from "../api/resources.ts";
import type { KubeObject } from "../api/watched.ts";
import { matching } from "../model/table.ts";
import { usePage } from "../page.ts";
import { Head } from "../parts/head.tsx";
import { Age, Notice, State } from "../parts/state.tsx";
import { Table, type TableColumn } from "../parts/table.tsx";
import { releaseRoute } from "../route.ts";
import { Charts, type ChartText, keyOf } from "./reader.ts";
import { OWNED_BY_HELM, type ReleaseHistory, releasesOf, releaseTone } from "./release.ts";
import { ReleaseView } from "./release-view.tsx";

interface Row extends ReleaseHistory {
  readonly chart: ChartText | undefined;
}

const COLUMNS: readonly TableColumn<Row>[] = [
  {
    title: "Name",
    width: "minmax(90px, 2fr)",
    key: ({ newest }) => newest.name,
    cell: ({ newest: { namespace, name } }) => (
      <a tabIndex={-1} class="name" href={releaseRoute(namespace, name)}>
        {name}
      </a>
    ),
  },
  {
    title: "Namespace",
    width: "minmax(80px, 1.2fr)",
    wide: true,
    key: ({ newest }) => newest.namespace,
    cell: ({ newest }) => newest.namespace,
  },
  {
    title: "Status",
    width: "minmax(90px, 1.2fr)",
    key: ({ newest }) => newest.status,
    cell: ({ newest: { status } }) => <State tone={releaseTone(status)} words={status} />,
  },
  {
    title: "Chart",
    width: "minmax(90px, 2fr)",
    key: ({ chart }) => chart?.chart ?? "",
    cell: ({ chart }) => <span title={chart?.trouble || chart?.chart}>{chart?.chart || chart?.trouble || "…"}</span>,
  },
  {
    title: "App version",
    width: "minmax(70px, 1fr)",
    wide: true,
    key: ({ chart }) => chart?.app ?? "",
    cell: ({ chart }) => chart?.app,
  },
  {
    title: "Revision",
    width: "70px",
    numeric: true,
    wide: true,
    key: ({ newest }) => newest.revision,
    cell: ({ newest }) => newest.revision,
  },
  {
    title: "Changed",
    width: "70px",
    numeric: true,
    wide: true,
    key: ({ newest }) => newest.changed ?? "",
    cell: ({ newest }) => <Age since={newest.changed} />,
  },
];

export function ReleasesView() {
  const page = usePage();
  const route = page.route.value;
  const wanted = ("query" in route && route.query.get("release")) || "";
  const namespace = wanted === "" ? page.namespace.value : (wanted.split("/", 1)[0] ?? "");
  const secrets = useCollection<KubeObject>(SECRETS, namespace, { labels: OWNED_BY_HELM, metadataOnly: true });
  void secrets.version.value;
  const releases = releasesOf(secrets.objects.values());
  const isLoading = secrets.state.value.phase === "loading";
  if (wanted === "") return <ReleaseTable releases={releases} secrets={secrets.state} isLoading={isLoading} />;
  const release = releases.find(({ newest }) => `${newest.namespace}/${newest.name}` === wanted);
  return (
    <section class="fill">
      <Notice states={[secrets.state]} />
      {release !== undefined && "query" in route ? (
        <ReleaseView key={wanted} release={release} query={route.query} />
      ) : (
        <>
          <h1>{wanted.split("/").at(-1)}</h1>
          <p class={isLoading ? "dim" : "notice"}>{isLoading ? "Loading …" : `There is no release ${wanted}.`}</p>
        </>
      )}
    </section>
  );
}

interface TableProps {
  readonly releases: readonly ReleaseHistory[];
  readonly secrets: Parameters<typeof Notice>[0]["states"][number];
  readonly isLoading: boolean;
}

function ReleaseTable({ releases, secrets, isLoading }: TableProps) {
  const page = usePage();
  const charts = useMemo(() => new Charts(), []);
  void charts.version.value;
  const newest = releases.map((each) => each.newest);
  const keys = newest.map(keyOf).join(" ");
  useEffect(() => {
    const abort = new AbortController();
    void charts.read(newest, abort.signal);
    return () => abort.abort();
  }, [charts, keys]);
  const all = releases.map((each): Row => ({ ...each, chart: charts.of(each.newest) }));
  const found = matching(all, page.search.value, ({ newest: { namespace, name, status }, chart }) =>
    `${namespace} ${name} ${status} ${chart?.chart}`.toLowerCase(),
  );
  return (
    <section class="fill">
      <Head title="Releases" count={String(all.length)} search="Search releases" />
      <Notice states={[secrets]} />
      <Table
        label="Releases"
        rows={found}
        columns={COLUMNS}
        idOf={({ newest: { namespace, name } }) => `${namespace}/${name}`}
        hrefOf={({ newest: { namespace, name } }) => releaseRoute(namespace, name)}
        empty={isLoading ? "Loading …" : "There are no releases of Helm here."}
      />
    </section>
  );
}
