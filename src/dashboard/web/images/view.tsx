/** Images: pulls that fail or go on, and what each node has. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useCollection } from "../api/collection.ts";
import { ask, Refused } from "../api/request.ts";
import { NODES, PODS } from "../api/resources.ts";
import { bytes } from "../model/quantity.ts";
import { matching } from "../model/table.ts";
import { usePage } from "../page.ts";
import { Bar } from "../parts/bar.tsx";
import { Head } from "../parts/head.tsx";
import { Notice, State } from "../parts/state.tsx";
import { Table, type TableColumn } from "../parts/table.tsx";
import { objectRoute } from "../route.ts";
import { sleep } from "../time.ts";
import type { Node } from "../views/nodes.tsx";
import type { Pod } from "../views/pods.tsx";
import { type ImageRow, imagesOf, nodesToAsk, type OngoingPull, type PullRow, pullsOf } from "./images.ts";

const LOOK_MS = 2000;

const COLUMNS: readonly TableColumn<ImageRow>[] = [
  {
    title: "Image",
    width: "minmax(140px, 4fr)",
    key: ({ name }) => name,
    cell: ({ name, others }) => (
      <span class="name tail" title={[name, ...others].join("\n")}>
        <bdi>{name}</bdi>
      </span>
    ),
  },
  { title: "Size", width: "76px", numeric: true, key: (row) => row.sizeBytes, cell: (row) => bytes(row.sizeBytes) },
  {
    title: "Used by",
    width: "96px",
    numeric: true,
    wide: true,
    key: ({ containers }) => containers,
    cell: ({ containers }) => (containers === 0 ? <span class="dim">none</span> : `${containers} containers`),
  },
  {
    title: "Nodes",
    width: "minmax(80px, 2fr)",
    key: ({ nodes }) => nodes.join(", "),
    cell: ({ nodes }) => <span title={nodes.join(", ")}>{nodes.join(", ")}</span>,
  },
];

export function ImagesView() {
  const page = usePage();
  const route = page.route.value;
  const wanted = ("query" in route && route.query.get("node")) || "";
  const nodes = useCollection<Node>(NODES, "");
  const pods = useCollection<Pod>(PODS, "");
  void nodes.version.value;
  void pods.version.value;
  const ongoing = usePulls(nodesToAsk(pods.objects.values()));
  const names = [...nodes.objects.keys()].map((key) => key.slice(1)).sort();
  const onNode = (name: string) => wanted === "" || name === wanted;
  const pulls = pullsOf(pods.objects.values(), ongoing).filter(({ node }) => onNode(node));
  const all = imagesOf(
    [...nodes.objects.values()].filter(({ metadata }) => onNode(metadata.name)),
    pods.objects.values(),
  );
  const found = matching(all, page.search.value, ({ name, others }) => [name, ...others].join(" ").toLowerCase());
  return (
    <section class="fill">
      <Head title="Images" count={String(all.length)} search="Search images" namespaced={false}>
        <select
          aria-label="Node"
          value={wanted}
          onChange={({ currentTarget }) => page.ask({ node: currentTarget.value })}
        >
          <option value="">All nodes</option>
          {names.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </Head>
      <Notice states={[nodes.state, pods.state]} />
      <Pulls pulls={pulls} />
      <Table
        label="Images"
        rows={found}
        columns={COLUMNS}
        idOf={({ name, others }) => [name, ...others].join(" ")}
        order={{ column: 1, descending: true }}
        empty={nodes.state.value.phase === "loading" ? "Loading …" : "Nodes report no images yet."}
      />
    </section>
  );
}

function Pulls({ pulls }: { readonly pulls: readonly PullRow[] }) {
  return (
    <div class={pulls.length === 0 ? "" : "panel pulls"} aria-live="polite">
      {pulls.length > 0 && (
        <>
          <h2>Pulls</h2>
          <ul class="list" aria-label="Pulls">
            {pulls.map(({ id, namespace, pod, image, node, tone, words, share }) => (
              <li key={id}>
                <span class="grow">
                  <a href={objectRoute({ group: "", version: "v1", plural: "pods", namespace, name: pod })}>{pod}</a>{" "}
                  <code>{image}</code> <span class="dim">on {node}</span>
                  <span class="detail">
                    <State tone={tone} words={words} />
                  </span>
                </span>
                {share !== undefined && <Bar value={share} of={1} words={`${Math.round(100 * share)} %`} />}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

/** What kubelets say, while there are containers that may wait for them. */
function usePulls(nodes: readonly string[]): readonly OngoingPull[] {
  const found = useSignal<readonly OngoingPull[]>([]);
  const asked = nodes.join(" ");
  useEffect(() => {
    const abort = new AbortController();
    void follow(nodes, abort.signal, (pulls) => {
      found.value = pulls;
    });
    return () => abort.abort();
  }, [asked, found]);
  return found.value;
}

async function follow(nodes: readonly string[], signal: AbortSignal, tell: (pulls: OngoingPull[]) => void) {
  let asked = nodes;
  while (!signal.aborted) {
    const answers = await Promise.all(asked.map(async (node) => ({ node, pulls: await pullsOn(node, signal) })));
    if (signal.aborted) return;
    // Who may not ask a kubelet, and other kubelets, which do not know the question: their Pods still say it.
    asked = answers.flatMap(({ node, pulls }) => (pulls === undefined ? [] : [node]));
    tell(answers.flatMap(({ pulls = [] }) => pulls));
    if (asked.length === 0) return;
    await sleep(LOOK_MS, signal);
  }
}

/** Undefined: it will not answer. */
async function pullsOn(node: string, signal: AbortSignal): Promise<readonly OngoingPull[] | undefined> {
  try {
    return (await ask<{ pulls?: readonly OngoingPull[] }>(`/api/v1/nodes/${node}/proxy/pulls`, { signal })).pulls ?? [];
  } catch (error) {
    return error instanceof Refused && error.code < 500 ? undefined : [];
  }
}
