/** `k8ts why` for the dashboard: what follows from the API alone, with the credentials of the dashboard's user. */
import { type KubeObject, kinds } from "#api";
import { realClock } from "#base";
import { Client, https, type ResourceOf } from "#client";
import type { Explain } from "#dashboard";
import { claimFacts } from "./gather-claim.ts";
import { whyAutoscaler } from "./why-autoscaler.ts";
import { whyClaim } from "./why-claim.ts";

export const explain: Explain = async ({ server, caPem, client: identity = {} }, { resource, namespace, name }) => {
  const clock = realClock();
  const transport = https({ server, ...(caPem !== undefined && { caPem }), ...identity }, { clock });
  const client = new Client({ transport, clock, userAgent: "k8ts-dashboard" });
  const named = async <T extends KubeObject>(type: ResourceOf<T>): Promise<T | undefined> => {
    const { items } = await client
      .of(type)
      .in(namespace)
      .list({ fieldSelector: `metadata.name=${name}` });
    return items[0];
  };
  try {
    if (resource === "horizontalpodautoscalers") {
      const hpa = await named(kinds.HorizontalPodAutoscaler);
      if (hpa === undefined) return undefined;
      const { explainAutoscaler } = await import("#controllers");
      const { signal } = new AbortController();
      return whyAutoscaler({ hpa, explanation: await explainAutoscaler(hpa, { client, clock, signal }) });
    }
    if (resource !== "persistentvolumeclaims") return undefined;
    const claim = await named(kinds.PersistentVolumeClaim);
    if (claim === undefined) return undefined;
    const fieldSelector = `involvedObject.uid=${claim.metadata.uid}`;
    const { items: events } = await client.of(kinds.CoreEvent).in(namespace).list({ fieldSelector });
    const sorted = [...events].sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
    const now = clock.now();
    return whyClaim(
      await claimFacts(client, claim, sorted, async (pods) =>
        pods.map((pod) => ({
          ...{ name: pod.metadata.name ?? "", namespace, pod, events: [], attempts: [], requests: [], nodes: [], now },
        })),
      ),
    );
  } finally {
    await client.close();
  }
};
