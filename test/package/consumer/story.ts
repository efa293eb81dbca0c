/** The story that each test runner runs: a Widget on a cluster of its own. */
import { startCluster } from "k8ts";
import { kinds } from "k8ts/api";
import { startInformers } from "k8ts/client";
import { runOperator } from "k8ts/controllers";
import { definition, Widget, widgets } from "./operator.js";

/** Until the Widget shows its replicas; returns how many are ready. */
export async function storyOnRealTime(size: number): Promise<number> {
  await using cluster = await startCluster({ nodes: 1 });
  const { client } = cluster;
  await client.of(kinds.CustomResourceDefinition).create(definition);
  await using running = startInformers(client);
  await served(
    client.of(kinds.CustomResourceDefinition).watch({ fieldSelector: `metadata.name=${definition.metadata.name}` }),
  );
  const stopping = new AbortController();
  const operating = runOperator([widgets], { client }, stopping.signal);
  try {
    const informer = running.informers.of(Widget);
    const ready = new Promise<number>((resolve) => {
      informer.onChange(({ object }) => {
        if (object.status?.readyReplicas === size) resolve(size);
      });
    });
    await client.of(Widget).create({ metadata: { name: "one", namespace: "default" }, spec: { size } });
    return await ready;
  } finally {
    stopping.abort();
    await operating;
  }
}

async function served(events: AsyncIterable<{ readonly type: string; readonly object?: unknown }>): Promise<void> {
  for await (const { object } of events) if (JSON.stringify(object).includes('"type":"Established"')) return;
}
