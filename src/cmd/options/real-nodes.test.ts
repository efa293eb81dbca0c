import { describe, expect, it } from "vitest";
import { ClusterError } from "#cluster";
import { chooseNodes, realNodesOptions, serviceRanges, type Terminal } from "./real-nodes.ts";

/** A machine that lacks packages until they are installed. */
function machine({ missing = [] as string[], wanted = [] as string[], root = true, offline = false } = {}) {
  let left = missing;
  return {
    missingPackages: () => left,
    wantedHere: () => wanted,
    canInstall: () => root,
    installCommand: (packages: readonly string[]) => `apt-get install ${packages.join(" ")}`,
    installPackages: async () => {
      if (offline) throw new ClusterError("no network");
      left = [];
    },
    obstacles: () => [
      ...(root ? [] : ["Real nodes need root."]),
      ...(left.length > 0 ? [`Missing: ${left.join(", ")}.`] : []),
    ],
  };
}

function terminal(answer?: string): Terminal & { readonly lines: string[] } {
  const lines: string[] = [];
  const say = (line: string) => void lines.push(line);
  if (answer === undefined) return { lines, say };
  return { lines, say, ask: async () => answer };
}

describe("chooseNodes", () => {
  it.each([
    ["none are asked for", { runtime: "auto", nodes: 0 }, 0],
    ["simulated ones are asked for", { runtime: "simulated", nodes: 2 }, 2],
    ["they are asked for without a number", { runtime: "simulated" }, 1],
    ["they are described as only simulated ones can be", { runtime: "auto", nodes: 2, nodeCpu: "4" }, 2],
    ["the cluster had simulated ones", { runtime: "auto", hadSimulated: 3 }, 3],
    ["the cluster had none", { runtime: "auto", hadSimulated: 0 }, 0],
  ] as const)("no real nodes where %s", async (_name, options, simulated) => {
    const choice = await chooseNodes({ ...options, hasNodes: false }, terminal(), machine());
    expect(choice).toEqual({ simulated, notes: [] });
  });

  it.each([
    ["auto", 2, 2],
    ["auto", undefined, 1],
    ["containerd", 3, 3],
    ["containerd", undefined, 1],
  ] as const)("--runtime %s, --nodes %s", async (runtime, nodes, count) => {
    const options = { runtime, ...(nodes !== undefined && { nodes }), hasNodes: false };
    const { realNodes, notes } = await chooseNodes(options, terminal(), machine());
    expect(realNodes).toEqual({
      count,
      command: expect.arrayContaining([process.execPath]),
      proxyCommand: expect.arrayContaining([process.execPath]),
    });
    expect(notes).toEqual([]);
  });

  it.each([
    ["auto", undefined, 0],
    ["containerd", undefined, 0],
    ["auto", 3, 3],
  ] as const)(
    "a cluster that has real nodes goes on with them: --runtime %s, --nodes %s",
    async (runtime, nodes, count) => {
      const options = { runtime, ...(nodes !== undefined && { nodes }), hasNodes: true };
      expect((await chooseNodes(options, terminal(), machine())).realNodes).toMatchObject({ count });
    },
  );

  it("unless it is told not to, or cannot", async () => {
    const without = { runtime: "auto", nodes: 0, hasNodes: true } as const;
    expect(await chooseNodes(without, terminal(), machine())).toEqual({ simulated: 0, notes: [] });
    const { realNodes, notes } = await chooseNodes(
      { runtime: "auto", hasNodes: true },
      terminal(),
      machine({ root: false }),
    );
    expect([realNodes, notes]).toEqual([
      undefined,
      ["The real nodes of this cluster were left as they are. Real nodes need root."],
    ]);
  });

  it("auto says why nodes are only simulated; containerd refuses", async () => {
    const { notes } = await chooseNodes(
      { runtime: "auto", nodes: 2, hasNodes: false },
      terminal(),
      machine({ root: false }),
    );
    expect(notes).toEqual([
      "The 2 nodes are simulated: Pods are reported as running, but no containers run. Real nodes need root.",
    ]);
    await expect(
      chooseNodes({ runtime: "containerd", hasNodes: false }, terminal(), machine({ root: false })),
    ).rejects.toThrow("Real nodes need root. Or choose --runtime simulated.");
  });

  it.each([
    [{ runtime: "simulated", registries: "/r" }, "--registries acts only on real nodes. Those of this cluster are"],
    [{ runtime: "simulated", hostPorts: [], nodeMount: [] }, "--node-mount, --host-ports act only on real nodes."],
    [{ runtime: "auto", nodes: 0, publish: ["80:web/80"] }, "--publish acts only on real nodes. This cluster has no"],
    [{ runtime: "auto", hadSimulated: 2, nodeLoopDevices: true }, "--node-loop-devices acts only on real nodes."],
    [{ runtime: "auto", nodeUserNamespaces: true }, "only on real nodes. The node is simulated: Pods are reported"],
    [{ runtime: "auto", hasNodes: true, proxyMode: "iptables" }, "were left as they are. Real nodes need root."],
    [{ runtime: "simulated", ingress: false, loadBalancers: false, localhost: false, yes: true }, undefined],
    [{ runtime: "auto", nodes: 0, othersJoin: true, clusterCidr: ["10.1.0.0/16"], proxyMode: "iptables" }, undefined],
  ] as const)("what acts only on real nodes is refused without them: %j", async (options, says) => {
    const choice = chooseNodes({ hasNodes: false, ...options }, terminal(), machine({ root: false }));
    if (says === undefined) await expect(choice).resolves.toMatchObject({ notes: [] });
    else await expect(choice).rejects.toThrow(says);
  });

  it.each([
    ["--yes", { yes: true }, terminal(), true],
    ["an empty answer", {}, terminal(""), true],
    ["yes", {}, terminal("Yes"), true],
    ["no", {}, terminal("n"), false],
    ["nobody who could answer", {}, terminal(), false],
  ])("what is missing is installed, or not: %s", async (_name, flags, screen, installs) => {
    const options = { runtime: "auto" as const, nodes: 1, hasNodes: false, ...flags };
    const { realNodes, notes } = await chooseNodes(options, screen, machine({ missing: ["containerd", "runc"] }));
    expect(realNodes !== undefined).toBe(installs);
    if (installs) expect(screen.lines.at(-1)).toBe("Installing containerd, runc …");
    else expect(notes[0]).toContain("use --yes, or install them with `apt-get install containerd runc`");
  });
});

describe("packages that nodes can do without", () => {
  it.each([
    ["installed with --yes", { yes: true }, {}, ["Installing xfsprogs …"]],
    ["nobody is asked", {}, {}, []],
    [
      "a failure is said",
      { yes: true },
      { offline: true },
      ["Installing xfsprogs …", "Going on without xfsprogs: apt-get install xfsprogs failed."],
    ],
  ])("%s", async (_, flags, more, want) => {
    const screen = terminal("");
    const options = { runtime: "auto" as const, nodes: 1, hasNodes: false, ...flags };
    const { realNodes } = await chooseNodes(options, screen, machine({ wanted: ["xfsprogs"], ...more }));
    expect(realNodes).toBeDefined();
    expect(screen.lines).toEqual(want);
  });
});

describe("ranges of addresses", () => {
  const podRanges = (value: string) =>
    realNodesOptions()
      .find(({ long }) => long === "--cluster-cidr")
      ?.parseArg?.(value, undefined);
  it.each([
    ["10.244.0.0/16", true],
    ["10.244.0.0/16,fd00:10:244::/56", true],
    ["10.244.0.0/25", false],
    ["10.244.0.0/16,10.245.0.0/16", false],
    ["fd00:10:244::/56", false],
    ["fd00:10:244::/56,10.244.0.0/16", false],
    ["10.244.0.0/16,fd00:10:244::/40", false],
    ["10.244.0.0/16,fd00:10:244::/80", false],
    ["10.244.0.0/16,fd00:10:244::/56,10.1.0.0/16", false],
    ["10.244.0.0", false],
  ])("of Pods: %s", (value, isTaken) => {
    if (isTaken) expect(podRanges(value)).toEqual(value.split(","));
    else expect(() => podRanges(value)).toThrow();
  });

  it.each([
    ["10.96.0.0/12", true],
    ["10.96.0.0/16,fd00:10:96::/112", true],
    ["fd00:10:96::/112,10.96.0.0/16", true],
    ["fd00:10:96::/112", true],
    ["10.96.0.0/29", false],
    ["10.96.0.0/16,10.97.0.0/16", false],
    ["everything", false],
  ])("of Services: %s", (value, isTaken) => {
    if (isTaken) expect(serviceRanges(value)).toEqual(value.split(","));
    else expect(() => serviceRanges(value)).toThrow();
  });
});
