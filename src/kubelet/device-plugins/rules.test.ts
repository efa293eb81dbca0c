/** The decisions about devices of plugins, as tables. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { CheckpointFile } from "./checkpoint.ts";
import { checksumOf } from "./checkpoint-checksum.ts";
import { type Choice, chooseDevices } from "./choose-devices.ts";
import { deviceHints } from "./device-hints.ts";
import { KnownDevices, type PluginDevice } from "./known-devices.ts";
import { reusableDevices } from "./reusable-devices.ts";
import { runOptions } from "./run-options.ts";
import { wantedByPod } from "./wanted-devices.ts";

/** `a@0 b@1 c` */
function devices(text: string): ReadonlyMap<string, PluginDevice> {
  const all = text.split(" ").map((word) => {
    const [id = "", nodes = ""] = word.split("@");
    return { id, isHealthy: true, numaNodes: nodes === "" ? [] : nodes.split(",").map(Number) };
  });
  return new Map(all.map((device) => [device.id, device]));
}

const ids = (text = "") => new Set(text.split(" ").filter((id) => id !== ""));

describe("the choice of devices", () => {
  interface Row {
    readonly name: string;
    readonly devices?: string;
    readonly needed: number;
    readonly inUse?: string;
    readonly reusable?: string;
    readonly affinity?: readonly number[];
    readonly prefers?: string;
    readonly want: string;
  }
  const rows: readonly Row[] = [
    { name: "takes what is free", needed: 2, inUse: "a", want: "b c" },
    { name: "uses devices of init containers first", needed: 2, inUse: "a b", reusable: "b", want: "b c" },
    { name: "asks the plugin", needed: 1, prefers: "c", want: "c" },
    { name: "fills up a preference that is too short", needed: 2, prefers: "d", want: "d a" },
    { name: "takes no device that the plugin made up", needed: 1, prefers: "x", want: "a" },
    { name: "stays on the affinity's nodes", needed: 1, affinity: [1], want: "c" },
    { name: "the preference does not break the affinity", needed: 1, affinity: [1], prefers: "a d", want: "d" },
    { name: "goes beyond the affinity if it has to", needed: 3, affinity: [1], want: "c d a" },
    {
      name: "an affinity says nothing about devices without a place",
      devices: "a b",
      needed: 1,
      affinity: [1],
      want: "a",
    },
    {
      name: "prefers scarce nodes within the affinity",
      devices: "a@0 b@0 c@1",
      needed: 1,
      affinity: [0, 1],
      want: "c",
    },
  ];
  const choice = (row: Row): Choice => {
    const known = devices(row.devices ?? "a@0 b@0 c@1 d@1");
    return {
      resource: "example.com/gpu",
      needed: row.needed,
      devices: known,
      healthy: new Set(known.keys()),
      inUse: ids(row.inUse),
      reusable: ids(row.reusable),
      affinity: row.affinity && new Set(row.affinity),
      prefer: async () => [...ids(row.prefers)],
    };
  };

  it.each(rows)("$name", async (row) => {
    expect((await chooseDevices(choice(row))).join(" ")).toBe(row.want);
  });

  it("says what is missing", async () => {
    await expect(chooseDevices(choice({ name: "", needed: 3, inUse: "a b", want: "" }))).rejects.toThrow(
      "requested number of devices unavailable for example.com/gpu. Requested: 3, Available: 2",
    );
  });
});

describe("hints", () => {
  const shown = (hints: ReturnType<typeof deviceHints>) =>
    hints?.map(({ affinity, preferred }) => `${[...(affinity ?? [])].join("")}${preferred ? "!" : ""}`).join(" ");
  it.each([
    { name: "each node with enough", known: "a@0 b@0 c@1 d@1", needed: 2, free: "a b c d", want: "0! 1! 01" },
    { name: "what is taken does not count", known: "a@0 b@0 c@1 d@1", needed: 2, free: "a c d", want: "1! 01" },
    { name: "the smallest that could ever do is preferred", known: "a@0 b@0 c@1", needed: 2, free: "a c", want: "01" },
    {
      name: "devices of init containers must lie there",
      known: "a@0 b@1",
      needed: 1,
      free: "a b",
      reuse: "b",
      want: "1! 01",
    },
    { name: "none has enough", known: "a@0 b@1", needed: 3, free: "a b", want: "" },
    { name: "no preference", known: "a b", needed: 1, free: "a b", want: undefined },
  ])("$name", ({ known, needed, free, reuse, want }) => {
    const question = { needed, devices: devices(known), available: ids(free), reusable: ids(reuse), numaNodes: [0, 1] };
    expect(shown(deviceHints(question))).toBe(want);
  });
});

describe("what a node has", () => {
  const list = (text: string) =>
    text.split(" ").map((id) => ({ id: id.replace("!", ""), isHealthy: !id.endsWith("!"), numaNodes: [] }));
  const GPU = "example.com/gpu";

  it("counts all devices, and the healthy ones", () => {
    const known = new KnownDevices();
    expect(known.set(GPU, list("a b c!"))).toEqual(["a", "b", "c"]);
    expect(known.amounts()).toEqual({ capacity: { [GPU]: "3" }, allocatable: { [GPU]: "2" } });
    expect(known.set(GPU, list("a! b c!"))).toEqual(["a"]);
    expect(["a", "b", "x"].map((id) => known.health(GPU, id))).toEqual(["Unhealthy", "Healthy", "Unknown"]);
  });

  it("keeps a resource without its plugin for the grace time, then reports it as none once", () => {
    const known = new KnownDevices();
    known.set(GPU, list("a b"));
    known.stopped(GPU, 1000);
    expect(known.amounts()).toEqual({ capacity: { [GPU]: "2" }, allocatable: { [GPU]: "0" } });
    expect(known.health(GPU, "a")).toBe("Unknown");
    expect([known.expire(300_999), known.expire(301_000), known.has(GPU)]).toEqual([false, true, false]);
    expect(known.amounts()).toEqual({ capacity: { [GPU]: "0" }, allocatable: { [GPU]: "0" } });
    known.reported({ [GPU]: "2" });
    expect(known.amounts().capacity).toEqual({ [GPU]: "0" });
    known.reported({ [GPU]: "0" });
    expect(known.amounts().capacity).toEqual({});
  });

  it("has nothing of an earlier kubelet's resources until their plugins register", () => {
    const known = new KnownDevices();
    known.remember([GPU], 0);
    expect(known.amounts().capacity).toEqual({ [GPU]: "0" });
    known.set(GPU, list("a"));
    expect([known.expire(10_000_000), known.amounts().capacity]).toEqual([false, { [GPU]: "1" }]);
  });
});

describe("containers of one Pod", () => {
  const GPU = "example.com/gpu";
  const container = (name: string, count: number, more: Partial<core.Container> = {}): core.Container => ({
    name,
    resources: { limits: { [GPU]: String(count) } },
    ...more,
  });
  const pod: core.Pod = {
    metadata: { name: "p" },
    spec: {
      initContainers: [
        container("first", 2),
        container("sidecar", 1, { restartPolicy: "Always" }),
        container("last", 3),
      ],
      containers: [container("app", 2), container("other", 1)],
    },
  };

  it("reuse the devices of init containers that have ended, not those of sidecars", () => {
    const given: Record<string, string> = { first: "a b", sidecar: "a", last: "b c d", app: "b c" };
    const reusable = (name: string) => [...reusableDevices(pod, name, (each) => [...ids(given[each])])].join("");
    expect(["first", "sidecar", "last", "app", "other"].map(reusable)).toEqual(["", "ab", "b", "bcd", "d"]);
  });

  it("want together what they have at once", () => {
    expect([...wantedByPod(pod, () => true)]).toEqual([[GPU, 4]]);
    const claimed: core.Pod = {
      ...pod,
      status: {
        extendedResourceClaimStatus: {
          resourceClaimName: "c",
          requestMappings: ["first", "sidecar", "last", "app"].map((containerName) => ({
            containerName,
            resourceName: GPU,
            requestName: "r",
          })),
        },
      },
    };
    expect([...wantedByPod(claimed, () => true)]).toEqual([[GPU, 1]]);
  });

  it("get what the plugins answer; the first word counts", () => {
    const answer = { envs: {}, mounts: [], devices: [], annotations: {}, cdiDevices: [] };
    const device = { containerPath: "/dev/a", hostPath: "/dev/null", permissions: "rw" };
    expect(
      runOptions([
        { ...answer, envs: { A: "1" }, devices: [device], cdiDevices: [{ name: "v.com/gpu=0" }] },
        { ...answer, envs: { A: "2", B: "3" }, devices: [{ ...device, hostPath: "/dev/zero" }] },
      ]),
    ).toEqual({ ...answer, envs: { A: "1", B: "3" }, devices: [device], cdiDevices: ["v.com/gpu=0"] });
  });
});

describe("the checkpoint", () => {
  // Written by a kubelet in Go.
  const FOREIGN = {
    Data: {
      PodDeviceEntries: [
        {
          PodUID: "bf52b2cd-b611-4e79-86b1-280b283185c3",
          ContainerName: "check",
          ResourceName: "nvidia.com/gpu",
          DeviceIDs: { "-1": ["tegra"] },
          AllocResp: "Ch8KFk5WSURJQV9WSVNJQkxFX0RFVklDRVMSBXRlZ3Jh",
        },
      ],
      RegisteredDevices: { "nvidia.com/gpu": ["tegra"] },
    },
    Checksum: 3660592824,
  };

  it("of another kubelet is read, and written again byte for byte", async () => {
    const dir = await mkdtemp(join(tmpdir(), "k8ts-checkpoint-"));
    try {
      const path = join(dir, "kubelet_internal_checkpoint");
      await writeFile(path, JSON.stringify(FOREIGN));
      const file = new CheckpointFile(dir);
      const read = await file.read();
      expect(read?.entries.map(({ podUid, devices: held }) => [podUid, [...held]])).toEqual([
        [FOREIGN.Data.PodDeviceEntries[0]?.PodUID, [[-1, ["tegra"]]]],
      ]);
      if (read !== undefined) await file.write(read);
      expect(await readFile(path, "utf8")).toBe(JSON.stringify(FOREIGN));
      await writeFile(path, JSON.stringify({ ...FOREIGN, Checksum: 1 }));
      await expect(file.read()).rejects.toThrow("checkpoint is corrupted");
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });

  it("has a checksum for nothing at all", () => {
    expect(checksumOf({ PodDeviceEntries: null, RegisteredDevices: {} })).toBeTypeOf("number");
  });
});
