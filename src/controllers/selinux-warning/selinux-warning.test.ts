import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds, type storage } from "#api";
import { MetricsRegistry } from "#base";
import { testControllers } from "../testing/index.ts";
import { conflictNote, VolumeUses } from "./conflicts.ts";
import { seLinuxWarningController } from "./index.ts";
import { labelOf, labelsConflict, volumeLabels } from "./labels.ts";
import { conflictMetrics } from "./metrics.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

describe("labels", () => {
  it.each([
    { name: "nothing is said", given: {}, want: "" },
    { name: "a level", given: { level: "s0:c1,c2" }, want: ":::s0:c1,c2" },
    { name: "all", given: { user: "u", role: "r", type: "t", level: "s0" }, want: "u:r:t:s0" },
  ])("$name: $want", ({ given, want }) => {
    expect(labelOf(given)).toBe(want);
  });

  it.each([
    { one: "u:r:t:s0:c1,c2", other: ":::s0:c1,c2", want: false },
    { one: "u:r:t:s0:c1,c2", other: ":::s0:c98,c99", want: true },
    { one: "", other: ":::s0:c98,c99", want: false },
    { one: "u::t:", other: "::t2:s0", want: true },
    { one: "u:::", other: ":r::s0", want: false },
  ])("$one and $other: $want", ({ one, other, want }) => {
    expect([labelsConflict(one, other), labelsConflict(other, one)]).toEqual([want, want]);
  });

  it("are the container's, else the Pod's, of every volume that is mounted", () => {
    const volumeMounts = [{ name: "data", mountPath: "/data" }];
    const own = { name: "own", volumeMounts, securityContext: { seLinuxOptions: { level: "s0:c1" } } };
    const spec = {
      securityContext: { seLinuxOptions: { level: "s0:c2" } },
      initContainers: [own],
      containers: [
        { name: "c", volumeMounts },
        { name: "device", volumeDevices: [{ name: "raw", devicePath: "/dev/x" }] },
      ],
    };
    expect([...volumeLabels({ metadata: {}, spec })]).toEqual([["data", new Set([":::s0:c1", ":::s0:c2"])]]);
  });
});

describe("conflicts", () => {
  const use = (label: string, policy = "MountOption") => ({ label, policy });

  it("are told to both, and end with one of them", () => {
    const uses = new VolumeUses();
    expect(uses.set("v", "a/one", use(":::s0:c1"))).toEqual([]);
    expect(uses.set("other", "a/two", use(":::s0:c2"))).toEqual([]);
    const found = uses.set("v", "a/two", use(":::s0:c2"));
    expect(found.map(({ reason, pod, otherPod }) => [reason, pod, otherPod])).toEqual([
      ["SELinuxLabelConflict", "a/two", "a/one"],
      ["SELinuxLabelConflict", "a/one", "a/two"],
    ]);
    expect(uses.conflicts()).toHaveLength(2);
    uses.delete("a/one");
    expect(uses.conflicts()).toEqual([]);
  });

  it("name no Pod of another namespace", () => {
    const uses = new VolumeUses();
    uses.set("v", "b/secret", use("", "Recursive"));
    const [conflict] = uses.set("v", "a/one", use(""));
    expect(conflict && conflictNote(conflict)).toBe(
      'SELinuxChangePolicy "MountOption" conflicts with another pod that uses the same volume as this pod with a different SELinuxChangePolicy. If both pods land on the same node, only one of them may access the volume.',
    );
  });

  it("are a metric, of now", () => {
    const registry = new MetricsRegistry();
    const uses = new VolumeUses();
    const end = conflictMetrics(registry).follow(() => uses.conflicts());
    uses.set("v", "a/one", use(":::s0:c1"));
    uses.set("v", "a/two", use(":::s0:c2"));
    const sample =
      'selinux_warning_controller_selinux_volume_conflict{property="SELinuxLabel",pod1_namespace="a",pod1_name="one",pod1_value=":::s0:c1",pod2_namespace="a",pod2_name="two",pod2_value=":::s0:c2"} 1';
    expect(registry.text()).toContain(sample);
    uses.delete("a/two");
    expect(registry.text()).not.toContain("pod1_name");
    end();
  });
});

describe("Pods that share a volume", () => {
  async function cluster(seLinuxMount: boolean) {
    const running = await testControllers([seLinuxWarningController], { selection: ["selinux-warning-controller"] });
    open.push(() => running.close());
    const { client, settle } = running;
    await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
    const driver: storage.CSIDriver = { metadata: { name: "d.example.com" }, spec: { seLinuxMount } };
    const drivers = client.of(kinds.CSIDriver);
    await drivers.create(driver);
    const accessModes = ["ReadWriteMany"] as const;
    const claims = client.of(kinds.PersistentVolumeClaim).in("default");
    const { metadata } = await claims.create({
      metadata: { name: "data" },
      spec: { accessModes, resources: { requests: { storage: "1Gi" } }, volumeName: "v", storageClassName: "" },
    });
    await client.of(kinds.PersistentVolume).create({
      metadata: { name: "v" },
      spec: {
        accessModes,
        capacity: { storage: "1Gi" },
        claimRef: { namespace: "default", name: "data", uid: metadata.uid ?? "" },
        csi: { driver: "d.example.com", volumeHandle: "h" },
      },
    });
    const pods = client.of(kinds.Pod).in("default");
    const pod = (name: string, securityContext: core.PodSecurityContext) =>
      pods.create({
        metadata: { name },
        spec: {
          securityContext,
          containers: [{ name: "c", image: "i", volumeMounts: [{ name: "data", mountPath: "/data" }] }],
          volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
        },
      });
    const events = async () => {
      await settle();
      const { items } = await client.of(kinds.Event).in("default").list();
      return items.map((event) => `${event.type} ${event.regarding?.name} ${event.reason}`).sort();
    };
    return { ...running, pods, pod, events, drivers };
  }
  const level = (text: string, policy?: "Recursive") => ({
    seLinuxOptions: { level: text },
    ...(policy !== undefined && { seLinuxChangePolicy: policy }),
  });

  it("with different labels: an Event for each", async () => {
    const { pod, events } = await cluster(true);
    await pod("one", level("s0:c1,c2"));
    expect(await events()).toEqual([]);
    await pod("two", level("s0:c3,c4"));
    expect(await events()).toEqual(["Normal one SELinuxLabelConflict", "Normal two SELinuxLabelConflict"]);
  });

  it("one of which wants its labels file by file", async () => {
    const { pod, events } = await cluster(true);
    await pod("one", level("s0:c1,c2"));
    await pod("two", level("s0:c1,c2", "Recursive"));
    expect(await events()).toEqual([
      "Normal one SELinuxChangePolicyConflict",
      "Normal two SELinuxChangePolicyConflict",
    ]);
  });

  it("of a driver that mounts without labels: none, until it does", async () => {
    const { pod, events, drivers } = await cluster(false);
    await pod("one", level("s0:c1,c2"));
    await pod("two", level("s0:c3,c4"));
    expect(await events()).toEqual([]);
    const driver = await drivers.get("d.example.com");
    await drivers.update({ ...driver, spec: { ...driver.spec, seLinuxMount: true } });
    expect(await events()).toContain("Normal two SELinuxLabelConflict");
  });
});
