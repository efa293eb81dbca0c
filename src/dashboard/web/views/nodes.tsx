/** All nodes, live, with the requests of their Pods. */
import type { core } from "#api";
import { useCollection } from "../api/collection.ts";
import { NODES, PODS, placeOf } from "../api/resources.ts";
import type { KubeObject } from "../api/watched.ts";
import { type NodeUse, nodeState, usesByNode } from "../model/node.ts";
import { bytes, cores } from "../model/quantity.ts";
import { matching } from "../model/table.ts";
import { usePage } from "../page.ts";
import { Bar } from "../parts/bar.tsx";
import { Head } from "../parts/head.tsx";
import { Age, Notice, State } from "../parts/state.tsx";
import { Table, type TableColumn } from "../parts/table.tsx";
import { objectRoute } from "../route.ts";
import type { Pod } from "./pods.tsx";

export type Node = core.Node & KubeObject;

interface Row {
  readonly node: Node;
  readonly use: NodeUse;
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
    title: "CPU requested",
    width: "minmax(120px, 1.5fr)",
    wide: true,
    key: ({ use }) => use.cpu,
    cell: ({ use }) => <Bar value={use.cpu} of={use.cpuOf} words={`${cores(use.cpu)} of ${cores(use.cpuOf)}`} />,
  },
  {
    title: "Memory requested",
    width: "minmax(120px, 1.5fr)",
    wide: true,
    key: ({ use }) => use.memory,
    cell: ({ use }) => (
      <Bar value={use.memory} of={use.memoryOf} words={`${bytes(use.memory)} of ${bytes(use.memoryOf)}`} />
    ),
  },
  {
    title: "Version",
    width: "minmax(116px, 1fr)",
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
  const all = Array.from(nodes.objects.values(), (node) => ({ node, use: uses.get(node.metadata.name) ?? NO_USE }));
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
