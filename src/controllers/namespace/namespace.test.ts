import { afterEach, describe, expect, it } from "vitest";
import { kinds, StatusError } from "#api";
import { testControllers } from "../testing/index.ts";
import { emptyingConditions } from "./conditions.ts";
import { namespaceController } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function cluster() {
  const running = await testControllers([namespaceController]);
  open.push(() => running.close());
  const { client } = running;
  await client.of(kinds.Namespace).create({ metadata: { name: "n" } });
  for (const name of ["a", "b"]) await client.of(kinds.ConfigMap).in("n").create({ metadata: { name } });
  const status = async () =>
    (await client.of(kinds.Namespace).get("n")).status?.conditions?.map(
      ({ type, status, message }) => `${type} ${status} ${message}`,
    );
  const exists = () =>
    client
      .of(kinds.Namespace)
      .get("n")
      .then(
        () => true,
        () => false,
      );
  return { ...running, status, exists };
}

describe("a namespace that is deleted", () => {
  it("goes with all that is in it", async () => {
    const { client, settle, exists } = await cluster();
    await client
      .of(kinds.Secret)
      .in("n")
      .create({ metadata: { name: "s" } });
    await client
      .of(kinds.ConfigMap)
      .in("default")
      .create({ metadata: { name: "stays" } });
    await client.of(kinds.Namespace).delete("n");
    await settle();
    expect(await exists()).toBe(false);
    expect((await client.of(kinds.ConfigMap).list()).items.map(({ metadata }) => metadata.name)).toEqual(["stays"]);
    expect((await client.of(kinds.Secret).list()).items).toEqual([]);
  });

  it("waits for finalizers, and says so", async () => {
    const { client, settle, clock, status, exists } = await cluster();
    await client
      .of(kinds.Secret)
      .in("n")
      .create({ metadata: { name: "s", finalizers: ["example.com/hold"] } });
    await client.of(kinds.Namespace).delete("n");
    await settle();
    expect(await status()).toEqual([
      "NamespaceDeletionDiscoveryFailure False All resources successfully discovered",
      "NamespaceDeletionGroupVersionParsingFailure False All legacy kube types successfully parsed",
      "NamespaceDeletionContentFailure False All content successfully deleted, may be waiting on finalization",
      "NamespaceContentRemaining True Some resources are remaining: secrets. has 1 resource instances",
      "NamespaceFinalizersRemaining True Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
    ]);
    await client
      .of(kinds.Secret)
      .in("n")
      .patch("s", { type: "merge", object: { metadata: { finalizers: null } } });
    await clock.advance(30_000);
    expect(await exists()).toBe(false);
  });

  it("loses its Pods before anything else is deleted", async () => {
    const { client, settle, clock, status, exists } = await cluster();
    const pods = client.of(kinds.Pod).in("n");
    const spec = { terminationGracePeriodSeconds: 0, containers: [{ name: "c", image: "app:1" }] };
    await pods.create({ metadata: { name: "held", finalizers: ["example.com/hold"] }, spec });
    await pods.create({ metadata: { name: "free" }, spec });
    await client.of(kinds.Namespace).delete("n");
    await settle();
    await clock.advance(60_000);
    expect((await pods.list()).items.map(({ metadata }) => metadata.name)).toEqual(["held"]);
    const maps = (await client.of(kinds.ConfigMap).in("n").list()).items;
    expect(maps.map(({ metadata }) => `${metadata.name} ${metadata.deletionTimestamp}`)).toEqual([
      "a undefined",
      "b undefined",
    ]);
    expect((await status())?.slice(2)).toEqual([
      "NamespaceDeletionContentFailure False All content successfully deleted, may be waiting on finalization",
      "NamespaceContentRemaining True Some resources are remaining: pods. has 1 resource instances",
      "NamespaceFinalizersRemaining True Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
    ]);
    await pods.patch("held", { type: "merge", object: { metadata: { finalizers: null } } });
    await clock.advance(30_000);
    expect(await exists()).toBe(false);
  });

  it("reports Pods that are still there when their grace period is over", async () => {
    const { client, settle, clock, status } = await cluster();
    const pods = client.of(kinds.Pod).in("n");
    const containers = [{ name: "c", image: "app:1" }];
    await pods.create({
      metadata: { name: "slow" },
      spec: { nodeName: "gone", terminationGracePeriodSeconds: 20, containers },
    });
    await client.of(kinds.Namespace).delete("n");
    await settle();
    expect((await status())?.[2]).toMatch(/^NamespaceDeletionContentFailure False/);
    await clock.advance(30_000);
    expect((await status())?.[2]).toBe(
      "NamespaceDeletionContentFailure True Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: n for gvr: /v1, Resource=pods",
    );
  });

  it("stays while something in it cannot be deleted, and goes when it can", async () => {
    const { client, settle, clock, refuse, status, exists } = await cluster();
    refuse(({ method, path }) =>
      method === "DELETE" && path.endsWith("/configmaps") ? new StatusError("InternalError", "not now") : undefined,
    );
    await client.of(kinds.Namespace).delete("n");
    await settle();
    expect((await status())?.[2]).toBe(
      "NamespaceDeletionContentFailure True Failed to delete all resource types, 1 remaining: not now",
    );
    refuse(() => undefined);
    await clock.advance(60_000);
    expect(await exists()).toBe(false);
  });

  it("keeps the time of a condition that says the same", () => {
    const nothing = { failures: [], remaining: new Map(), finalizers: new Map() };
    const first = emptyingConditions(nothing, [], "2030-01-01T00:00:00Z");
    const later = emptyingConditions({ ...nothing, failures: ["x"] }, first, "2030-01-01T00:00:05Z");
    expect(later.map(({ lastTransitionTime }) => lastTransitionTime?.slice(17, 19))).toEqual([
      "00",
      "00",
      "05",
      "00",
      "00",
    ]);
  });
});
