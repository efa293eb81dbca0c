/** All autoscalers, live: what they measure, what they want, what they have. */
import { useCollection } from "../api/collection.ts";
import { AUTOSCALERS, placeOf } from "../api/resources.ts";
import { autoscalerState, metricsText } from "../model/autoscaler.ts";
import { matching } from "../model/table.ts";
import { usePage } from "../page.ts";
import { Bar } from "../parts/bar.tsx";
import { Head } from "../parts/head.tsx";
import { Age, Notice, State } from "../parts/state.tsx";
import { Table, type TableColumn } from "../parts/table.tsx";
import { objectRoute } from "../route.ts";
import type { Autoscaler } from "./autoscaler.tsx";

const COLUMNS: readonly TableColumn<Autoscaler>[] = [
  {
    title: "Name",
    width: "minmax(90px, 1.6fr)",
    key: ({ metadata }) => metadata.name,
    cell: (hpa) => (
      <a tabIndex={-1} class="name" href={objectRoute(placeOf(AUTOSCALERS, hpa))}>
        {hpa.metadata.name}
      </a>
    ),
  },
  {
    title: "Namespace",
    width: "minmax(80px, 1fr)",
    wide: true,
    key: ({ metadata }) => metadata.namespace ?? "",
    cell: ({ metadata }) => metadata.namespace,
  },
  {
    title: "Target",
    width: "minmax(110px, 1.5fr)",
    wide: true,
    key: ({ spec: { scaleTargetRef: target } }) => `${target.kind}/${target.name}`,
    cell: ({ spec: { scaleTargetRef: target } }) => `${target.kind}/${target.name}`,
  },
  {
    title: "Metrics",
    width: "minmax(110px, 2fr)",
    key: (hpa) => metricsText(hpa),
    cell: (hpa) => <span title={metricsText(hpa)}>{metricsText(hpa)}</span>,
  },
  {
    title: "Replicas",
    width: "minmax(96px, 1.2fr)",
    wide: true,
    key: ({ status }) => status?.currentReplicas ?? 0,
    cell: ({ spec, status }) => {
      const { currentReplicas = 0, desiredReplicas = 0 } = status ?? {};
      const words = `${currentReplicas} of ${spec.minReplicas ?? 1} to ${spec.maxReplicas}`;
      return <Bar value={currentReplicas} second={desiredReplicas} of={spec.maxReplicas} words={words} />;
    },
  },
  {
    title: "Status",
    width: "minmax(92px, 1.2fr)",
    key: (hpa) => autoscalerState(hpa).word,
    cell: (hpa) => <State tone={autoscalerState(hpa).tone} words={autoscalerState(hpa).word} />,
  },
  {
    title: "Age",
    width: "56px",
    numeric: true,
    wide: true,
    key: ({ metadata }) => metadata.creationTimestamp ?? "",
    cell: ({ metadata }) => <Age since={metadata.creationTimestamp} />,
  },
];

export function AutoscalersView() {
  const page = usePage();
  const autoscalers = useCollection<Autoscaler>(AUTOSCALERS, page.namespace.value);
  void autoscalers.version.value;
  const all = [...autoscalers.objects.values()];
  const found = matching(all, page.search.value, (hpa) =>
    `${hpa.metadata.namespace} ${hpa.metadata.name} ${hpa.spec.scaleTargetRef.name} ${metricsText(hpa)}`.toLowerCase(),
  );
  return (
    <section class="fill">
      <Head
        title="Autoscalers"
        count={found.length === all.length ? `${all.length}` : `${found.length} of ${all.length}`}
        search="Search autoscalers"
      />
      <Notice states={[autoscalers.state]} />
      <Table
        label="Autoscalers"
        rows={found}
        columns={page.namespace.value === "" ? COLUMNS : COLUMNS.filter(({ title }) => title !== "Namespace")}
        idOf={({ metadata }) => `${metadata.namespace}/${metadata.name}`}
        hrefOf={(hpa) => objectRoute(placeOf(AUTOSCALERS, hpa))}
        empty={
          autoscalers.state.value.phase === "loading"
            ? "Loading …"
            : "There are no autoscalers here: `kubectl autoscale` makes one."
        }
      />
    </section>
  );
}
