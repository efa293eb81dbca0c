/** All nodes, live, with the requests of their Pods. */
import type { core } from "#api";
import { useCollection } from "../api/collection.ts";
import { NODES, PODS, placeOf } from "../api/resources.ts";
import { useUsage } from "../api/usage.ts";
import type { KubeObject } from "../api/watched.ts";
import type { Point } from "../model/history.ts";
import { type NodeUse, nodeState, usesByNode } from "../model/node.ts";
import { bytes, cores } from "../model/quantity.ts";
import { matching } from "../model/table.ts";
import { usePage } from "../page.ts";
import { Bar } from "../parts/bar.tsx";
import { Head } from "../parts/head.tsx";
import { Sparkline } from "../parts/sparkline.tsx";
import { Age, Notice, State } from "../parts/state.tsx";
import { Table, type TableColumn } from "../parts/table.tsx";
import { objectRoute } from "../route.ts";
import type { Pod } from "./pods.tsx";

export type Node = core.Node & KubeObject;

interface Row {
  readonly node: Node;
  readonly use: NodeUse;
  readonly cpu: readonly Point[];
  readonly memory: readonly Point[];
}

const COLUMNS: readonly TableColumn<Row>[] = [
  {
    title: "Name",
    width: "minmax(90px, 2fr)",
    key: ({ node }) => node.metadata.name,
    cell: ({ node }) => (
      <a tabIndex={-1} class="name" href={objectRoute(placeOf(NODES, node))}>
        {node.metadata.name}
      </a>
    ),
  },
  {
    title: "Status",
    width: "minmax(80px, 1.4fr)",
    key: ({ node }) => nodeState(node).word,
    cell: ({ node }) => <State tone={nodeState(node).tone} words={nodeState(node).word} />,
  },
  { title: "Pods", width: "48px", numeric: true, key: ({ use }) => use.pods, cell: ({ use }) => use.pods },
  {
    title: "CPU used",
    width: "minmax(84px, 1.2fr)",
    key: ({ cpu }) => cpu.at(-1)?.value ?? 0,
    cell: ({ cpu, use }) => <Sparkline points={cpu} title="CPU" words={cores} of={use.cpuOf} />,
  },
  {
    title: "Memory used",
    width: "minmax(100px, 1.3fr)",
    wide: true,
    key: ({ memory }) => memory.at(-1)?.value ?? 0,
    cell: ({ memory, use }) => <Sparkline points={memory} title="Memory" words={bytes} of={use.memoryOf} />,
  },
  {
    title: "CPU requested",
    width: "minmax(110px, 1.5fr)",
    wide: true,
    key: ({ use }) => use.cpu,
    cell: ({ use }) => <Bar value={use.cpu} of={use.cpuOf} words={`${cores(use.cpu)} of ${cores(use.cpuOf)}`} />,
  },
  {
    title: "Memory requested",
    width: "minmax(110px, 1.5fr)",
    wide: true,
    key: ({ use }) => use.memory,
    cell: ({ use }) => (
      <Bar value={use.memory} of={use.memoryOf} words={`${bytes(use.memory)} of ${bytes(use.memoryOf)}`} />
    ),
  },
  {
    title: "Version",
    width: "minmax(80px, 1fr)",
    wide: true,
    key: ({ node }) => node.status?.nodeInfo?.kubeletVersion ?? "",
    cell: ({ node }) => (
      <span title={node.status?.nodeInfo?.kubeletVersion}>{node.status?.nodeInfo?.kubeletVersion}</span>
    ),
  },
  {
    title: "Age",
    width: "56px",
    numeric: true,
    key: ({ node }) => node.metadata.creationTimestamp ?? "",
    cell: ({ node }) => <Age since={node.metadata.creationTimestamp} />,
  },
];

export function NodesView() {
  const page = usePage();
  const nodes = useCollection<Node>(NODES, "");
  const pods = useCollection<Pod>(PODS, "");
  void nodes.version.value;
  void pods.version.value;
  const uses = usesByNode(nodes.objects.values(), pods.objects.values());
  const usage = useUsage("");
  const all = Array.from(nodes.objects.values(), (node): Row => {
    const { name } = node.metadata;
    return { node, use: uses.get(name) ?? NO_USE, cpu: usage.cpu.of(name), memory: usage.memory.of(name) };
  });
  const found = matching(all, page.search.value, ({ node }) =>
    `${node.metadata.name} ${nodeState(node).word}`.toLowerCase(),
  );
  return (
    <section class="fill">
      <Head title="Nodes" count={String(all.length)} search="Search nodes" namespaced={false} />
      <Notice states={[nodes.state, pods.state]} />
      <Table
        label="Nodes"
        rows={found}
        columns={COLUMNS}
        idOf={({ node }) => node.metadata.name}
        hrefOf={({ node }) => objectRoute(placeOf(NODES, node))}
        empty={nodes.state.value.phase === "loading" ? "Loading …" : "There are no nodes."}
      />
    </section>
  );
}

const NO_USE: NodeUse = { pods: 0, cpu: 0, cpuOf: 0, memory: 0, memoryOf: 0 };
