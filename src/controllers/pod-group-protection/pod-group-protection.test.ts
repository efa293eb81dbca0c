import { afterEach, describe, expect, it } from "vitest";
import { kinds, optional, parseFeatures, parseRuntimeConfig, servedKinds } from "#api";
import { podWith, type TestControllers, testControllers } from "../testing/index.ts";
import { podGroupProtection } from "./index.ts";

const open: TestControllers[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

const FINALIZER = "scheduling.k8s.io/podgroup-protection";

describe("the protection of PodGroups", () => {
  it("lasts while a Pod is active", () => outlasts(["Running"], true));
  it("ends at once without Pods", () => outlasts([], false));
  it("does not last for Pods that have ended", () => outlasts(["Succeeded", "Failed"], false));

  async function outlasts(pods: readonly ("Running" | "Succeeded" | "Failed")[], left: boolean): Promise<void> {
    const features = parseFeatures({ gates: "GenericWorkload=true" });
    const runtimeConfig = parseRuntimeConfig("api/alpha=true");
    const cluster = await testControllers([podGroupProtection], {
      kinds: servedKinds({ runtimeConfig, enabled: features.enabled }),
      features,
    });
    open.push(cluster);
    const groups = cluster.client.of(optional.PodGroup).in("default");
    await groups.create({
      metadata: { name: "g", finalizers: [FINALIZER] },
      spec: { schedulingPolicy: { gang: { minCount: 1 } } },
    });
    const create = cluster.client.of(kinds.Pod).in("default");
    for (const [at, phase] of pods.entries()) {
      const { metadata, spec, status } = podWith(`p${at}`, { phase, node: "n" });
      const made = await create.create({
        metadata: { name: metadata.name ?? "" },
        spec: { ...spec, containers: spec?.containers ?? [], schedulingGroup: { podGroupName: "g" } },
      });
      await cluster.client.of(kinds.Pod).updateStatus({ ...made, ...(status && { status }) });
    }
    await cluster.settle();
    expect((await groups.list()).items).toHaveLength(1);
    await groups.delete("g");
    await cluster.settle();
    expect((await groups.list()).items).toHaveLength(left ? 1 : 0);
    if (!left) return;
    await create.delete("p0", { gracePeriodSeconds: 0 });
    await cluster.settle();
    expect((await groups.list()).items).toEqual([]);
  }
});
