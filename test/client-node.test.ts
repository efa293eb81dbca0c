/**
 * The official JavaScript client in its widespread version 1, as programs use it: typed verbs, patches, watches and
 * informers.
 */
import {
  ApiException,
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  Watch,
} from "client-node-1";
import { describe, expect, it } from "vitest";
import { Home } from "./support/k8ts.ts";
import { deployment } from "./support/manifests.ts";
import { clusterForFile } from "./support/tools.ts";

const namespace = "default";
const shared = clusterForFile();

describe("@kubernetes/client-node", () => {
  it("creates, reads, lists, replaces and deletes", async () => {
    const core = coreOf(shared());
    await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name: "robot" } } });
    const created = await core.createNamespacedPod({
      namespace,
      body: {
        metadata: { name: "web", labels: { app: "web" } },
        spec: { serviceAccountName: "robot", containers: [{ name: "web", image: "nginx:1" }] },
      },
    });
    expect(created).toMatchObject({ metadata: { name: "web", namespace }, spec: { restartPolicy: "Always" } });
    expect(created.metadata?.creationTimestamp).toBeInstanceOf(Date);

    const read = await core.readNamespacedPod({ namespace, name: "web" });
    expect(read.metadata?.uid).toBe(created.metadata?.uid);
    const listed = await core.listPodForAllNamespaces({ labelSelector: "app=web" });
    expect(listed.items.map(({ metadata }) => metadata?.name)).toEqual(["web"]);

    const marked = { ...read, metadata: { ...read.metadata, annotations: { seen: "yes" } } };
    const replaced = await core.replaceNamespacedPod({ namespace, name: "web", body: marked });
    expect(replaced.metadata?.annotations).toEqual({ seen: "yes" });

    await core.deleteNamespacedPod({ namespace, name: "web", gracePeriodSeconds: 0 });
    await expect(core.readNamespacedPod({ namespace, name: "web" })).rejects.toMatchObject({ code: 404 });
  });

  it("gets errors as Status objects", async () => {
    const core = coreOf(shared());
    const body = { metadata: { name: "taken" } };
    const first = await core.createNamespacedConfigMap({ namespace, body });
    expect(await failure(core.createNamespacedConfigMap({ namespace, body }))).toMatchObject({
      code: 409,
      status: {
        kind: "Status",
        status: "Failure",
        reason: "AlreadyExists",
        message: 'configmaps "taken" already exists',
      },
    });
    await core.replaceNamespacedConfigMap({ namespace, name: "taken", body: { ...first, data: { a: "1" } } });
    expect(await failure(core.replaceNamespacedConfigMap({ namespace, name: "taken", body: first }))).toMatchObject({
      code: 409,
      status: { reason: "Conflict", details: { name: "taken", kind: "configmaps" } },
    });
  });

  it("lists in pages", async () => {
    const core = coreOf(shared());
    for (const name of ["page-a", "page-b", "page-c"]) {
      await core.createNamespacedConfigMap({ namespace, body: { metadata: { name, labels: { pages: "yes" } } } });
    }
    const first = await core.listNamespacedConfigMap({ namespace, labelSelector: "pages", limit: 2 });
    expect(first.items.map(({ metadata }) => metadata?.name)).toEqual(["page-a", "page-b"]);
    const rest = await core.listNamespacedConfigMap({
      namespace,
      labelSelector: "pages",
      limit: 2,
      _continue: first.metadata?._continue ?? "",
    });
    expect(rest.items.map(({ metadata }) => metadata?.name)).toEqual(["page-c"]);
    expect(rest.metadata?._continue).toBeFalsy();
  });

  const patches: { strategy: string; body: object; images: string[]; manager?: string }[] = [
    {
      strategy: PatchStrategy.StrategicMergePatch,
      body: { spec: { template: { spec: { containers: [{ name: "side", image: "busybox" }] } } } },
      images: ["busybox", "nginx:1"],
    },
    {
      strategy: PatchStrategy.MergePatch,
      body: { spec: { template: { spec: { containers: [{ name: "only", image: "busybox" }] } } } },
      images: ["busybox"],
    },
    {
      strategy: PatchStrategy.JsonPatch,
      body: [{ op: "replace", path: "/spec/template/spec/containers/0/image", value: "nginx:2" }],
      images: ["nginx:2"],
    },
    {
      strategy: PatchStrategy.ServerSideApply,
      body: deployment("applied", "nginx:3"),
      images: ["nginx:3"],
      manager: "test",
    },
  ];
  it.each(patches)("patches with $strategy", async ({ strategy, body, images, manager }) => {
    const apps = configOf(shared()).makeApiClient(AppsV1Api);
    const name =
      manager === undefined ? `patch-${patches.findIndex((patch) => patch.strategy === strategy)}` : "applied";
    if (manager === undefined) await apps.createNamespacedDeployment({ namespace, body: deployment(name, "nginx:1") });
    const patched = await apps.patchNamespacedDeployment(
      { namespace, name, body, ...(manager !== undefined && { fieldManager: manager, force: true }) },
      setHeaderOptions("Content-Type", strategy),
    );
    expect(patched.spec?.template.spec?.containers.map(({ image }) => image)).toEqual(images);
  });

  it("finds resources through discovery", async () => {
    const objects = KubernetesObjectApi.makeApiClient(configOf(shared()));
    const created = await objects.create(deployment("discovered", "nginx:1"));
    expect(created).toMatchObject({ metadata: { namespace, uid: expect.any(String) } });
    await objects.patch({ ...deployment("discovered", "nginx:2"), metadata: { name: "discovered", namespace } });
    const read = await objects.read({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "discovered", namespace },
    });
    expect(read).toMatchObject({ spec: { template: { spec: { containers: [{ image: "nginx:2" }] } } } });
    expect(await objects.delete(created)).toMatchObject({ status: "Success" });
  });

  it("watches", async () => {
    const core = coreOf(shared());
    const events: string[] = [];
    const done = Promise.withResolvers<unknown>();
    const watch = await new Watch(configOf(shared())).watch(
      `/api/v1/namespaces/${namespace}/configmaps`,
      { labelSelector: "watched" },
      (type: string, { metadata, data }: V1ConfigMap) => events.push(`${type} ${metadata?.name} ${data?.a}`),
      (error) => done.resolve(error),
    );
    await core.createNamespacedConfigMap({
      namespace,
      body: { metadata: { name: "seen", labels: { watched: "yes" } }, data: { a: "1" } },
    });
    await core.patchNamespacedConfigMap(
      { namespace, name: "seen", body: { data: { a: "2" } } },
      setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
    );
    await core.deleteNamespacedConfigMap({ namespace, name: "seen" });
    await expect.poll(() => events).toEqual(["ADDED seen 1", "MODIFIED seen 2", "DELETED seen 2"]);
    watch.abort();
    await done.promise;
  });
});

describe("an informer of @kubernetes/client-node", () => {
  it("follows changes, also across a restart of the server, which still knows what was missed", async () => {
    await using home = new Home();
    await up(home, "0");
    const core = coreOf(home);
    const create = (name: string) =>
      core.createNamespacedConfigMap({ namespace, body: { metadata: { name, labels: { informed: "yes" } } } });
    await create("before");

    const events: string[] = [];
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const list = () => core.listNamespacedConfigMap({ namespace, labelSelector: "informed" });
    const informer = makeInformer(configOf(home), path, list, "informed");
    for (const verb of ["add", "update", "delete"] as const) {
      informer.on(verb, ({ metadata }) => events.push(`${verb} ${metadata?.name}`));
    }
    const lost = Promise.withResolvers<unknown>();
    informer.on("error", lost.resolve);
    await informer.start();
    const { metadata: seen } = await create("while");
    await expect.poll(() => events).toEqual(["add before", "add while"]);

    // Moves the server's revision on, past what the informer has seen.
    await core.createNamespacedSecret({ namespace, body: { metadata: { name: "unseen" } } });
    const { port } = new URL(home.runState().url);
    await home.k8ts("down");
    await lost.promise;
    await up(home, port);
    await core.deleteNamespacedConfigMap({ namespace, name: "before" });
    await create("after");
    // Not told to list again: the store's history outlives the process.
    expect(await firstEvent(home, path, seen?.resourceVersion ?? "")).toMatchObject({
      type: "DELETED",
      object: { metadata: { name: "before" } },
    });

    await informer.start();
    await expect.poll(() => events).toEqual(["add before", "add while", "delete before", "add after"]);
    await create("later");
    await expect.poll(() => events).toContain("add later");
    expect(informer.list().map(({ metadata }) => metadata?.name)).toEqual(["while", "after", "later"]);
    await informer.stop();
  });
});

function configOf(home: Home): KubeConfig {
  const config = new KubeConfig();
  config.loadFromFile(home.kubeconfig);
  return config;
}

function coreOf(home: Home): CoreV1Api {
  return configOf(home).makeApiClient(CoreV1Api);
}

async function up(home: Home, port: string): Promise<void> {
  expect(await home.k8ts("up", "--port", port, "--detach")).toMatchObject({ code: 0, stderr: "" });
}

async function failure(request: Promise<unknown>): Promise<{ code: number; status: unknown }> {
  const error = await request.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(error instanceof ApiException)) throw error ?? new Error("the request should have failed");
  return { code: error.code, status: JSON.parse(error.body) };
}

async function firstEvent(
  home: Home,
  path: string,
  resourceVersion: string,
): Promise<{ type: string; object: unknown }> {
  const event = Promise.withResolvers<{ type: string; object: unknown }>();
  const watch = await new Watch(configOf(home)).watch(
    path,
    { resourceVersion },
    (type: string, object: unknown) => event.resolve({ type, object }),
    (error) => event.reject(error ?? new Error("the watch ended without an event")),
  );
  const first = await event.promise;
  watch.abort();
  return first;
}
