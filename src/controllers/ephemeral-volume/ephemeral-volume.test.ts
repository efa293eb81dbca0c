import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds, StatusError } from "#api";
import { type TestControllers, testControllers } from "../testing/index.ts";
import { ephemeralVolumeController } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const claimSpec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } as const;
const ownVolume = (name: string): core.Volume => ({
  name,
  ephemeral: { volumeClaimTemplate: { metadata: { labels: { for: name } }, spec: claimSpec } },
});

async function cluster(server?: TestControllers["server"]) {
  const running = await testControllers([ephemeralVolumeController], { server });
  open.push(() => running.close());
  const { client, settle } = running;
  if (server === undefined) await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
  const pods = client.of(kinds.Pod).in("default");
  const claims = client.of(kinds.PersistentVolumeClaim).in("default");
  const create = (name: string, ...volumes: core.Volume[]) =>
    pods.create({ metadata: { name }, spec: { containers: [{ name: "c", image: "i" }], volumes } });
  const names = async () => {
    await settle();
    return (await claims.list()).items.map(({ metadata }) => metadata.name);
  };
  return { ...running, pods, claims, create, names };
}

describe("volumes that a Pod brings with it", () => {
  it("have claims that the Pod owns", async () => {
    const { create, claims, names, writes, clock } = await cluster();
    const pod = await create("web", ownVolume("data"), ownVolume("cache"), { name: "other", emptyDir: {} });
    expect(await names()).toEqual(["web-cache", "web-data"]);
    expect(await claims.get("web-data")).toMatchObject({
      metadata: {
        labels: { for: "data" },
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
      spec: claimSpec,
    });
    const before = writes();
    await clock.advance(3600_000);
    expect(writes()).toBe(before);
  });

  it("get their claim again if somebody deletes it", async () => {
    const { create, claims, names } = await cluster();
    await create("web", ownVolume("data"));
    expect(await names()).toEqual(["web-data"]);
    await claims.delete("web-data");
    expect(await names()).toEqual(["web-data"]);
  });

  it("do not take a claim that is not theirs", async () => {
    const { create, claims, client, settle } = await cluster();
    await claims.create({ metadata: { name: "web-data" }, spec: claimSpec });
    await create("web", ownVolume("data"));
    await settle();
    expect((await claims.get("web-data")).metadata.ownerReferences).toBeUndefined();
    const [event] = (await client.of(kinds.Event).in("default").list()).items;
    expect(event).toMatchObject({
      type: "Warning",
      reason: "FailedBinding",
      reportingController: "ephemeral_volume",
      note: "ephemeral volume data: PVC default/web-data was not created for pod default/web (pod is not owner)",
    });
    await claims.delete("web-data");
    await settle();
    expect((await claims.get("web-data")).metadata.ownerReferences).toHaveLength(1);
  });

  it("get their claims after failures, and after the controller was killed between two writes", async () => {
    for (let limit = 1; limit <= 3; limit++) {
      const first = await cluster();
      let count = 0;
      first.refuse(({ method, path }) => {
        if (method === "GET" || path.includes("events")) return undefined;
        if (++count === limit) void first.stop();
        return count === 1 ? new StatusError("InternalError", "not now") : undefined;
      });
      await first.create("web", ownVolume("data"), ownVolume("cache"));
      await first.clock.advance(1_000);
      await first.stop();
      const second = await cluster(first.server);
      expect(await second.names()).toEqual(["web-cache", "web-data"]);
    }
  });

  it("say why they get none", async () => {
    const { create, refuse, client, clock } = await cluster();
    refuse(({ method, path }) =>
      method === "POST" && path.includes("claims") ? new StatusError("Forbidden", "no room") : undefined,
    );
    await create("web", ownVolume("data"));
    await clock.advance(1_000);
    const [event] = (await client.of(kinds.Event).in("default").list()).items;
    expect(event?.note).toBe("ephemeral volume data: create PVC web-data: no room");
  });
});
