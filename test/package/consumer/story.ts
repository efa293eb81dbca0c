/** The stories that each test runner runs: a Widget in the test kit, and on a cluster of real time. */
import { startCluster as startRealCluster } from "k8ts";
import { kinds } from "k8ts/api";
import { startInformers } from "k8ts/client";
import { runOperator } from "k8ts/controllers";
import { eventually, satisfy, startCluster } from "k8ts/testing";
import { definition, Widget, widgets } from "./operator.js";

const widget = (size: number) => ({ metadata: { name: "one", namespace: "default" }, spec: { size } });

/** In the test kit, with a fork: how many replicas are ready in both. */
export async function storyInTheKit(size: number): Promise<readonly (number | undefined)[]> {
  await using cluster = await startCluster({ crds: [definition], operators: [widgets] });
  await cluster.client.of(Widget).create(widget(size));
  const ready = (wanted: number) =>
    satisfy<Widget>(`to have ${wanted} replicas`, ({ status }) => status?.readyReplicas === wanted);
  const own = await eventually(cluster.object(Widget, "one"), ready(size));
  const fork = await cluster.fork();
  await fork.client
    .of(Widget)
    .in("default")
    .patch("one", { type: "merge", object: { spec: { size: size + 1 } } });
  const forked = await eventually(fork.object(Widget, "one"), ready(size + 1));
  return [own?.status?.readyReplicas, forked?.status?.readyReplicas];
}

/** On a cluster with a port: until the Widget shows its replicas; returns how many are ready. */
export async function storyOnRealTime(size: number): Promise<number> {
  await using cluster = await startRealCluster({ nodes: 1 });
  const { client } = cluster;
  await client.of(kinds.CustomResourceDefinition).create(definition);
  await using running = startInformers(client);
  const fieldSelector = `metadata.name=${definition.metadata.name}`;
  await established(client.of(kinds.CustomResourceDefinition).watch({ fieldSelector }));
  const stopping = new AbortController();
  const operating = runOperator([widgets], { client }, stopping.signal);
  try {
    const informer = running.informers.of(Widget);
    const ready = new Promise<number>((resolve) => {
      informer.onChange(({ object }) => {
        if (object.status?.readyReplicas === size) resolve(size);
      });
    });
    await client.of(Widget).create(widget(size));
    return await ready;
  } finally {
    stopping.abort();
    await operating;
  }
}

async function established(events: AsyncIterable<{ readonly type: string; readonly object?: unknown }>): Promise<void> {
  for await (const { object } of events) if (JSON.stringify(object).includes('"type":"Established"')) return;
}
