/**
 * Volumes on the files of this machine; what is mounted is only written down, except where the test may really mount.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { core } from "#api";
import { seededRandom, silentLogger, VirtualClock } from "#base";
import type { Client } from "#client";
import { hostMounter, type Mounter, mountPoints } from "../host/mounter.ts";
import { TEST_FACTS } from "../testing/index.ts";
import { hostPath } from "./host-path.ts";
import { hostVolumes } from "./host-volumes.ts";
import { giveToGroup } from "./ownership.ts";
import type { PodVolumes } from "./pod-volumes.ts";
import { bindSubPath, readInside } from "./sub-path.ts";

const isRoot = process.getuid?.() === 0;
const { signal } = new AbortController();
let root: string;
let mounts: string[];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "k8ts-volumes-"));
  mounts = [];
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Writes down what would be mounted. */
const notes: Mounter = {
  tmpfs: async (target) => void mounts.push(target),
  bind: async (_source, target) => void mounts.push(target),
  mount: async (_source, target) => void mounts.push(target),
  format: async () => {},
  unmount: async (target) => {
    mounts = mounts.filter((each) => each !== target);
  },
  below: async (directory) => mounts.filter((path) => path === directory || path.startsWith(`${directory}/`)).reverse(),
};

const podWith = (volumes: readonly core.Volume[], spec: Partial<core.PodSpec> = {}): core.Pod => ({
  metadata: { name: "web", namespace: "shop", uid: "u-1" },
  spec: { containers: [{ name: "app" }], volumes, ...spec },
});

function volumesOf(objects: { configMap?: core.ConfigMap; secret?: core.Secret } = {}): PodVolumes {
  return hostVolumes({
    root,
    mounter: notes,
    client: {} as Client,
    objects: { configMap: async () => objects.configMap, secret: async () => objects.secret },
    facts: () => TEST_FACTS,
    clock: new VirtualClock(),
    random: seededRandom(1),
    log: silentLogger,
  });
}

describe("volumes of a pod", () => {
  it("emptyDir: a directory for everybody, that keeps what is in it", async () => {
    const volumes = volumesOf();
    const pod = podWith([{ name: "data", emptyDir: {} }]);
    const path = (await volumes.mount(pod, signal)).get("data")?.path ?? "";
    expect(path).toBe(join(root, "pods/u-1/volumes/kubernetes.io~empty-dir/data"));
    expect(statSync(path).mode & 0o777).toBe(0o777);
    writeFileSync(join(path, "x"), "1");
    await volumes.mount(pod, signal);
    expect(readFileSync(join(path, "x"), "utf8")).toBe("1");
  });

  it("emptyDir in memory is mounted once", async () => {
    const volumes = volumesOf();
    const pod = podWith([{ name: "mem", emptyDir: { medium: "Memory" } }]);
    await volumes.mount(pod, signal);
    await volumes.mount(pod, signal);
    expect(mounts).toEqual([join(root, "pods/u-1/volumes/kubernetes.io~empty-dir/mem")]);
  });

  it("a Secret lies in memory, a ConfigMap on disk, and both follow their objects", async () => {
    const objects = {
      configMap: { metadata: {}, data: { a: "1" } } as core.ConfigMap,
      secret: { metadata: {}, data: { b: "Mg==" } } as core.Secret,
    };
    const volumes = volumesOf(objects);
    const pod = podWith([
      { name: "cm", configMap: { name: "cm" } },
      { name: "sec", secret: { secretName: "sec" } },
    ]);
    const paths = await volumes.mount(pod, signal);
    const read = (volume: string, file: string) => readFileSync(join(paths.get(volume)?.path ?? "", file), "utf8");
    expect([read("cm", "a"), read("sec", "b")]).toEqual(["1", "2"]);
    expect(mounts).toEqual([paths.get("sec")?.path]);
    objects.configMap = { metadata: {}, data: { a: "changed" } };
    await volumes.mount(pod, signal);
    expect(read("cm", "a")).toBe("changed");
  });

  it("what was ready once stays ready when its object is gone, also for the next kubelet", async () => {
    const objects: { configMap?: core.ConfigMap } = { configMap: { metadata: {}, data: { a: "1" } } };
    const pod = podWith([{ name: "cm", configMap: { name: "cm" } }]);
    const volumes = volumesOf(objects);
    const path = (await volumes.mount(pod, signal)).get("cm")?.path ?? "";
    delete objects.configMap;
    expect((await volumes.mount(pod, signal)).get("cm")?.path).toBe(path);
    expect((await volumesOf(objects).mount(pod, signal)).get("cm")?.path).toBe(path);
    expect(readFileSync(join(path, "a"), "utf8")).toBe("1");
  });

  it("a failure names the volume", async () => {
    const missing = volumesOf().mount(podWith([{ name: "cm", configMap: { name: "cm" } }]), signal);
    await expect(missing).rejects.toThrow('MountVolume.SetUp failed for volume "cm" : configmap "cm" not found');
    const unknown = volumesOf().mount(podWith([{ name: "x", iscsi: {} } as core.Volume]), signal);
    await expect(unknown).rejects.toThrow(/no volume plugin matched/);
  });

  it.each([
    ...["gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "iscsi", "glusterfs", "rbd", "flexVolume"],
    ...["cinder", "cephfs", "flocker", "fc", "azureFile", "vsphereVolume", "quobyte", "azureDisk"],
    ...["photonPersistentDisk", "portworxVolume", "scaleIO", "storageos"],
  ])("volumes that no node has: %s", async (kind) => {
    const pod = podWith([{ name: "x", [kind]: {} } as core.Volume]);
    await expect(volumesOf().mount(pod, signal)).rejects.toThrow(
      `no volume plugin matched: this node knows no volumes of ${kind}`,
    );
  });

  it("unmount takes everything down, and finds what another kubelet has left", async () => {
    const pod = podWith([
      { name: "mem", emptyDir: { medium: "Memory" } },
      { name: "data", emptyDir: {} },
    ]);
    await volumesOf().mount(pod, signal);
    const another = volumesOf();
    expect(await another.podUids()).toEqual(["u-1"]);
    await another.unmount("u-1", signal);
    expect(mounts).toEqual([]);
    expect(existsSync(join(root, "pods/u-1/volumes"))).toBe(false);
  });

  it("nothing is removed while something is mounted below it", async () => {
    const stuck: Mounter = { ...notes, unmount: async () => {} };
    const volumes = hostVolumes({
      root,
      mounter: stuck,
      client: {} as Client,
      objects: { configMap: async () => undefined, secret: async () => undefined },
      facts: () => TEST_FACTS,
      clock: new VirtualClock(),
      random: seededRandom(1),
      log: silentLogger,
    });
    const paths = await volumes.mount(podWith([{ name: "mem", emptyDir: { medium: "Memory" } }]), signal);
    await expect(volumes.unmount("u-1", signal)).rejects.toThrow(/still mounted/);
    expect(existsSync(paths.get("mem")?.path ?? "")).toBe(true);
  });
});

describe("hostPath", () => {
  it.each<[core.HostPathVolumeSource["type"], string, string | undefined]>([
    ["", "nothing", undefined],
    ["Directory", "dir", undefined],
    ["Directory", "file", "is not a directory"],
    ["Directory", "nothing", "is not a directory"],
    ["DirectoryOrCreate", "new/deep", undefined],
    ["File", "file", undefined],
    ["File", "dir", "is not a file"],
    ["FileOrCreate", "made", undefined],
    ["FileOrCreate", "no/made", "is not a directory"],
    ["Socket", "file", "is not a socket file"],
    ["CharDevice", "file", "is not a character device"],
    ["BlockDevice", "file", "is not a block device"],
  ])("%s of %s: %s", async (type, name, problem) => {
    mkdirSync(join(root, "dir"));
    writeFileSync(join(root, "file"), "");
    const path = join(root, name);
    const found = hostPath({ path, ...(type !== undefined && { type }) });
    if (problem === undefined) expect(await found).toBe(path);
    else await expect(found).rejects.toThrow(problem);
  });

  it("devices are what they are", async () =>
    expect(await hostPath({ path: "/dev/null", type: "CharDevice" })).toBe("/dev/null"));
});

describe("fsGroup", () => {
  it.skipIf(!isRoot)("everything belongs to the group, and what comes later too", async () => {
    mkdirSync(join(root, "dir"));
    writeFileSync(join(root, "dir/file"), "", { mode: 0o600 });
    symlinkSync("/etc/passwd", join(root, "dir/link"));
    await giveToGroup(join(root, "dir"), { group: 4321, readOnly: false, onRootMismatch: false });
    expect(statSync(join(root, "dir")).mode & 0o7777).toBe(0o2775);
    expect([statSync(join(root, "dir/file")).gid, statSync(join(root, "dir/file")).mode & 0o777]).toEqual([
      4321, 0o660,
    ]);
    expect(statSync("/etc/passwd").gid).not.toBe(4321);
  });

  it.skipIf(!isRoot)("is left alone where the root is right and the policy says so", async () => {
    const own = { group: 4321, readOnly: false, onRootMismatch: true };
    await giveToGroup(root, own);
    writeFileSync(join(root, "later"), "");
    rmSync(join(root, "later"));
    writeFileSync(join(root, "foreign"), "", { mode: 0o600 });
    const before = statSync(join(root, "foreign")).mode;
    await giveToGroup(root, own);
    expect(statSync(join(root, "foreign")).mode).toBe(before);
  });
});

describe("a file of a volume", () => {
  it("is read where it is inside, and only there", async () => {
    const volume = join(root, "read");
    mkdirSync(join(volume, "dir"), { recursive: true });
    writeFileSync(join(volume, "dir", "env"), "A='1'");
    writeFileSync(join(root, "secret"), "no");
    symlinkSync(join(root, "secret"), join(volume, "out"));
    symlinkSync("dir/env", join(volume, "in"));
    expect(await readInside(volume, "dir/env")).toBe("A='1'");
    expect(await readInside(volume, "in")).toBe("A='1'");
    expect(await readInside(volume, "dir/none")).toBeUndefined();
    await expect(readInside(volume, "out")).rejects.toThrow("not within volume path");
    await expect(readInside(volume, "../secret")).rejects.toThrow('must not contain ".."');
    await expect(readInside(volume, "dir")).rejects.toThrow("is not a file");
  });
});

describe("subPath", () => {
  const bind = (subPath: string) =>
    bindSubPath(notes, { volume: join(root, "vol"), subPath, target: join(root, "target") });
  beforeEach(() => mkdirSync(join(root, "vol"), { mode: 0o777 }));

  it.each([0o755, 0o1777, 0o2770, 0o3777])(
    "missing directories are made, with the volume's rights: %o",
    async (mode) => {
      chmodSync(join(root, "vol"), mode);
      await bind("a/b");
      for (const made of ["vol/a", "vol/a/b"]) expect(statSync(join(root, made)).mode & 0o7777).toBe(mode);
      expect(statSync(join(root, "vol/a/b")).isDirectory()).toBe(true);
      expect(mounts).toEqual([join(root, "target")]);
    },
  );

  it("a file stays a file", async () => {
    writeFileSync(join(root, "vol/file"), "x");
    await bind("file");
    expect(statSync(join(root, "target")).isFile()).toBe(true);
  });

  it("links inside the volume are followed, those that lead out are refused", async () => {
    mkdirSync(join(root, "vol/real"));
    symlinkSync("real", join(root, "vol/inside"));
    await bind("inside/sub");
    expect(existsSync(join(root, "vol/real/sub"))).toBe(true);
    symlinkSync("/etc", join(root, "vol/outside"));
    await expect(bind("outside")).rejects.toThrow(/not within volume path/);
    await expect(bind("outside/new")).rejects.toThrow(/not within volume path/);
    symlinkSync("../..", join(root, "vol/up"));
    await expect(bind("up/x")).rejects.toThrow(/not within volume path/);
    await expect(bind("../x")).rejects.toThrow(/must not contain/);
  });

  it.skipIf(!isRoot)("what is mounted is what was checked", async () => {
    const mounter = hostMounter();
    mkdirSync(join(root, "vol/dir"));
    writeFileSync(join(root, "vol/dir/x"), "inside");
    const target = join(root, "real-target");
    await bindSubPath(mounter, { volume: join(root, "vol"), subPath: "dir", target });
    try {
      expect(readFileSync(join(target, "x"), "utf8")).toBe("inside");
      expect(await mounter.below(root)).toEqual([target]);
      // Again, as for a restarted container.
      await bindSubPath(mounter, { volume: join(root, "vol"), subPath: "dir", target });
      expect(await mounter.below(root)).toEqual([target]);
    } finally {
      await mounter.unmount(target);
    }
    expect(await mounter.below(root)).toEqual([]);
    await mounter.unmount(target);
  });
});

describe("mountinfo", () => {
  it("paths with blanks are plain", () =>
    expect(mountPoints("1 2 0:3 / /a\\040b rw - tmpfs tmpfs rw\n")).toEqual(["/a b"]));
});
