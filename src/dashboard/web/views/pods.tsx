/** All Pods, live. */
import { useMemo } from "preact/hooks";
import type { core } from "#api";
import { useCollection } from "../api/collection.ts";
import { NODES, PODS, placeOf } from "../api/resources.ts";
import { type Usage, useUsage } from "../api/usage.ts";
import type { KubeObject } from "../api/watched.ts";
import { type PodSummary, podSummary } from "../model/pod.ts";
import { bytes, cores } from "../model/quantity.ts";
import { matching } from "../model/table.ts";
import { usePage } from "../page.ts";
import { Head } from "../parts/head.tsx";
import { Sparkline } from "../parts/sparkline.tsx";
import { Age, Notice, State } from "../parts/state.tsx";
import { Table, type TableColumn } from "../parts/table.tsx";
import { objectRoute } from "../route.ts";

export type Pod = core.Pod & KubeObject;

interface Row extends PodSummary {
  readonly pod: Pod;
  readonly id: string;
  /** The searched text. */
  readonly text: string;
}

/** An object at one revision is one value: derived values are computed once. */
const rows = new WeakMap<Pod, Row>();

export function podRow(pod: Pod): Row {
  const known = rows.get(pod);
  if (known !== undefined) return known;
  const { metadata, spec, status } = pod;
  const summary = podSummary(pod);
  const words = [
    metadata.namespace,
    metadata.name,
    summary.word,
    spec?.nodeName,
    status?.podIP,
    ...Object.entries(metadata.labels ?? {}).map((pair) => pair.join("=")),
  ];
  const row = { ...summary, pod, id: `${metadata.namespace}/${metadata.name}`, text: words.join(" ").toLowerCase() };
  rows.set(pod, row);
  return row;
}

export const POD_COLUMNS: readonly TableColumn<Row>[] = [
  {
    title: "Name",
    width: "minmax(104px, 3fr)",
    key: ({ pod }) => pod.metadata.name,
    cell: ({ pod }) => (
      <a tabIndex={-1} class="name" href={objectRoute(placeOf(PODS, pod))}>
        {pod.metadata.name}
      </a>
    ),
  },
  {
    title: "Namespace",
    width: "minmax(72px, 1.2fr)",
    wide: true,
    key: ({ pod }) => pod.metadata.namespace ?? "",
    cell: ({ pod }) => pod.metadata.namespace,
  },
  {
    title: "Status",
    width: "minmax(152px, 1.6fr)",
    key: ({ word }) => word,
    cell: ({ word, tone }) => <State tone={tone} words={word} />,
  },
  {
    title: "Ready",
    width: "52px",
    wide: true,
    numeric: true,
    key: ({ ready }) => ready,
    cell: ({ ready, containers }) => `${ready}/${containers}`,
  },
  {
    title: "Restarts",
    width: "66px",
    numeric: true,
    wide: true,
    key: ({ restarts }) => restarts,
    cell: ({ restarts }) => restarts,
  },
  {
    title: "Node",
    width: "minmax(64px, 1fr)",
    wide: true,
    key: ({ pod }) => pod.spec?.nodeName ?? "",
    cell: ({ pod }) =>
      pod.spec?.nodeName !== undefined && (
        <a
          tabIndex={-1}
          href={objectRoute({ ...placeOf(NODES, { metadata: { name: pod.spec.nodeName } }) })}
          onClick={(event) => event.stopPropagation()}
        >
          {pod.spec.nodeName}
        </a>
      ),
  },
  {
    title: "IP",
    width: "104px",
    wide: true,
    key: ({ pod }) => pod.status?.podIP ?? "",
    cell: ({ pod }) => <code>{pod.status?.podIP}</code>,
  },
  {
    title: "Age",
    width: "56px",
    numeric: true,
    key: ({ pod }) => pod.metadata.creationTimestamp ?? "",
    cell: ({ pod }) => <Age since={pod.metadata.creationTimestamp} />,
  },
];

/** Only rows in sight are drawn: their points are looked up then. */
export function podColumns(usage: Usage): readonly TableColumn<Row>[] {
  const column = (title: string, figures: Usage["cpu"], words: (value: number) => string): TableColumn<Row> => ({
    title,
    width: "minmax(76px, 1fr)",
    wide: true,
    key: ({ id }) => figures.last(id) ?? 0,
    cell: ({ id }) => <Sparkline points={figures.of(id)} title={title} words={words} />,
  });
  return POD_COLUMNS.flatMap((each) =>
    each.title === "Node" ? [column("CPU", usage.cpu, cores), column("Memory", usage.memory, bytes), each] : [each],
  );
}

export function PodsView() {
  const page = usePage();
  const pods = useCollection<Pod>(PODS, page.namespace.value);
  void pods.version.value;
  const all = Array.from(pods.objects.values(), podRow);
  const found = matching(all, page.search.value, ({ text }) => text);
  const count = found.length === all.length ? `${all.length}` : `${found.length} of ${all.length}`;
  const usage = useUsage(page.namespace.value);
  const withUsage = useMemo(() => podColumns(usage), [usage]);
  const columns = page.namespace.value === "" ? withUsage : withUsage.filter(({ title }) => title !== "Namespace");
  return (
    <section class="fill">
      <Head title="Pods" count={count} search="Search Pods" />
      <Notice states={[pods.state]} />
      <Table
        label="Pods"
        rows={found}
        columns={columns}
        idOf={({ id }) => id}
        hrefOf={({ pod }) => objectRoute(placeOf(PODS, pod))}
        empty={
          pods.state.value.phase === "loading"
            ? "Loading …"
            : page.search.value === ""
              ? "There are no Pods here."
              : "No Pod matches."
        }
      />
    </section>
  );
}
