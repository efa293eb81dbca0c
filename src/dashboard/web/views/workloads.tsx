/** Workloads of all kinds, with the progress of their rollouts. */
import type { apps, batch } from "#api";
import { useCollection } from "../api/collection.ts";
import {
  CRON_JOBS,
  DAEMON_SETS,
  DEPLOYMENTS,
  JOBS,
  PODS,
  placeOf,
  REPLICA_SETS,
  type Resource,
  STATEFUL_SETS,
} from "../api/resources.ts";
import { useUsage } from "../api/usage.ts";
import type { KubeObject } from "../api/watched.ts";
import type { Point } from "../model/history.ts";
import { bytes, cores } from "../model/quantity.ts";
import { matching } from "../model/table.ts";
import { podsByWorkload } from "../model/usage.ts";
import {
  daemonSetProgress,
  deploymentProgress,
  jobProgress,
  type Progress,
  replicaSetProgress,
  statefulSetProgress,
} from "../model/workload.ts";
import { usePage } from "../page.ts";
import { Bar } from "../parts/bar.tsx";
import { Head } from "../parts/head.tsx";
import { Sparkline } from "../parts/sparkline.tsx";
import { Age, Notice, State } from "../parts/state.tsx";
import { Table, type TableColumn } from "../parts/table.tsx";
import { objectRoute } from "../route.ts";
import type { Pod } from "./pods.tsx";

export interface Workload {
  readonly resource: Resource;
  readonly object: KubeObject;
  readonly progress: Progress;
}

interface Row extends Workload {
  readonly cpu: readonly Point[];
  readonly memory: readonly Point[];
}

const COLUMNS: readonly TableColumn<Row>[] = [
  {
    title: "Name",
    width: "minmax(110px, 3fr)",
    key: ({ object }) => object.metadata.name,
    cell: ({ object, resource }) => (
      <a tabIndex={-1} class="name" href={objectRoute(placeOf(resource, object))}>
        {object.metadata.name}
      </a>
    ),
  },
  {
    title: "Kind",
    width: "minmax(88px, 1fr)",
    wide: true,
    key: ({ resource }) => resource.kind,
    cell: ({ resource }) => resource.kind,
  },
  {
    title: "Namespace",
    width: "minmax(80px, 1fr)",
    wide: true,
    key: ({ object }) => object.metadata.namespace ?? "",
    cell: ({ object }) => object.metadata.namespace,
  },
  {
    title: "Rollout",
    width: "minmax(88px, 1.6fr)",
    key: ({ progress }) => (progress.desired === 0 ? 1 : progress.ready / progress.desired),
    cell: ({ progress: { ready, updated, desired } }) => (
      <Bar value={ready} second={updated} of={desired} words={`${ready} of ${desired} ready`} />
    ),
  },
  {
    title: "Status",
    width: "minmax(92px, 1.6fr)",
    key: ({ progress }) => progress.words,
    cell: ({ progress }) => <State tone={progress.tone} words={progress.words} />,
  },
  {
    title: "CPU",
    width: "minmax(80px, 1fr)",
    wide: true,
    key: ({ cpu }) => cpu.at(-1)?.value ?? 0,
    cell: ({ cpu }) => <Sparkline points={cpu} title="CPU" words={cores} />,
  },
  {
    title: "Memory",
    width: "minmax(80px, 1fr)",
    wide: true,
    key: ({ memory }) => memory.at(-1)?.value ?? 0,
    cell: ({ memory }) => <Sparkline points={memory} title="Memory" words={bytes} />,
  },
  {
    title: "Age",
    width: "64px",
    numeric: true,
    wide: true,
    key: ({ object }) => object.metadata.creationTimestamp ?? "",
    cell: ({ object }) => <Age since={object.metadata.creationTimestamp} />,
  },
];

/** Only top-level workloads: a Deployment represents its ReplicaSets, a CronJob its Jobs. */
export function useWorkloads(namespace: string) {
  const deployments = useCollection<apps.Deployment & KubeObject>(DEPLOYMENTS, namespace);
  const statefulSets = useCollection<apps.StatefulSet & KubeObject>(STATEFUL_SETS, namespace);
  const daemonSets = useCollection<apps.DaemonSet & KubeObject>(DAEMON_SETS, namespace);
  const replicaSets = useCollection<apps.ReplicaSet & KubeObject>(REPLICA_SETS, namespace);
  const jobs = useCollection<batch.Job & KubeObject>(JOBS, namespace);
  const cronJobs = useCollection<batch.CronJob & KubeObject>(CRON_JOBS, namespace);
  const all = [deployments, statefulSets, daemonSets, replicaSets, jobs, cronJobs];
  for (const { version } of all) void version.value;
  const rows: Workload[] = [
    ...rowsOf(DEPLOYMENTS, deployments.objects.values(), deploymentProgress),
    ...rowsOf(STATEFUL_SETS, statefulSets.objects.values(), statefulSetProgress),
    ...rowsOf(DAEMON_SETS, daemonSets.objects.values(), daemonSetProgress),
    ...rowsOf(REPLICA_SETS, replicaSets.objects.values(), replicaSetProgress),
    ...rowsOf(JOBS, jobs.objects.values(), jobProgress),
    ...rowsOf(CRON_JOBS, cronJobs.objects.values(), cronJobProgress),
  ];
  const between = () => [...replicaSets.objects.values(), ...jobs.objects.values()];
  return { rows, states: all.map(({ state }) => state), between };
}

function rowsOf<T extends KubeObject>(
  resource: Resource,
  objects: Iterable<T>,
  progressOf: (object: T) => Progress,
): Workload[] {
  const rows: Workload[] = [];
  for (const object of objects) {
    const { ownerReferences = [] } = object.metadata as { ownerReferences?: readonly unknown[] };
    if (ownerReferences.length === 0) rows.push({ resource, object, progress: progressOf(object) });
  }
  return rows;
}

function cronJobProgress({ spec, status }: batch.CronJob): Progress {
  const active = status?.active?.length ?? 0;
  const words = spec?.suspend === true ? "suspended" : active > 0 ? `${active} running` : `at ${spec?.schedule}`;
  return { desired: active, updated: active, ready: active, words, tone: active > 0 ? "busy" : "quiet" };
}

export function WorkloadsView() {
  const page = usePage();
  const { rows: workloads, states, between } = useWorkloads(page.namespace.value);
  const pods = useCollection<Pod>(PODS, page.namespace.value);
  void pods.version.value;
  const usage = useUsage(page.namespace.value);
  const keys = podsByWorkload(pods.objects.values(), between());
  const rows = workloads.map((each): Row => {
    const own = keys.get(each.object.metadata.uid) ?? [];
    return { ...each, cpu: usage.cpu.sum(own), memory: usage.memory.sum(own) };
  });
  const found = matching(rows, page.search.value, ({ object, resource, progress }) =>
    `${object.metadata.namespace} ${object.metadata.name} ${resource.kind} ${progress.words}`.toLowerCase(),
  );
  return (
    <section class="fill">
      <Head
        title="Workloads"
        count={found.length === rows.length ? `${rows.length}` : `${found.length} of ${rows.length}`}
        search="Search workloads"
      />
      <Notice states={states} />
      <Table
        label="Workloads"
        rows={found}
        columns={page.namespace.value === "" ? COLUMNS : COLUMNS.filter(({ title }) => title !== "Namespace")}
        idOf={({ resource, object }) => `${resource.kind}/${object.metadata.namespace}/${object.metadata.name}`}
        hrefOf={({ resource, object }) => objectRoute(placeOf(resource, object))}
        empty={states.some(({ value }) => value.phase === "loading") ? "Loading …" : "There are no workloads here."}
      />
    </section>
  );
}
