/** The scheduler and the claim controller on one API server: Pods get devices, keep them, and give them back. */
import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds, type resource, StatusError } from "#api";
import { resourceClaimController } from "../../../controllers/resource-claim/index.ts";
import { testControllers } from "../../../controllers/testing/index.ts";
import { claimFor, DRIVER, deviceClass, devices, exactly, slice } from "../../testing/devices.ts";
import { node, pod } from "../../testing/index.ts";
import { schedulingServer, testScheduler } from "../../testing/test-scheduler.ts";
import { extendedRequests } from "./extended-resources.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function cluster({ nodes = ["a", "b"] }: { readonly nodes?: readonly string[] } = {}) {
  const server = await schedulingServer();
  open.push(() => server.close());
  const controllers = await testControllers([resourceClaimController], { server });
  open.push(() => controllers.close());
  const running = await testScheduler({ server });
  open.push(() => running.close());
  const { client, settle, clock } = running;
  for (const name of nodes) await running.addNode(node(name));
  const claims = client.of(kinds.ResourceClaim).in("default");
  const addSlice = async (given: resource.ResourceSlice) => void (await client.of(kinds.ResourceSlice).create(given));
  const addClass = async (given = deviceClass("gpu")) => void (await client.of(kinds.DeviceClass).create(given));
  const addClaim = async ({ metadata: { uid: _, ...metadata }, ...claim }: resource.ResourceClaim) =>
    void (await claims.create({ ...claim, metadata }));
  const addTemplate = async (name: string, requests: readonly resource.DeviceRequest[]) =>
    void (await client
      .of(kinds.ResourceClaimTemplate)
      .in("default")
      .create({ metadata: { name }, spec: { spec: { devices: { requests } } } }));
  const later = async (ms = 10_000) => {
    await clock.advance(ms);
    await settle();
  };
  const finish = (name: string) =>
    client
      .of(kinds.Pod)
      .in("default")
      .subresource(name, "status")
      .patch({ type: "merge", object: { status: { phase: "Succeeded" } } });
  /** `pool/device` by claim. */
  const allocated = async () =>
    (await claims.list()).items.map(({ status }) =>
      (status?.allocation?.devices?.results ?? []).map(({ pool, device }) => `${pool}/${device}`).join(),
    );
  return { ...running, claims, addSlice, addClass, addClaim, addTemplate, later, finish, allocated };
}

const withClaim = (name: string, resourceClaimName: string, spec: Partial<core.PodSpec> = {}) =>
  pod(name, { spec: { resourceClaims: [{ name: "gpu", resourceClaimName }], ...spec } });
const withTemplate = (name: string, resourceClaimTemplateName = "gpu") =>
  pod(name, { spec: { resourceClaims: [{ name: "gpu", resourceClaimTemplateName }] } });

describe("Pods with claims", () => {
  it("get a device each, and the rest wait until one is free", async () => {
    const { addSlice, addClass, addTemplate, addPod, settle, places, later, finish, claims, events } = await cluster();
    await addClass();
    await addSlice(slice("a", devices(2), { on: "a" }));
    await addTemplate("gpu", [exactly("r")]);
    for (const name of ["p1", "p2", "p3"]) await addPod(withTemplate(name));
    await settle();
    expect(await places()).toEqual({ p1: "a", p2: "a", p3: undefined });
    expect(await events("p3")).toEqual([
      "FailedScheduling: 0/2 nodes are available: 2 cannot allocate all claims. still not schedulable, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
    ]);
    const [first] = (await claims.list()).items.filter(({ metadata }) => metadata.name?.startsWith("p1-"));
    expect(first).toMatchObject({
      metadata: { finalizers: ["resource.kubernetes.io/delete-protection"] },
      status: {
        allocation: {
          devices: { results: [{ request: "r", driver: DRIVER, pool: "a" }] },
          nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", values: ["a"] }] }] },
          allocationTimestamp: expect.any(String),
        },
        reservedFor: [{ resource: "pods", name: "p1" }],
      },
    });
    await finish("p1");
    await later();
    expect((await places()).p3).toBe("a");
  });

  it.each<{ name: string; prepare: (of: Awaited<ReturnType<typeof cluster>>) => Promise<void>; wake: string }>([
    { name: "its claim", prepare: async ({ addClass }) => addClass(), wake: "claim" },
    { name: "a class", prepare: async ({ addClaim }) => addClaim(claimFor("c", [exactly("r")])), wake: "class" },
    {
      name: "devices",
      prepare: async ({ addClass, addClaim }) => {
        await addClass();
        await addClaim(claimFor("c", [exactly("r")]));
      },
      wake: "slice",
    },
  ])("wait for $name", async ({ prepare, wake }) => {
    const running = await cluster();
    const { addPod, addClaim, addClass, addSlice, settle, places, later } = running;
    await prepare(running);
    if (wake !== "slice") await addSlice(slice("a", devices(1), { on: "b" }));
    await addPod(withClaim("p", "c"));
    await settle();
    expect(await places()).toEqual({ p: undefined });
    if (wake === "claim") await addClaim(claimFor("c", [exactly("r")]));
    else if (wake === "class") await addClass();
    else await addSlice(slice("a", devices(1), { on: "b" }));
    await later();
    expect(await places()).toEqual({ p: "b" });
  });

  it("say which class is missing", async () => {
    const { addClaim, addPod, settle, events } = await cluster();
    await addClaim(claimFor("c", [exactly("r")]));
    await addPod(withClaim("p", "c"));
    await settle();
    expect(await events("p")).toEqual([
      "FailedScheduling: 0/2 nodes are available: request r: device class gpu does not exist. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
    ]);
  });

  it("share a claim, on the node of its device", async () => {
    const { addClass, addSlice, addClaim, addPod, settle, places, later, claims } = await cluster();
    await addClass();
    await addSlice(slice("b", devices(1), { on: "b" }));
    await addClaim(claimFor("c", [exactly("r")]));
    for (const name of ["p1", "p2", "p3"]) await addPod(withClaim(name, "c"));
    await settle();
    await later();
    expect(await places()).toEqual({ p1: "b", p2: "b", p3: "b" });
    expect((await claims.get("c")).status?.reservedFor?.length).toBe(3);
  });

  it("free an idle claim whose device is out of reach", async () => {
    const { addClass, addSlice, addClaim, addPod, settle, places, later, finish, events, allocated } = await cluster();
    await addClass();
    for (const name of ["a", "b"]) await addSlice(slice(name, devices(1), { on: name }));
    await addClaim(claimFor("c", [exactly("r")]));
    await addPod(withClaim("p1", "c", { nodeSelector: { "kubernetes.io/hostname": "a" } }));
    await settle();
    expect(await allocated()).toEqual(["a/gpu-0"]);
    await addPod(withClaim("p2", "c", { nodeSelector: { "kubernetes.io/hostname": "b" } }));
    await settle();
    expect((await events("p2"))[0]).toContain(
      "1 node(s) didn't match Pod's node affinity/selector, 1 resourceclaim not available on the node. still not schedulable",
    );
    await finish("p1");
    await later(400_000);
    expect(await places()).toMatchObject({ p2: "b" });
    expect(await allocated()).toEqual(["b/gpu-0"]);
  });

  it("prefer nodes with the first alternative", async () => {
    const { addClass, addSlice, addClaim, addPod, settle, places } = await cluster();
    await addClass(deviceClass("large", [`device.driver == "large.example.com"`]));
    await addClass(deviceClass("small", [`device.driver == "small.example.com"`]));
    await addSlice(slice("a", devices(1), { on: "a", driver: "small.example.com" }));
    await addSlice(slice("b", devices(1), { on: "b", driver: "large.example.com" }));
    const firstAvailable = ["large", "small"].map((name) => ({ name, deviceClassName: name }));
    await addClaim(claimFor("c", [{ name: "r", firstAvailable }]));
    await addPod(withClaim("p", "c"));
    await settle();
    expect(await places()).toEqual({ p: "b" });
  });
});

describe("writes", () => {
  it("are repeated after conflicts, and given up if another has allocated the claim", async () => {
    const { addClass, addSlice, addClaim, addPod, settle, places, later, meddle, claims, client } = await cluster();
    await addClass();
    await addSlice(slice("a", devices(2), { on: "a" }));
    await addClaim(claimFor("c", [exactly("r")]));
    let conflicts = 2;
    meddle(({ method, path }) =>
      method === "PUT" && path.endsWith("/resourceclaims/c/status") && conflicts-- > 0
        ? new StatusError("Conflict", "changed")
        : undefined,
    );
    await addPod(withClaim("p", "c"));
    await settle();
    await later(1_000);
    expect(await places()).toEqual({ p: "a" });

    await addClaim(claimFor("d", [exactly("r")]));
    let isTaken = false;
    meddle(async ({ method, path }) => {
      if (method !== "PUT" || !path.endsWith("/resourceclaims/d/status") || isTaken) return undefined;
      isTaken = true;
      const now = await claims.get("d");
      const results = [{ request: "r", driver: DRIVER, pool: "a", device: "gpu-1" }];
      await claims.updateStatus({ ...now, status: { allocation: { devices: { results } } } });
      return undefined;
    });
    await addPod(withClaim("q", "d"));
    await settle();
    await later(30_000);
    expect(await places()).toEqual({ p: "a", q: expect.any(String) });
    expect((await client.of(kinds.Event).list()).items.map(({ note }) => note)).toContainEqual(
      expect.stringContaining("claim default/d got allocated elsewhere in the meantime"),
    );
  });

  it("are undone if the Pod cannot be bound", async () => {
    const { addClass, addSlice, addClaim, addPod, settle, meddle, claims, client } = await cluster();
    await addClass();
    await addSlice(slice("a", devices(1), { on: "a" }));
    await addClaim(claimFor("c", [exactly("r")]));
    meddle(({ path }) => (path.endsWith("/binding") ? new StatusError("InternalError", "not now") : undefined));
    await addPod(withClaim("p", "c"));
    await settle();
    expect((await claims.get("c")).status).toMatchObject({ allocation: {} });
    expect((await claims.get("c")).status?.reservedFor ?? []).toEqual([]);
    meddle(() => undefined);
    await client.of(kinds.Pod).in("default").delete("p", { gracePeriodSeconds: 0 });
  });
});

describe("devices with binding conditions", () => {
  const attached = (status: "True" | "False", type = "Attached") => ({
    type,
    status,
    reason: "Cable",
    message: "plugged",
    lastTransitionTime: "2030-01-01T00:00:00Z",
  });
  async function waiting() {
    const running = await cluster();
    const { addClass, addSlice, addClaim, addPod, settle, claims } = running;
    await addClass();
    for (const name of ["a", "b"])
      await addSlice(
        slice(
          name,
          devices(1, { bindsToNode: true, bindingConditions: ["Attached"], bindingFailureConditions: ["Failed"] }),
          { on: name },
        ),
      );
    await addClaim(claimFor("c", [exactly("r")]));
    await addPod(withClaim("p", "c"));
    await settle();
    const report = async (...conditions: ReturnType<typeof attached>[]) => {
      const claim = await claims.get("c");
      const [result] = claim.status?.allocation?.devices?.results ?? [];
      if (result === undefined) throw new Error("nothing is allocated");
      const { driver, pool, device } = result;
      await claims.updateStatus({
        ...claim,
        status: { ...claim.status, devices: [{ driver, pool, device, conditions }] },
      });
      await settle();
      return pool;
    };
    return { ...running, report };
  }

  it("hold the Pod until they are met", async () => {
    const { places, report, events } = await waiting();
    expect(await places()).toEqual({ p: undefined });
    expect(await events("p")).toEqual([
      expect.stringMatching(/^BindingConditionsPending: waiting for binding conditions for device on node [ab]$/),
    ]);
    await report(attached("False"));
    expect(await places()).toEqual({ p: undefined });
    const on = await report(attached("True"));
    expect(await places()).toEqual({ p: on });
  });

  it("are freed when they fail", async () => {
    const { report, events, later, allocated } = await waiting();
    await report(attached("True", "Failed"));
    expect(await events("p")).toContainEqual(
      expect.stringContaining('claim c binding failed: reason=Cable, message="plugged"'),
    );
    await later(60_000);
    expect(await events("p")).toContainEqual(expect.stringContaining("deallocation of ResourceClaim completed"));
    expect((await allocated())[0]).not.toBe("");
  });

  it("are freed after ten minutes", async () => {
    const { events, later } = await waiting();
    await later(605_000);
    expect(await events("p")).toContainEqual(expect.stringMatching(/binding timeout/));
    await later(60_000);
    expect(await events("p")).toContainEqual(expect.stringContaining("deallocation of ResourceClaim completed"));
  });
});

describe("extended resources that devices provide", () => {
  const GPU = "example.com/gpu";
  const wanting = (name: string, count: number, resource = GPU) => {
    const amounts = { [resource]: String(count) };
    return pod(name, {
      spec: { containers: [{ name: "app", image: "x", resources: { requests: amounts, limits: amounts } }] },
    });
  };
  const backed = () => ({ ...deviceClass("gpu"), spec: { extendedResourceName: GPU } });

  it("become a claim of the scheduler's own, which the Pod's status names", async () => {
    const { addSlice, addClass, addPod, settle, places, claims, client, finish, allocated } = await cluster();
    await addSlice(slice("a", devices(2), { on: "a" }));
    await addPod(wanting("early", 1));
    await settle();
    expect(await places()).toEqual({ early: undefined });
    // The class says that devices stand for the resource: the Pod that waits is tried again.
    await addClass(backed());
    await settle();
    expect(await places()).toEqual({ early: "a" });
    const [claim] = (await claims.list()).items;
    expect(claim).toMatchObject({
      metadata: {
        name: expect.stringMatching(/^early-extended-resources-/),
        annotations: { "resource.kubernetes.io/extended-resource-claim": "true" },
        ownerReferences: [{ kind: "Pod", name: "early", controller: true }],
      },
      spec: {
        devices: { requests: [{ name: "container-0-request-0", exactly: { deviceClassName: "gpu", count: 1 } }] },
      },
      status: { reservedFor: [{ resource: "pods", name: "early" }] },
    });
    const { status } = await client.of(kinds.Pod).in("default").get("early");
    expect(status?.extendedResourceClaimStatus).toEqual({
      resourceClaimName: claim?.metadata.name,
      requestMappings: [{ containerName: "app", resourceName: GPU, requestName: "container-0-request-0" }],
    });
    // By the class's own name, too; and no device is given twice.
    await addPod(wanting("implicit", 1, "deviceclass.resource.kubernetes.io/gpu"));
    await addPod(wanting("late", 1));
    await settle();
    expect(await places()).toEqual({ early: "a", implicit: "a", late: undefined });
    expect((await allocated()).toSorted()).toEqual(["a/gpu-0", "a/gpu-1"]);
    await finish("early");
    await settle();
    expect(await places()).toMatchObject({ late: "a" });
  });

  it("come from a device plugin where the node has one, without a claim", async () => {
    const { addNode, addSlice, addClass, addPod, settle, places, claims } = await cluster({ nodes: ["a"] });
    await addSlice(slice("a", devices(1), { on: "a" }));
    await addClass(backed());
    const other = node("b");
    const amounts = (own: Readonly<Record<string, string>> = {}) => ({ ...own, [GPU]: "1" });
    const { capacity, allocatable } = other.status ?? {};
    await addNode({
      ...other,
      status: { ...other.status, capacity: amounts(capacity), allocatable: amounts(allocatable) },
    });
    await addPod(wanting("p1", 1));
    await addPod(wanting("p2", 1));
    await addPod(wanting("p3", 1));
    await settle();
    const found = Object.values(await places());
    expect(found.toSorted()).toEqual(["a", "b", undefined]);
    expect((await claims.list()).items.length).toBe(1);
  });
});

describe("the claim for extended resources", () => {
  const want = (name: string, count: number, restartPolicy?: "Always"): core.Container => ({
    name,
    resources: { requests: { cpu: "1", "x.com/gpu": String(count) } },
    ...(restartPolicy !== undefined && { restartPolicy }),
  });
  const shown = (initContainers: readonly core.Container[], containers: readonly core.Container[]) => {
    const { requests, mappings } = extendedRequests({ metadata: {}, spec: { initContainers, containers } }, (name) =>
      name === "x.com/gpu" ? "gpu" : undefined,
    );
    return [
      requests.map(({ name, exactly }) => `${name}: ${exactly?.count}`),
      mappings.map(({ containerName, requestName }) => `${containerName} ${requestName}`),
    ];
  };
  it.each([
    {
      name: "a request for each container",
      init: [],
      containers: [want("a", 1), want("b", 2)],
      requests: ["container-0-request-1: 1", "container-1-request-1: 2"],
      mappings: ["a container-0-request-1", "b container-1-request-1"],
    },
    {
      name: "init containers use what is there for later ones",
      init: [want("i", 2)],
      containers: [want("a", 1), want("b", 2)],
      requests: ["container-1-request-1: 1", "container-2-request-1: 2"],
      mappings: [
        "a container-1-request-1",
        "b container-2-request-1",
        "i container-1-request-1",
        "i container-2-request-1",
      ],
    },
    {
      name: "and only the most that they want more",
      init: [want("i", 3), want("j", 5)],
      containers: [want("a", 1)],
      requests: ["container-1-request-1: 4", "container-2-request-1: 1"],
      mappings: [
        "a container-2-request-1",
        "i container-2-request-1",
        "i container-1-request-1",
        "j container-2-request-1",
        "j container-1-request-1",
      ],
    },
    {
      name: "sidecars keep theirs",
      init: [want("s", 1, "Always"), want("i", 1)],
      containers: [want("a", 1)],
      requests: ["container-0-request-1: 1", "container-2-request-1: 1"],
      mappings: ["s container-0-request-1", "a container-2-request-1", "i container-2-request-1"],
    },
  ])("$name", ({ init, containers, requests, mappings }) => {
    expect(shown(init, containers)).toEqual([requests, mappings]);
  });
});
