import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds, type resource, StatusError } from "#api";
import { seededRandom } from "#base";
import { podWith, type TestControllers, testControllers } from "../testing/index.ts";
import { resourceClaimController } from "./index.ts";
import { planClaim } from "./plan-claim.ts";
import { generatedName } from "./plan-pod.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const SPEC: resource.ResourceClaimSpec = {
  devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu.example.com" } }] },
};
const FINALIZER = "resource.kubernetes.io/delete-protection";
const ALLOCATION: resource.AllocationResult = {
  devices: { results: [{ request: "gpu", driver: "gpu.example.com", pool: "n", device: "gpu-0" }] },
};

describe("a generated name", () => {
  it.each([
    ["web", "gpu", "web-gpu-"],
    ["a".repeat(60), "gpu", `${"a".repeat(52)}-gp`],
    ["a".repeat(40), "b".repeat(40), `${"a".repeat(27)}-${"b".repeat(27)}`],
  ])("of %s and %s", (pod, entry, want) => {
    expect(generatedName(pod, entry)).toBe(want);
  });
});

describe("the plan for a claim", () => {
  const running = podWith("running", { node: "n" });
  const done = podWith("done", { phase: "Succeeded" });
  const reference = ({ metadata: { name = "", uid = "" } }: core.Pod) => ({ resource: "pods", name, uid });
  const claim = (facts: {
    reserved?: core.Pod[];
    owner?: core.Pod;
    held?: boolean;
    ending?: boolean;
    free?: boolean;
  }) =>
    ({
      metadata: {
        name: "c",
        namespace: "default",
        ...(facts.held !== false && { finalizers: [FINALIZER] }),
        ...(facts.ending && { deletionTimestamp: "2030-01-01T00:00:00Z" }),
        ...(facts.owner && {
          ownerReferences: [
            {
              apiVersion: "v1",
              kind: "Pod",
              controller: true,
              name: facts.owner.metadata.name ?? "",
              uid: facts.owner.metadata.uid ?? "",
            },
          ],
        }),
      },
      spec: SPEC,
      status: {
        ...(!facts.free && { allocation: ALLOCATION }),
        reservedFor: (facts.reserved ?? []).map(reference),
      },
    }) satisfies resource.ResourceClaim;
  const planned = (given: resource.ResourceClaim, valid: core.Pod[], owner?: core.Pod) =>
    (planClaim(given, valid.map(reference), owner).steps ?? []).flat().map((write) => {
      const { status, metadata } = write.object as resource.ResourceClaim;
      const has = status?.allocation === undefined ? "free" : "allocated";
      if (write.verb === "updateStatus") return `${has} ${(status?.reservedFor ?? []).map(({ name }) => name).join()}`;
      return write.verb === "update" ? `finalizers ${metadata.finalizers?.join() ?? ""}` : write.verb;
    });
  it.each([
    { name: "in use", given: claim({ reserved: [running] }), valid: [running], want: [] },
    {
      name: "of two, one is done",
      given: claim({ reserved: [running, done] }),
      valid: [running],
      want: ["allocated running"],
    },
    { name: "the last is done", given: claim({ reserved: [done] }), valid: [], want: ["free "] },
    {
      name: "the last is done, and others allocated it",
      given: claim({ reserved: [done], held: false }),
      valid: [],
      want: ["allocated "],
    },
    { name: "never reserved", given: claim({}), valid: [], want: [] },
    { name: "to go, in use", given: claim({ reserved: [running], ending: true }), valid: [running], want: [] },
    { name: "to go, allocated", given: claim({ ending: true }), valid: [], want: ["free "] },
    { name: "to go, free", given: claim({ ending: true, free: true }), valid: [], want: ["finalizers "] },
    {
      name: "made for one that is done",
      given: claim({ reserved: [done], owner: done }),
      valid: [],
      owner: done,
      want: ["free ", "delete"],
    },
    { name: "made for one that runs", given: claim({ owner: running }), valid: [], owner: running, want: [] },
    {
      name: "made for one that was replaced",
      given: claim({ owner: done, free: true }),
      valid: [],
      owner: { ...running, metadata: { ...running.metadata, uid: "new" } },
      want: ["delete"],
    },
  ])("$name", ({ given, valid, owner, want }) => {
    expect(planned(given, valid, owner)).toEqual(want);
  });
});

async function cluster(server?: TestControllers["server"]) {
  const running = await testControllers([resourceClaimController], { server });
  open.push(() => running.close());
  const { client, settle } = running;
  const pods = client.of(kinds.Pod).in("default");
  const claims = client.of(kinds.ResourceClaim).in("default");
  if (server === undefined) {
    await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
    await client.of(kinds.Node).create({ metadata: { name: "n" } });
  }
  const template = () =>
    client
      .of(kinds.ResourceClaimTemplate)
      .in("default")
      .create({ metadata: { name: "t" }, spec: { metadata: { labels: { of: "t" } }, spec: SPEC } });
  const create = (name: string, resourceClaims: core.PodResourceClaim[], nodeName?: string) =>
    pods.create({
      metadata: { name },
      spec: { containers: [{ name: "c", image: "i" }], resourceClaims, ...(nodeName !== undefined && { nodeName }) },
    });
  /** As the scheduler does it. */
  const allocate = async (name: string, ...users: core.Pod[]) => {
    const claim = await claims.get(name);
    const held = await claims.update({ ...claim, metadata: { ...claim.metadata, finalizers: [FINALIZER] } });
    const reservedFor = users.map(({ metadata: { name = "", uid = "" } }) => ({ resource: "pods", name, uid }));
    await claims.updateStatus({ ...held, status: { allocation: ALLOCATION, reservedFor } });
  };
  const names = async () => {
    await settle();
    return (await claims.list()).items.map(({ metadata }) => metadata.name);
  };
  return { ...running, pods, claims, template, create, allocate, names };
}

const GPU: core.PodResourceClaim = { name: "gpu", resourceClaimTemplateName: "t" };

describe("claims of Pods", () => {
  it("are made from templates, and named in the status", async () => {
    const { template, create, pods, claims, settle, writes, clock } = await cluster();
    await template();
    const pod = await create("web", [GPU, { name: "own", resourceClaimName: "mine" }]);
    await settle();
    const [claim] = (await claims.list()).items;
    expect(claim).toMatchObject({
      metadata: {
        name: expect.stringMatching(/^web-gpu-.{5}$/),
        labels: { of: "t" },
        annotations: { "resource.kubernetes.io/pod-claim-name": "gpu" },
        ownerReferences: [
          {
            apiVersion: "v1",
            kind: "Pod",
            name: "web",
            uid: pod.metadata.uid,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: { devices: { requests: [{ name: "gpu" }] } },
    });
    const statuses = [{ name: "gpu", resourceClaimName: claim?.metadata.name }];
    expect((await pods.get("web")).status?.resourceClaimStatuses).toEqual(statuses);
    const before = writes();
    await clock.advance(3600_000);
    expect(writes()).toBe(before);
  });

  it("wait for their template, and say so", async () => {
    const { template, create, names, client } = await cluster();
    await create("web", [GPU]);
    expect(await names()).toEqual([]);
    const [event] = (await client.of(kinds.Event).in("default").list()).items;
    expect(event).toMatchObject({
      type: "Warning",
      reason: "FailedResourceClaimCreation",
      reportingController: "resource_claim",
      note: 'PodResourceClaim gpu: resource claim template "t": resourceclaimtemplate.resource.k8s.io "t" not found',
    });
    await template();
    expect((await names()).length).toBe(1);
  });

  it("are made again if somebody deletes them", async () => {
    const { template, create, pods, claims, names } = await cluster();
    await template();
    await create("web", [GPU]);
    const [first = ""] = await names();
    await claims.delete(first);
    const [second, ...others] = await names();
    expect([second === first, others]).toEqual([false, []]);
    expect((await pods.get("web")).status?.resourceClaimStatuses?.[0]?.resourceClaimName).toBe(second);
  });

  it("are reserved for a Pod that was placed by hand", async () => {
    const { create, claims, allocate, settle } = await cluster();
    await claims.create({ metadata: { name: "mine" }, spec: SPEC });
    const pod = await create("web", [{ name: "own", resourceClaimName: "mine" }], "n");
    await allocate("mine");
    await settle();
    expect((await claims.get("mine")).status?.reservedFor).toEqual([
      { resource: "pods", name: "web", uid: pod.metadata.uid },
    ]);
  });

  it("are given back when the last Pod is done, and kept", async () => {
    const { create, claims, allocate, settle, pods } = await cluster();
    await claims.create({ metadata: { name: "mine" }, spec: SPEC });
    const entry = [{ name: "own", resourceClaimName: "mine" }];
    const [a, b] = [await create("a", entry, "n"), await create("b", entry, "n")];
    await allocate("mine", a, b);
    await pods.updateStatus({ ...(await pods.get("a")), status: { phase: "Succeeded" } });
    await settle();
    expect((await claims.get("mine")).status?.reservedFor?.map(({ name }) => name)).toEqual(["b"]);
    await pods.delete("b", { gracePeriodSeconds: 0 });
    await settle();
    expect((await claims.get("mine")).status?.allocation).toBeUndefined();
    await claims.delete("mine");
    await settle();
    await expect(claims.get("mine")).rejects.toThrow("not found");
  });

  it("are given back by a Pod that is unknown only when the server itself does not know it", async () => {
    const { create, claims, allocate, settle, requests } = await cluster();
    await claims.create({ metadata: { name: "mine" }, spec: SPEC });
    const pod = await create("web", [{ name: "own", resourceClaimName: "mine" }], "n");
    await allocate("mine", { ...pod, metadata: { name: "never", uid: "was" } });
    await settle();
    expect(requests().some(({ method, path }) => method === "GET" && path.endsWith("/pods/never"))).toBe(true);
    const { status } = await claims.get("mine");
    expect(status?.reservedFor ?? []).not.toContainEqual(expect.objectContaining({ name: "never" }));
  });

  it("go with a Pod that has ended, and are not made again", async () => {
    const { template, create, pods, names, allocate, clock } = await cluster();
    await template();
    const pod = await create("job", [GPU], "n");
    const [claim = ""] = await names();
    await allocate(claim, pod);
    await pods.updateStatus({
      ...(await pods.get("job")),
      status: { ...(await pods.get("job")).status, phase: "Failed" },
    });
    await clock.advance(1_000);
    expect(await names()).toEqual([]);
    await clock.advance(3600_000);
    expect(await names()).toEqual([]);
  });

  it("are made once, after failures and after the controller was killed between any two writes", async () => {
    for (let limit = 1; limit <= 5; limit++) {
      const first = await cluster();
      const random = seededRandom(limit);
      await first.template();
      let count = 0;
      first.refuse(({ method, path }) => {
        if (method === "GET" || path.includes("events")) return undefined;
        if (++count === limit) void first.stop();
        return random.integer(2) === 0 ? new StatusError("InternalError", "not now") : undefined;
      });
      await first.create("web", [GPU, { ...GPU, name: "other" }]);
      await first.clock.advance(1_000);
      await first.stop();
      const second = await cluster(first.server);
      await second.clock.advance(1_000);
      const made = await second.names();
      expect(made.length).toBe(2);
      const { status } = await second.pods.get("web");
      expect(status?.resourceClaimStatuses?.map(({ resourceClaimName }) => resourceClaimName).sort()).toEqual(made);
    }
  });
});
