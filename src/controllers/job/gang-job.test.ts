/** Jobs whose Pods are scheduled as a gang. */
import { afterEach, describe, expect, it } from "vitest";
import { type batch, kinds, optional, parseFeatures, parseRuntimeConfig, servedKinds } from "#api";
import { type TestControllers, testControllers } from "../testing/index.ts";
import { jobControllerWith } from "./index.ts";
import { job } from "./testing/index.ts";

const open: TestControllers[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

async function cluster() {
  const features = parseFeatures({ gates: "GenericWorkload=true,WorkloadWithJob=true" });
  const apis = { runtimeConfig: parseRuntimeConfig("api/alpha=true"), enabled: features.enabled };
  const running = await testControllers([jobControllerWith({ gangs: true })], { kinds: servedKinds(apis), features });
  open.push(running);
  const { client, settle } = running;
  const create = async (spec: Partial<batch.JobSpec>) => {
    const made = await client.of(kinds.Job).in("default").create(job(spec));
    await settle();
    return made;
  };
  const found = async () => ({
    workloads: (await client.of(optional.Workload).list()).items,
    groups: (await client.of(optional.PodGroup).list()).items,
    pods: (await client.of(kinds.Pod).list()).items,
  });
  return { ...running, create, found };
}

const gang = { completionMode: "Indexed", parallelism: 3, completions: 3 } as const;

describe("a parallel Indexed Job", () => {
  it("gets a Workload, a PodGroup and Pods that name it", async () => {
    const { create, found } = await cluster();
    const { metadata } = await create(gang);
    const { workloads, groups, pods } = await found();
    const owner = { kind: "Job", name: "work", uid: metadata.uid, controller: true };
    expect(workloads).toMatchObject([
      {
        metadata: { name: expect.stringMatching(/^work-[a-z0-9]+$/), ownerReferences: [owner] },
        spec: {
          controllerRef: { apiGroup: "batch", kind: "Job", name: "work" },
          podGroupTemplates: [{ name: "work-pgt-0", schedulingPolicy: { gang: { minCount: 3 } } }],
        },
      },
    ]);
    const [workload] = workloads;
    expect(groups).toMatchObject([
      {
        metadata: { ownerReferences: [owner, { kind: "Workload", uid: workload?.metadata.uid }] },
        spec: {
          podGroupTemplateRef: {
            workload: { workloadName: workload?.metadata.name, podGroupTemplateName: "work-pgt-0" },
          },
          schedulingPolicy: { gang: { minCount: 3 } },
        },
      },
    ]);
    const podGroupName = groups[0]?.metadata.name;
    expect(pods.map(({ spec }) => spec?.schedulingGroup)).toEqual([1, 2, 3].map(() => ({ podGroupName })));
  });

  it.each<{ name: string; spec: Partial<batch.JobSpec>; group?: string }>([
    { name: "of one Pod", spec: { completionMode: "Indexed", parallelism: 1, completions: 1 } },
    { name: "with more completions than Pods at once", spec: { ...gang, completions: 6 } },
    { name: "that is not Indexed", spec: { parallelism: 3, completions: 3 } },
    {
      name: "that names a group itself",
      spec: {
        ...gang,
        template: {
          spec: {
            restartPolicy: "Never",
            containers: [{ name: "c", image: "i" }],
            schedulingGroup: { podGroupName: "own" },
          },
        },
      },
      group: "own",
    },
  ])("$name gets none", async ({ spec, group }) => {
    const { create, found } = await cluster();
    await create(spec);
    const { workloads, groups, pods } = await found();
    expect([workloads, groups]).toEqual([[], []]);
    expect(new Set(pods.map((pod) => pod.spec?.schedulingGroup?.podGroupName))).toEqual(new Set([group]));
  });

  it("whose Workload somebody else has made is left to them", async () => {
    const { client, create, found } = await cluster();
    await client
      .of(optional.Workload)
      .in("default")
      .create({
        metadata: { name: "theirs" },
        spec: {
          controllerRef: { apiGroup: "batch", kind: "Job", name: "work" },
          podGroupTemplates: [{ name: "t", schedulingPolicy: { gang: { minCount: 3 } } }],
        },
      });
    await create(gang);
    const { workloads, groups, pods } = await found();
    expect([workloads.length, groups.length, pods.length]).toEqual([1, 0, 3]);
  });
});
