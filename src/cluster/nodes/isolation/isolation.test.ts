/** What a node is made of, without a machine. */
import { describe, expect, it } from "vitest";
import { nodeNames, siteNames } from "../site/names.ts";
import { nodeCapabilities } from "./capabilities.ts";
import { deviceRules } from "./devices.ts";
import { lowerOnly, nodeContainer } from "./node-container.ts";
import { mountProblem, parseNodeMount } from "./node-mounts.ts";
import { idRangeFor } from "./user-namespace.ts";
import { LOOPS, ruleText, volumeDeviceRules } from "./volume-devices.ts";

const names = nodeNames(siteNames("/home/someone/.k8ts"), "node-1");

describe("capabilities of a node", () => {
  it.each([
    ["of root", "000001ffffffffff", 37],
    ["of root in a container without SYS_RESOURCE", "000001fffeffffff", 36],
    ["of nobody", "0000000000000000", 0],
  ])("%s", (_, bounding, count) => {
    const kept = nodeCapabilities(`Name:\tx\nCapBnd:\t${bounding}\nCapAmb:\t0\n`);
    expect(kept).toHaveLength(count);
    for (const lost of ["CAP_SYS_MODULE", "CAP_SYS_RAWIO", "CAP_SYS_BOOT", "CAP_DAC_READ_SEARCH"])
      expect(kept).not.toContain(lost);
    if (count > 0) expect(kept).toContain("CAP_SYS_ADMIN");
  });
});

describe("devices of a node", () => {
  const devices = "Character devices:\n  1 mem\n 21 sg\n136 pts\n241 nvme\n\nBlock devices:\n  7 loop\n254 virtblk\n";
  it("are not disks, nor what reads them by another name", () => {
    expect(deviceRules(devices)).toEqual([
      { allow: true, access: "rwm" },
      { allow: false, access: "rw", type: "b" },
      ...[1, 2, 4].map((minor) => ({ allow: false, access: "rw", type: "c", major: 1, minor })),
      { allow: false, access: "rw", type: "c", major: 21 },
      { allow: false, access: "rw", type: "c", major: 241 },
    ]);
  });
});

describe("devices of a node with raw block volumes", () => {
  it("are loop devices, and no disks", () => {
    const blocks = deviceRules("", true).filter(({ type }) => type === "b");
    expect(blocks).toHaveLength(511);
    expect(blocks.every(({ allow, major }) => !allow && major !== undefined && major !== 7)).toBe(true);
    expect(blocks).toContainEqual({ allow: false, access: "rw", type: "b", major: 254 });
  });
});

describe("devices of a node's CSI driver", () => {
  it("are the node's loop devices; it may make files of others, and not open them", () => {
    const rules = volumeDeviceRules(2048).map(ruleText);
    const blocks = rules.filter((rule) => rule.startsWith("b "));
    const loops = Array.from({ length: LOOPS }, (_, at) => `b 7:${2048 + at} rw`);
    expect(blocks).toEqual(["b *:* m", ...loops]);
    expect(rules.filter((rule) => rule.includes("*:*"))).toEqual(["c *:* m", "b *:* m"]);
    expect(rules.find((rule) => /^c 1:[124] /.test(rule))).toBeUndefined();
  });
});

describe("--node-mount", () => {
  it.each([
    ["/data:/data", { source: "/data", target: "/data", readOnly: false }],
    ["/data", { source: "/data", target: "/data", readOnly: false }],
    ["/data:/mnt/x/:ro", { source: "/data", target: "/mnt/x", readOnly: true }],
    ["/data:/mnt:rw", { source: "/data", target: "/mnt", readOnly: false }],
    ["data:/mnt", "data:/mnt is not SOURCE:TARGET"],
    ["/data:mnt", "is not SOURCE:TARGET"],
    ["/data:/mnt:rx", "is not SOURCE:TARGET"],
    ["/data:/mnt:ro:x", "is not SOURCE:TARGET"],
    ["/data:/", "/ is a part of every node"],
    ["/data:/opt/../etc", "/etc is a part of every node"],
  ])("%s", (text, want) => {
    const found = parseNodeMount(text);
    if (typeof want === "string") expect(found).toContain(want);
    else expect(found).toEqual(want);
  });

  it.each([
    ["/usr", undefined],
    ["/etc/passwd", undefined],
    ["/none/such", "/none/such does not exist."],
    ["/dev/null", "/dev/null is neither a folder nor a file"],
  ])("of %s", (source, want) => {
    const problem = mountProblem({ source, target: "/x", readOnly: false });
    if (want === undefined) expect(problem).toBeUndefined();
    else expect(problem).toContain(want);
  });
});

describe("ids of nodes with user namespaces", () => {
  it("are 65536 each, of nobody else's, and other ones for each node of a cluster", () => {
    const ranges = Array.from({ length: 256 }, (_, index) => idRangeFor({ id: "a1b2c3d4" }, index));
    expect(new Set(ranges.map(({ first }) => first)).size).toBe(256);
    expect(ranges.every(({ first, size }) => first >= 2 ** 30 && first % size === 0 && first + size <= 2 ** 31)).toBe(
      true,
    );
    expect(idRangeFor({ id: "other" }, 1)).not.toEqual(ranges[1]);
  });
});

describe("the container of a node", () => {
  const container = nodeContainer(names, {
    busybox: "/usr/bin/busybox",
    capabilities: ["CAP_SYS_ADMIN"],
    devices: [],
    systemFolders: ["/usr", "/lib"],
    etcFolders: ["/etc/alternatives"],
    programsDir: "/run/k8ts/x/.programs",
    emptyDir: "/run/k8ts/x/.empty",
    mounts: [{ source: "/data", target: "/mnt/data", readOnly: true }],
  }) as {
    mounts: { destination: string; type: string; source: string; options?: string[] }[];
    linux: { namespaces: { type: string; path?: string }[]; cgroupsPath: string };
  };

  it("has folders of the machine only where nobody can write to them, and those that the user gives", () => {
    const own = [names.etcDir, names.manifestDir, names.runDir];
    const shared = container.mounts.filter(({ type, source }) => type === "bind" && !own.includes(source));
    expect(shared.map(({ source }) => source)).toEqual(["/run/k8ts/x/.programs", "/data"]);
    expect(shared.every(({ options }) => options?.includes("ro") && options.includes("rslave"))).toBe(true);
    const overlays = container.mounts.filter(({ type }) => type === "overlay");
    expect(overlays.map(({ destination }) => destination)).toEqual(["/usr", "/lib", "/etc/alternatives"]);
    expect(overlays.every(({ options }) => options?.every((option) => !option.includes("upperdir")))).toBe(true);
  });

  it("has all namespaces, of which only the network existed before", () => {
    expect(container.linux.namespaces.map(({ type }) => type)).toEqual([
      ...["pid", "mount", "uts", "ipc", "cgroup", "network"],
    ]);
    expect(container.linux.namespaces.filter(({ path }) => path !== undefined)).toHaveLength(1);
    expect(container.linux.cgroupsPath).toBe(names.cgroup);
  });

  it("has users of its own, if it has ids, and a root that they may reach", () => {
    const ids = { first: 1_100_000_000, size: 65_536 };
    const options = { busybox: "", capabilities: [], devices: [], systemFolders: [], etcFolders: [], mounts: [] };
    const own = nodeContainer(names, { ...options, programsDir: "/p", emptyDir: "/e", ids }) as {
      root: { path: string };
      linux: { namespaces: { type: string; path?: string }[]; uidMappings: object[]; gidMappings: object[] };
    };
    const mapping = [{ containerID: 0, hostID: ids.first, size: ids.size }];
    expect([own.linux.uidMappings, own.linux.gidMappings]).toEqual([mapping, mapping]);
    expect(own.linux.namespaces[0]).toEqual({ type: "user", path: names.userNamespace });
    expect(own.root.path).toBe(names.rootDir);
  });

  it("paths with signs of overlays in them", () => {
    expect(lowerOnly("/a:b,c", "/e")).toBe("lowerdir=/a\\:b\\,c:/e");
  });
});
