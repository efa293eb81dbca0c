import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds, StatusError, type storage } from "#api";
import { testControllers } from "../testing/index.ts";
import { bestVolume } from "./best-volume.ts";
import { persistentVolumeBinder } from "./index.ts";
import { migratedClaim, migratedVolume } from "./migration.ts";
import { planVolume } from "./plan-volume.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

type Volume = core.PersistentVolume;
type VolumeClaim = core.PersistentVolumeClaim;

interface VolumeFacts {
  readonly size?: string;
  readonly modes?: NonNullable<Volume["spec"]>["accessModes"];
  readonly spec?: Volume["spec"];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly phase?: NonNullable<Volume["status"]>["phase"];
}

function volume(name: string, { size = "1Gi", modes = ["ReadWriteOnce"], ...facts }: VolumeFacts = {}): Volume {
  return {
    metadata: {
      name,
      ...(facts.annotations && { annotations: facts.annotations }),
      ...(facts.labels && { labels: facts.labels }),
    },
    spec: {
      capacity: { storage: size },
      accessModes: modes,
      ...(facts.spec?.csi === undefined && { hostPath: { path: "/data" } }),
      persistentVolumeReclaimPolicy: "Retain",
      ...facts.spec,
    },
    ...(facts.phase && { status: { phase: facts.phase } }),
  };
}

function claim(name: string, spec: VolumeClaim["spec"] = {}): VolumeClaim {
  return {
    metadata: { name, namespace: "default" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
  };
}

const storageClass = (name: string, facts: Partial<storage.StorageClass> = {}): storage.StorageClass => ({
  metadata: { name },
  provisioner: "example.com/disk",
  ...facts,
});

async function cluster() {
  const running = await testControllers([persistentVolumeBinder()]);
  open.push(() => running.close());
  const { client, settle } = running;
  await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
  const volumes = client.of(kinds.PersistentVolume);
  const claims = client.of(kinds.PersistentVolumeClaim).in("default");
  /** As `kubectl get` shows them: phases, and who is whose. */
  const shown = async (): Promise<Record<string, string>> => {
    await settle();
    const all = await Promise.all([volumes.list(), claims.list()]);
    return Object.fromEntries([
      ...all[0].items.map(({ metadata, spec, status }) => [
        metadata.name,
        [status?.phase, spec?.claimRef?.name].filter(Boolean).join(" "),
      ]),
      ...all[1].items.map(({ metadata, spec, status }) => [
        metadata.name,
        [status?.phase, spec?.volumeName].filter(Boolean).join(" "),
      ]),
    ]);
  };
  const events = async () => {
    await settle();
    return (await client.of(kinds.Event).list()).items.map(
      ({ regarding, reason, note }) => `${regarding?.name} ${reason} ${note}`,
    );
  };
  return { ...running, volumes, claims, shown, events };
}

describe("a claim", () => {
  it("is bound to the best volume there is, with all that goes with it", async () => {
    const { volumes, claims, shown } = await cluster();
    for (const each of [
      volume("large", { size: "10Gi" }),
      volume("fitting", { size: "2Gi" }),
      volume("small", { size: "500Mi" }),
      volume("shared", { modes: ["ReadWriteOnce", "ReadWriteMany"] }),
      volume("classed", { spec: { storageClassName: "fast" } }),
    ])
      await volumes.create(each);
    expect(await shown()).toMatchObject({ large: "Available", small: "Available" });
    await claims.create(claim("data"));
    expect(await shown()).toMatchObject({ data: "Bound fitting", fitting: "Bound data", large: "Available" });
    const bound = await claims.get("data");
    expect(bound.metadata.annotations).toEqual({
      "pv.kubernetes.io/bind-completed": "yes",
      "pv.kubernetes.io/bound-by-controller": "yes",
    });
    expect(bound.status).toEqual({ phase: "Bound", accessModes: ["ReadWriteOnce"], capacity: { storage: "2Gi" } });
    const { metadata, spec } = await volumes.get("fitting");
    expect(metadata.annotations).toEqual({ "pv.kubernetes.io/bound-by-controller": "yes" });
    expect(spec?.claimRef).toMatchObject({
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      namespace: "default",
      name: "data",
      uid: bound.metadata.uid,
    });
  });

  it("waits for a volume and says so", async () => {
    const { client, volumes, claims, shown, events } = await cluster();
    await claims.create(claim("data", { storageClassName: "" }));
    expect(await shown()).toEqual({ data: "Pending" });
    expect((await client.of(kinds.Event).list()).items[0]?.reportingController).toBe("persistentvolume-controller");
    expect(await events()).toEqual([
      "data FailedBinding no persistent volumes available for this claim and no storage class is set",
    ]);
    await volumes.create(volume("late"));
    expect(await shown()).toEqual({ data: "Bound late", late: "Bound data" });
  });

  it("gets the volume that was made for it, and no other claim does", async () => {
    const { volumes, claims, shown } = await cluster();
    await volumes.create(volume("hers", { size: "5Gi", spec: { claimRef: { namespace: "default", name: "data" } } }));
    await volumes.create(volume("any"));
    await claims.create(claim("other", { resources: { requests: { storage: "3Gi" } } }));
    await claims.create(claim("data"));
    expect(await shown()).toEqual({ hers: "Bound data", any: "Available", data: "Bound hers", other: "Pending" });
    expect((await volumes.get("hers")).metadata.annotations).toBeUndefined();
  });

  it("gets the volume that it names if that fits, else is told why not", async () => {
    const { volumes, claims, shown, events } = await cluster();
    await claims.create(claim("early", { volumeName: "one" }));
    expect(await shown()).toEqual({ early: "Pending one" });
    await volumes.create(volume("one", { size: "9Gi" }));
    await volumes.create(volume("small", { size: "1Mi" }));
    await claims.create(claim("big", { volumeName: "small" }));
    await claims.create(claim("late", { volumeName: "one" }));
    expect(await shown()).toMatchObject({
      early: "Bound one",
      one: "Bound early",
      big: "Pending small",
      late: "Pending one",
    });
    expect(await events()).toEqual(
      expect.arrayContaining([
        'big VolumeMismatch Cannot bind to requested volume "small": requested PV is too small',
        'late FailedBinding volume "one" already bound to a different claim.',
      ]),
    );
  });

  it("is lost with its volume", async () => {
    const { volumes, claims, shown, events } = await cluster();
    await volumes.create(volume("one"));
    await claims.create(claim("data"));
    await shown();
    await volumes.delete("one");
    expect(await shown()).toEqual({ data: "Lost one" });
    expect(await events()).toEqual([
      "data ClaimLost Bound claim has lost its PersistentVolume. Data on the volume is lost!",
    ]);
    expect((await claims.get("data")).status).toEqual({ phase: "Lost" });
  });

  it("gets the default class when there is one", async () => {
    const { client, claims, settle } = await cluster();
    await claims.create(claim("data"));
    await settle();
    const annotations = { "storageclass.kubernetes.io/is-default-class": "true" };
    await client
      .of(kinds.StorageClass)
      .create({ ...storageClass("standard"), metadata: { name: "standard", annotations } });
    await settle();
    const { spec, metadata } = await claims.get("data");
    expect(spec?.storageClassName).toBe("standard");
    expect(metadata.annotations).toEqual({
      "volume.beta.kubernetes.io/storage-provisioner": "example.com/disk",
      "volume.kubernetes.io/storage-provisioner": "example.com/disk",
    });
  });

  it("is handed to whoever makes volumes of its class", async () => {
    const { client, claims, volumes, shown, events } = await cluster();
    await claims.create(claim("data", { storageClassName: "fast" }));
    expect(await events()).toEqual(['data ProvisioningFailed storageclass.storage.k8s.io "fast" not found']);
    await client.of(kinds.StorageClass).create(storageClass("fast"));
    expect((await events()).at(-1)).toMatch(
      "data ExternalProvisioning Waiting for a volume to be created either by the external provisioner 'example.com/disk' or manually",
    );
    const { metadata } = await claims.get("data");
    const { uid = "" } = metadata;
    await volumes.create(
      volume("pvc-1", {
        spec: { storageClassName: "fast", claimRef: { namespace: "default", name: "data", uid } },
        annotations: { "pv.kubernetes.io/provisioned-by": "example.com/disk" },
      }),
    );
    expect(await shown()).toEqual({ data: "Bound pvc-1", "pvc-1": "Bound data" });
  });

  it.each([
    ["kubernetes.io/no-provisioner", "ProvisioningFailed no volume plugin matched name: kubernetes.io/no-provisioner"],
    ["kubernetes.io/aws-ebs", "external provisioner 'ebs.csi.aws.com'"],
  ])("of a class of %s", async (provisioner, told) => {
    const { client, claims, events } = await cluster();
    await client.of(kinds.StorageClass).create(storageClass("c", { provisioner }));
    await claims.create(claim("data", { storageClassName: "c" }));
    expect((await events()).join()).toContain(told);
  });

  it("of a class that waits is left to the scheduler", async () => {
    const { client, claims, volumes, settle, shown, events } = await cluster();
    await client.of(kinds.StorageClass).create(storageClass("local", { volumeBindingMode: "WaitForFirstConsumer" }));
    await volumes.create(volume("one", { spec: { storageClassName: "local" } }));
    await claims.create(claim("data", { storageClassName: "local" }));
    expect(await shown()).toEqual({ one: "Available", data: "Pending" });
    const pod: core.Pod = {
      metadata: { name: "p", namespace: "default" },
      spec: {
        containers: [{ name: "c", image: "i" }],
        volumes: [{ name: "v", persistentVolumeClaim: { claimName: "data" } }],
      },
    };
    await client.of(kinds.Pod).create(pod);
    expect(await events()).toEqual([
      "data WaitForFirstConsumer waiting for first consumer to be created before binding",
      "data WaitForPodScheduled waiting for pod p to be scheduled",
    ]);
    await claims.patch("data", {
      type: "merge",
      object: { metadata: { annotations: { "volume.kubernetes.io/selected-node": "n" } } },
    });
    await settle();
    expect((await claims.get("data")).metadata.annotations).toMatchObject({
      "volume.kubernetes.io/storage-provisioner": "example.com/disk",
    });
    // The scheduler binds a volume by linking it; the rest follows.
    const { uid = "" } = (await claims.get("data")).metadata;
    await volumes.patch("one", {
      type: "merge",
      object: { spec: { claimRef: { kind: "PersistentVolumeClaim", namespace: "default", name: "data", uid } } },
    });
    expect(await shown()).toEqual({ one: "Bound data", data: "Bound one" });
  });
});

describe("a volume whose claim is gone", () => {
  it.each([
    { name: "is kept", spec: { persistentVolumeReclaimPolicy: "Retain" }, want: "Released data", told: [] },
    {
      name: "is left to whoever made it",
      spec: { persistentVolumeReclaimPolicy: "Delete" },
      annotations: { "pv.kubernetes.io/provisioned-by": "example.com/disk" },
      want: "Released data",
      told: [],
    },
    {
      name: "fails where nobody can delete it",
      spec: { persistentVolumeReclaimPolicy: "Delete" },
      want: "Failed data",
      told: ["one VolumeFailedDelete host_path deleter only supports /tmp/.+ but received provided /data"],
    },
    {
      name: "fails if it is a CSI volume that no provisioner made",
      spec: { persistentVolumeReclaimPolicy: "Delete", csi: { driver: "d", volumeHandle: "h" } },
      want: "Failed data",
      told: ['one VolumeFailedDelete error getting deleter volume plugin for volume "one": no volume plugin matched'],
    },
    {
      name: "is left to the driver that replaces the plugin that made it",
      spec: { persistentVolumeReclaimPolicy: "Delete" },
      annotations: { "pv.kubernetes.io/provisioned-by": "kubernetes.io/aws-ebs" },
      want: "Released data",
      told: [],
    },
    {
      name: "is deleted with the finalizer of its plugin",
      spec: { persistentVolumeReclaimPolicy: "Delete", hostPath: { path: "/tmp/data" } },
      annotations: { "pv.kubernetes.io/provisioned-by": "kubernetes.io/host-path" },
      want: undefined,
      told: [],
    },
    {
      name: "is deleted where that can be done",
      spec: { persistentVolumeReclaimPolicy: "Delete", hostPath: { path: "/tmp/data" } },
      want: undefined,
      told: [],
    },
  ] as const)("$name", async ({ want, told, ...facts }) => {
    const { volumes, claims, shown, events } = await cluster();
    await volumes.create(volume("one", facts));
    expect((await shown()).one).toBe("Available");
    await claims.create(claim("data"));
    await shown();
    await claims.delete("data");
    expect((await shown()).one).toBe(want);
    expect(await events()).toEqual(told);
    // A claim of the same name is another claim.
    await claims.create(claim("data"));
    expect((await shown()).data).toBe("Pending");
  });

  it("is free again if its claim has taken another", () => {
    const linked = volume("one", {
      annotations: { "pv.kubernetes.io/bound-by-controller": "yes", a: "b" },
      spec: { claimRef: { namespace: "default", name: "data", uid: "u" } },
    });
    const taken = {
      ...claim("data", { volumeName: "two" }),
      metadata: { name: "data", namespace: "default", uid: "u" },
    };
    const [write] = planVolume(linked, taken).steps?.[0] ?? [];
    expect(write?.object).toMatchObject({ metadata: { annotations: { a: "b" } } });
    expect(JSON.stringify(write?.object)).not.toContain("claimRef");
  });
});

describe("marks of in-tree plugins", () => {
  const MIGRATED = "pv.kubernetes.io/migrated-to";
  const made = (provisioner: string, more = {}) =>
    volume("one", {
      annotations: { "pv.kubernetes.io/provisioned-by": provisioner, ...more },
      spec: { persistentVolumeReclaimPolicy: "Delete" },
    });
  const FINALIZER = "kubernetes.io/pv-controller";
  const withFinalizer = (of: Volume) => ({ ...of, metadata: { ...of.metadata, finalizers: ["other", FINALIZER] } });
  it.each([
    { name: "a replaced plugin", of: made("kubernetes.io/aws-ebs"), driver: "ebs.csi.aws.com", finalizers: [] },
    {
      name: "a replaced plugin, with the finalizer of before",
      of: withFinalizer(made("kubernetes.io/aws-ebs")),
      driver: "ebs.csi.aws.com",
      finalizers: ["other"],
    },
    {
      name: "a plugin that is not replaced",
      of: made("kubernetes.io/host-path", { [MIGRATED]: "x" }),
      driver: undefined,
      finalizers: [FINALIZER],
    },
    {
      name: "a volume that is kept",
      of: { ...withFinalizer(made("kubernetes.io/host-path")), spec: { persistentVolumeReclaimPolicy: "Retain" } },
      driver: undefined,
      finalizers: ["other"],
    },
  ] as const)("$name", ({ of, driver, finalizers }) => {
    const { metadata } = migratedVolume(of)?.object ?? of;
    expect(metadata.annotations?.[MIGRATED]).toBe(driver);
    expect(metadata.finalizers ?? []).toEqual(finalizers);
  });

  it.each([
    { name: "an external provisioner", of: made("example.com/disk") },
    { name: "no provisioner", of: volume("one") },
    { name: "what is marked", of: made("kubernetes.io/aws-ebs", { [MIGRATED]: "ebs.csi.aws.com" }) },
  ])("nothing changes for $name", ({ of }) => {
    expect(migratedVolume(of)).toBeUndefined();
  });

  it("a claim that asks an in-tree plugin is handed to the driver", async () => {
    const { client, claims, settle } = await cluster();
    await client.of(kinds.StorageClass).create(storageClass("c", { provisioner: "kubernetes.io/cinder" }));
    const annotations = { "volume.beta.kubernetes.io/storage-provisioner": "kubernetes.io/cinder" };
    const asking = claim("data", { storageClassName: "c" });
    const marked = { ...asking, metadata: { ...asking.metadata, annotations } };
    expect(migratedClaim(marked)?.object.metadata.annotations).toMatchObject({
      [MIGRATED]: "cinder.csi.openstack.org",
    });
    await claims.create(marked);
    await settle();
    expect((await claims.get("data")).metadata.annotations).toEqual({
      "volume.beta.kubernetes.io/storage-provisioner": "cinder.csi.openstack.org",
      "volume.kubernetes.io/storage-provisioner": "cinder.csi.openstack.org",
    });
  });
});

describe("without dynamic provisioning", () => {
  it("claims wait for volumes that somebody creates", async () => {
    const running = await testControllers([persistentVolumeBinder({ dynamicProvisioning: false })]);
    open.push(() => running.close());
    const { client, settle } = running;
    await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
    await client.of(kinds.StorageClass).create(storageClass("fast"));
    const claims = client.of(kinds.PersistentVolumeClaim).in("default");
    await claims.create(claim("data", { storageClassName: "fast" }));
    await settle();
    expect((await claims.get("data")).metadata.annotations).toBeUndefined();
    await client.of(kinds.PersistentVolume).create(volume("one", { spec: { storageClassName: "fast" } }));
    await settle();
    expect((await claims.get("data")).spec?.volumeName).toBe("one");
  });
});

describe("the binder", () => {
  it("converges from a stop after any write", async () => {
    for (let limit = 1; limit <= 9; limit++) {
      const first = await cluster();
      let writes = 0;
      first.refuse(({ method }) => {
        if (method !== "GET" && ++writes === limit) void first.stop();
        return undefined;
      });
      for (const name of ["one", "two"]) await first.volumes.create(volume(name));
      await first.claims.create(claim("a"));
      await first.claims.create(claim("b"));
      await first.settle();
      await first.stop();
      const second = await testControllers([persistentVolumeBinder()], { server: first.server });
      open.push(() => second.close());
      await second.settle();
      await second.clock.advance(60_000);
      const left = await first.shown();
      expect([left.one, left.two].sort(), `after ${limit} writes`).toEqual(["Bound a", "Bound b"]);
      expect([left.a, left.b].sort()).toEqual(["Bound one", "Bound two"]);
    }
  });

  it("converges while every third request fails, and then writes nothing more", async () => {
    const { volumes, claims, refuse, clock, shown, writes } = await cluster();
    let count = 0;
    const errors = [
      new StatusError("Conflict", "c"),
      new StatusError("TooManyRequests", "t"),
      new StatusError("InternalError", "i"),
    ];
    refuse(({ method, path }) => {
      if (method === "GET" || path.includes("/events") || ++count % 3 !== 0) return undefined;
      return errors[(count / 3) % errors.length];
    });
    for (let at = 0; at < 8; at++) {
      await volumes.create(volume(`v${at}`));
      await claims.create(claim(`c${at}`));
    }
    await shown();
    await clock.advance(600_000);
    const left = await shown();
    expect(Object.values(left).every((text) => text.startsWith("Bound "))).toBe(true);
    const taken = (await claims.list()).items.map(({ spec }) => spec?.volumeName);
    expect(new Set(taken).size).toBe(8);
    const before = writes();
    await clock.advance(3600_000);
    expect(writes()).toBe(before);
  });
});

describe("the best volume", () => {
  const sizes = fc.constantFrom("1Gi", "2Gi", "5Gi", "10Gi");
  const modes = fc.subarray(["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"] as const, { minLength: 1 });
  const facts = fc.record({
    size: sizes,
    modes,
    phase: fc.constantFrom("Available", "Bound", "Released", "Failed", "Pending"),
    owner: fc.constantFrom(undefined, "data", "other"),
    class: fc.constantFrom("", "fast"),
  });

  it("is never one that somebody else has, nor one that lacks something", () => {
    fc.assert(
      fc.property(fc.array(facts), sizes, modes, (all, size, wanted) => {
        const volumes = all.map((each, at) =>
          volume(`v${at}`, {
            ...each,
            spec: {
              storageClassName: each.class,
              ...(each.owner && { claimRef: { namespace: "default", name: each.owner } }),
            },
          }),
        );
        const asked = claim("data", { accessModes: wanted, resources: { requests: { storage: size } } });
        const found = bestVolume(asked, volumes, true);
        const gi = (text: string | undefined) => Number.parseInt(text ?? "0", 10);
        const open = volumes.filter(
          ({ spec, status }) =>
            gi(spec?.capacity?.storage) >= gi(size) &&
            wanted.every((mode) => spec?.accessModes?.includes(mode)) &&
            (spec?.claimRef?.name === "data" ||
              (spec?.claimRef === undefined && spec?.storageClassName === "" && status?.phase === "Available")),
        );
        if (found === undefined) expect(open).toEqual([]);
        else expect(open).toContain(found);
      }),
    );
  });

  it("binds no volume twice, in whatever order claims and volumes come", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }), async (order) => {
        const { volumes, claims, settle, shown } = await cluster();
        for (const [at, isVolume] of order.entries()) {
          await (isVolume ? volumes.create(volume(`v${at}`)) : claims.create(claim(`c${at}`)));
          if (at % 3 === 0) await settle();
        }
        await shown();
        const taken = (await claims.list()).items
          .map(({ spec }) => spec?.volumeName)
          .filter((name) => name !== undefined);
        const given = order.filter(Boolean).length;
        expect(taken.length).toBe(Math.min(given, order.length - given));
        expect(new Set(taken).size).toBe(taken.length);
      }),
      { numRuns: 10 },
    );
  });
});
