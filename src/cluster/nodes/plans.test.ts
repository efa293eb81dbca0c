/** The parts of nodes that decide and write, without a machine. */
import { describe, expect, it } from "vitest";
import { clusterDnsIn } from "./cluster-network.ts";
import { hasCapability } from "./machine/machine.ts";
import { below, parseMounts } from "./machine/mounts.ts";
import { NODE_PACKAGES } from "./machine/packages.ts";
import { startedBefore, statFields } from "./machine/processes.ts";
import { cniConfig } from "./network/cni-config.ts";
import { routeChanges, routesFor } from "./network/routes.ts";
import { kubeletArgs, kubeletStart } from "./programs/kubelet.ts";
import { containerdConfig, snapshotterIn } from "./runtime/containerd-config.ts";
import { isShimOf, shimSocket } from "./runtime/shims.ts";
import { nodeNameProblem, nodeNames, siteNames } from "./site/names.ts";
import { freeIndex, type NodeRecord } from "./site/record.ts";
import { choosePodRange, chooseRange, nodeIp, nodeIp6, siteNetwork } from "./site/site-network.ts";

const site = siteNames("/home/someone/.k8ts");
const node = nodeNames(site, "node-1");

describe("shims", () => {
  const args = ["/usr/bin/containerd-shim-runc-v2", "-namespace", "k8s.io", "-id", "abc", "-address", node.socket];
  it.each([
    ["this node's", args, true],
    ["another node's", [...args.slice(0, -1), nodeNames(site, "node-2").socket], false],
    ["another program", ["/usr/bin/containerd", ...args.slice(1)], false],
    ["without arguments", args.slice(0, 1), false],
    ["nothing", [], false],
  ])("%s", (_, found, want) => expect(isShimOf(node)(found)).toBe(want));

  it("listen where containerd looks for them", () => {
    // sha256 of the containerd's socket, its namespace and the sandbox, as one path.
    expect(shimSocket({ socket: "/run/containerd/containerd.sock" }, "abc")).toBe(
      "/run/containerd/s/a99a1752d3a0fadfb1f869026f16760475df03a572e20f4ccea9e6c1e5470b72",
    );
  });

  it("are older than a containerd that started after them", () => {
    const at = (ticks: number) => ({ pid: 7, started: `boot ${ticks}` });
    expect([startedBefore(at(99), at(100)), startedBefore(at(100), at(100)), startedBefore(at(1000), at(999))]).toEqual(
      [true, false, false],
    );
  });
});

describe("names", () => {
  it("fit where the kernel has little room", () => {
    const far = nodeNames(siteNames(`/${"very-long/".repeat(30)}`), "a".repeat(63));
    expect(site.machineLink.length).toBeLessThanOrEqual(15);
    expect(far.socket.length + ".ttrpc".length).toBeLessThan(108);
    expect(far.namespace.length).toBeLessThan(255);
  });

  it("differ for each data directory, and stay the same for one", () => {
    expect(siteNames("/a").id).not.toBe(siteNames("/b").id);
    expect(siteNames("/a")).toEqual(siteNames("/a"));
  });

  it.each([
    ["node-1", undefined],
    ["a", undefined],
    ["switch", "is taken"],
    ["Node", "is not a node name"],
    ["../x", "is not a node name"],
    ["-a", "is not a node name"],
    ["", "is not a node name"],
    ["a".repeat(64), "is not a node name"],
  ])("a node called %j", (name, problem) => {
    if (problem === undefined) expect(nodeNameProblem(name)).toBeUndefined();
    else expect(nodeNameProblem(name)).toContain(problem);
  });
});

describe("chooseRange", () => {
  it.each([
    ["nothing in the way", [], 16],
    ["the default route", ["default", "0.0.0.0/0"], 16],
    ["the range itself", ["10.89.16.0/24"], 17],
    ["a part of it", ["10.89.16.128/25"], 17],
    ["one address in it", ["10.89.16.7"], 17],
    ["a greater one around it", ["10.89.16.0/22"], 20],
    ["another's load balancers", ["10.88.16.5"], 17],
    ["others", ["10.244.0.0/16", "192.168.1.0/24", "172.17.0.0/16"], 16],
  ])("%s", (_name, routes, third) => {
    expect(chooseRange("10ab", routes)?.third).toBe(third);
  });

  it("begins anew behind the last, and gives up when all are taken", () => {
    expect(chooseRange("ff", ["10.89.255.0/24"])?.third).toBe(0);
    expect(chooseRange("00", ["10.0.0.0/8"])).toBeUndefined();
  });

  it.each([
    ["nothing in the way", ["default", "10.89.16.0/24"], "10.244.0.0/16"],
    ["another cluster's Pods", ["10.244.0.0/16", "10.244.1.0/24"], "10.243.0.0/16"],
    ["a node of an older one", ["10.244.3.0/24"], "10.243.0.0/16"],
    ["everything in the way", ["10.0.0.0/8"], "10.244.0.0/16"],
  ])("for Pods: %s", (_name, routes, range) => {
    expect(choosePodRange(routes)).toBe(range);
  });

  it("the machine is first, nodes follow", () => {
    const network = siteNetwork(16);
    expect([network.machineIp, nodeIp(network, 1), nodeIp(network, 240)]).toEqual([
      "10.89.16.1",
      "10.89.16.11",
      "10.89.16.250",
    ]);
    expect([network.machineIp6, nodeIp6(network, 1)]).toEqual([undefined, undefined]);
  });

  it("with addresses of IPv6 where Pods have them", () => {
    const network = siteNetwork(171, ["10.244.0.0/16", "fd00:10:244::/56"]);
    expect([network.machineIp6, nodeIp6(network, 1)]).toEqual(["fd6b:3874:7300:ab::1", "fd6b:3874:7300:ab::b"]);
    const ways = routesFor([{ name: "a", ip: "10.89.0.11", ip6: "fd6b::b", podCidrs: ["10.244.0.0/24", "fd00::/64"] }]);
    expect(ways.map(({ cidr, via }) => `${cidr} ${via}`)).toEqual(["10.244.0.0/24 10.89.0.11", "fd00::/64 fd6b::b"]);
  });

  it.each([
    [undefined, "10.96.0.10"],
    [["10.96.0.0/12"], "10.96.0.10"],
    [["10.100.4.0/24", "fd00:96::/112"], "10.100.4.10"],
    [["fd00:96::/112"], "fd00:96::a"],
  ])("the cluster's DNS is the tenth of the Services' range: %s", (given, want) => {
    expect(clusterDnsIn(given)).toBe(want);
  });
});

describe("routes", () => {
  const nodes = [
    { name: "a", ip: "10.89.0.11", podCidrs: ["10.244.0.0/24", "fd00::/64"] },
    { name: "b", ip: "10.89.0.12", podCidrs: ["10.244.1.0/24"] },
    { name: "c", ip: "10.89.0.13", podCidrs: [] },
  ];

  it("lead to every other node's Pods; on the machine to all", () => {
    expect(routesFor(nodes, "a")).toEqual([{ cidr: "10.244.1.0/24", via: "10.89.0.12" }]);
    expect(routesFor(nodes, "c").map(({ cidr }) => cidr)).toEqual(["10.244.0.0/24", "10.244.1.0/24"]);
    expect(routesFor(nodes)).toHaveLength(2);
  });

  it("change only where they have to", () => {
    const [one, two] = routesFor(nodes);
    const moved = { cidr: "10.244.1.0/24", via: "10.89.0.99" };
    if (one === undefined || two === undefined) throw new Error("there are two");
    expect(routeChanges([one, moved], [one, two])).toEqual({ add: [two], remove: [moved] });
    expect(routeChanges([one, two], [two, one])).toEqual({ add: [], remove: [] });
  });
});

describe("configurations", () => {
  const machine = { cniBinDir: "/usr/lib/cni", canLowerOomScore: false, snapshotter: "native" as const };

  it("containerd's lies wholly in the node's own folders", () => {
    const config = containerdConfig(node, machine);
    for (const line of [
      `root = "${node.containerdRoot}"`,
      `state = "${node.stateDir}"`,
      `address = "${node.socket}"`,
      `conf_dir = "${node.cniDir}"`,
      `Root = "${node.runcRoot}"`,
      `bin_dir = "/usr/lib/cni"`,
      "restrict_oom_score_adj = true",
      "netns_mounts_under_state_dir = true",
      "SystemdCgroup = false",
      'sandbox_image = "localhost/k8ts-pause:1"',
    ]) {
      expect(config).toContain(line);
    }
    expect(snapshotterIn(config)).toBe("native");
    expect(containerdConfig(node, { ...machine, canLowerOomScore: true })).toContain("restrict_oom_score_adj = false");
  });

  it("CNI's gives Pods addresses of the node's ranges and a way to everywhere", () => {
    const { plugins } = JSON.parse(cniConfig(node, ["10.244.1.0/24", "fd00:1::/64"]));
    expect(plugins[0].ipam).toMatchObject({
      dataDir: node.ipamDir,
      ranges: [[{ subnet: "10.244.1.0/24" }], [{ subnet: "fd00:1::/64" }]],
      routes: [{ dst: "0.0.0.0/0" }, { dst: "::/0" }],
    });
    expect(plugins[1]).toMatchObject({ type: "portmap", capabilities: { portMappings: true } });
  });

  it("a kubelet gets the flags of the original, and is another with another start", () => {
    expect(kubeletArgs(node, ["10.89.0.11"])).toEqual(
      expect.arrayContaining([
        "kubelet",
        "--hostname-override=node-1",
        "--node-ip=10.89.0.11",
        `--container-runtime-endpoint=unix://${node.socket}`,
        `--cgroup-root=${node.cgroup}`,
        "--cluster-dns=10.96.0.10",
      ]),
    );
    const authority = { certPem: "a", issue: async () => ({ certPem: "", keyPem: "" }) };
    const options = { command: ["k8ts"], serverUrl: "https://10.89.0.1:6443", authority, version: "1" };
    const start = kubeletStart(node, ["10.89.0.11"], options);
    expect(kubeletStart(node, ["10.89.0.11"], { ...options })).toBe(start);
    for (const change of [{ version: "2" }, { serverUrl: "https://10.89.0.1:7443" }, { command: ["other"] }]) {
      expect(kubeletStart(node, ["10.89.0.11"], { ...options, ...change })).not.toBe(start);
    }
  });
});

describe("what the kernel tells", () => {
  it("mounts, with blanks in their paths, the last first", () => {
    const mounts = parseMounts(
      [
        "20 1 0:5 / /proc rw - proc proc rw",
        "21 1 0:6 / /run/k8ts/a\\040b/state rw shared:1 - tmpfs none rw",
        "22 1 0:7 / /run/k8ts/a\\040b/state/rootfs rw - overlay overlay rw,lowerdir=/x - y",
        "23 1 0:8 / /run/k8ts/a\\040bc rw - tmpfs none rw",
        "",
      ].join("\n"),
    );
    expect(mounts.map(({ type }) => type)).toEqual(["proc", "tmpfs", "overlay", "tmpfs"]);
    expect(below(mounts, "/run/k8ts/a b")).toEqual(["/run/k8ts/a b/state/rootfs", "/run/k8ts/a b/state"]);
  });

  it("a process's state and start, whatever it is called", () => {
    const numbers = Array.from({ length: 40 }, (_, index) => index + 4).join(" ");
    expect(statFields(`7 (a b) c) S ${numbers}`)).toEqual({ state: "S", startTicks: "22" });
  });

  it.each([
    ["000001ffffffffff", true],
    ["000001fffeffffff", false],
  ])("capabilities %s", (effective, has) => {
    expect(hasCapability(`Name:\tx\nCapEff:\t${effective}\nCapBnd:\t0\n`, 24n)).toBe(has);
  });
});

describe("records", () => {
  const at = (index?: number): NodeRecord => ({
    names: node,
    spec: { wanted: "running" },
    run: index === undefined ? undefined : { index, ip: "", podCidrs: [], state: "stopped" },
  });
  it.each([
    [[], 1],
    [[at(1), at(3)], 2],
    [[at(2), at(), at(1)], 3],
  ])("the next place is the lowest that is free", (nodes, want) => {
    expect(freeIndex(nodes)).toBe(want);
  });
});

describe("packages", () => {
  it("the set-up for tests installs what nodes are made of", async () => {
    const script = new URL("../../../scripts/setup/node-packages.mjs", import.meta.url).href;
    const { PROGRAMS, PLUGINS }: { PROGRAMS: Record<string, string>; PLUGINS: string } = await import(script);
    expect([...new Set([...Object.values(PROGRAMS), PLUGINS])].sort()).toEqual(NODE_PACKAGES);
  });
});
