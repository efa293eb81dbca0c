/** nfs and local volumes: what the node is asked to mount, and in which words it fails. */
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { core } from "#api";
import { hostMounter, type Mounter } from "../host/index.ts";
import { localVolume, nfsVolume } from "./node-mounts.ts";

const isRoot = process.getuid?.() === 0;
let root: string;
let calls: string[];
let mounts: string[];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "k8ts-mounts-"));
  calls = [];
  mounts = [];
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const mounter: Mounter = {
  tmpfs: async () => {},
  bind: async () => {},
  unmount: async () => {},
  format: async (device, fsType) => void calls.push(`format ${device} ${fsType}`),
  mount: async ({ type, source, options }, target) => {
    mounts.push(target);
    calls.push(`${type} ${source} ${options.join()}`);
  },
  below: async (directory) => mounts.filter((path) => path.startsWith(directory)),
};

const pod = (uid: string, fsGroup?: number): core.Pod => ({
  metadata: { name: "web", namespace: "shop", uid },
  spec: { containers: [{ name: "app" }], ...(fsGroup !== undefined && { securityContext: { fsGroup } }) },
});

describe("nfs", () => {
  it.each([
    ["an export", { server: "files", path: "/a" }, {}, "nfs files:/a "],
    ["read-only", { server: "files", path: "/a" }, { readOnly: true }, "nfs files:/a ro"],
    [
      "options of the volume",
      { server: "files", path: "/a" },
      { mountOptions: ["nfsvers=4.1"] },
      "nfs files:/a nfsvers=4.1",
    ],
    ["an IPv6 server", { server: "fd00::1", path: "/a" }, {}, "nfs [fd00::1]:/a "],
  ])("%s", async (_, source, more, want) => {
    const path = await nfsVolume({ root, mounter }, pod("u-1"), { name: "share", source, readOnly: false, ...more });
    expect(path).toBe(join(root, "pods/u-1/volumes/kubernetes.io~nfs/share"));
    await nfsVolume({ root, mounter }, pod("u-1"), { name: "share", source, readOnly: false, ...more });
    expect(calls).toEqual([want]);
  });

  it.skipIf(!isRoot)("what mount says is passed on, as upstream does", async () => {
    const source = { server: "127.0.0.1", path: "/none" };
    const mountOptions = ["nolock", "soft", "retry=0", "timeo=1", "retrans=1", "proto=tcp", "port=1", "nfsvers=4"];
    const volume = { name: "share", source, readOnly: false, mountOptions };
    await expect(nfsVolume({ root, mounter: hostMounter() }, pod("u-1"), volume)).rejects.toThrow(
      /^mount failed: exit status \d+\nMounting command: mount\nMounting arguments: -t nfs -o nolock,.* 127\.0\.0\.1:\/none .*\nOutput: ./,
    );
  });
});

describe("local", () => {
  const volume = (source: string, more: object = {}) => ({
    name: "pv-1",
    source: { path: source, ...more },
    readOnly: false,
  });

  it("a folder is bound once for each Pod", async () => {
    const folder = join(root, "disk");
    mkdirSync(folder);
    for (const uid of ["u-1", "u-1", "u-2"]) await localVolume({ root, mounter }, pod(uid), volume(folder));
    expect(calls).toEqual([`bind ${folder} bind`, `bind ${folder} bind`]);
    expect(mounts).toEqual(
      ["u-1", "u-2"].map((uid) => join(root, `pods/${uid}/volumes/kubernetes.io~local-volume/pv-1`)),
    );
  });

  it("a path that does not exist", async () => {
    await expect(localVolume({ root, mounter }, pod("u-1"), volume("/none/such"))).rejects.toThrow(
      'path "/none/such" does not exist',
    );
  });

  it.skipIf(!isRoot)(
    "the group of the first Pod stays while another one has it; then the next one's counts",
    async () => {
      const folder = join(root, "disk");
      mkdirSync(folder);
      writeFileSync(join(folder, "file"), "");
      const real = hostMounter();
      const groupOf = () => statSync(join(folder, "file")).gid;
      try {
        await localVolume({ root, mounter: real }, pod("u-1", 1234), volume(folder));
        expect(groupOf()).toBe(1234);
        await localVolume({ root, mounter: real }, pod("u-2", 4321), volume(folder));
        expect(groupOf()).toBe(1234);
        for (const path of await real.below(root)) await real.unmount(path);
        await localVolume({ root, mounter: real }, pod("u-3", 4321), volume(folder));
        expect(groupOf()).toBe(4321);
      } finally {
        for (const path of await real.below(root)) await real.unmount(path);
      }
    },
  );
});
