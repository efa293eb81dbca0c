/**
 * Services on two real nodes, in both modes of the proxy: who reaches whom, what is even, what is lost when something
 * changes or dies.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { core } from "../../src/api/index.ts";
import { type NodeRun, nodeNames, readNode, siteNames } from "../../src/cluster/nodes/index.ts";
import { run } from "../../src/cluster/nodes/machine/command.ts";
import { tool } from "../support/tools.ts";
import { missing } from "./support/leftovers.ts";
import { Machine, WITH_NODE } from "./support/machine.ts";
import { until } from "./support/wait.ts";
import { clientPod, nodeCommand, nodePod, scripts, serverContainer, type Told } from "./support/web.ts";

const why = tool("kubectl") === undefined ? `${missing} kubectl 1.36 is missing.` : missing;
const APP = { matchLabels: { app: "web" } };
const CLIENT = "/scripts/client.js";

const web = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: {
    replicas: 2,
    selector: APP,
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    template: {
      metadata: { labels: APP.matchLabels },
      spec: {
        ...nodePod(serverContainer()),
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: "kubernetes.io/hostname",
            whenUnsatisfiable: "DoNotSchedule",
            labelSelector: APP,
          },
        ],
      },
    },
  },
};
const service = (name: string, spec: core.ServiceSpec) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name },
  spec: { selector: APP.matchLabels, ports: [{ port: 80, targetPort: "http" }], ...spec },
});

describe.skipIf(why !== "")(`Services of real nodes${why && `: ${why}`}`, () => {
  let machine: Machine;
  let clientFile = "";
  const [one, two] = ["client-1", "client-2"];

  const up = (...more: string[]) => machine.ok("up", "--detach", "--runtime", "containerd", ...WITH_NODE, ...more);
  beforeAll(async () => {
    machine = await Machine.create();
    await up("--nodes", "2");
    clientFile = join(machine.home.dir, "client.js");
    writeFileSync(clientFile, scripts.data?.["client.js"] ?? "");
    const objects = [
      scripts,
      clientPod(one, "node-1"),
      clientPod(two, "node-2"),
      web,
      service("web", { type: "NodePort" }),
      service("sticky", { sessionAffinity: "ClientIP" }),
    ];
    for (const object of objects) await machine.apply(object);
    await machine.kubectl("wait", "--for=condition=Ready", "pod", "--all", "--timeout=60s");
  });
  afterAll(async () => {
    await machine?.[Symbol.asyncDispose]();
    expect(machine?.leftovers()).toEqual([]);
  });

  const toldBy = (text: string) => JSON.parse(text.trim().split("\n").at(-1) ?? "") as Told;
  const inPod = async (name: string, url: string, count = 20) =>
    toldBy(await machine.kubectl("exec", name, "--", nodeCommand, CLIENT, url, "count", String(count)));
  const namespaceOf = (node: string) => `/run/netns/${nodeNames(siteNames(machine.home.dataDir), node).namespace}`;
  const onNode = async (node: string, url: string, count = 20) =>
    toldBy(
      await run(nodeCommand, [clientFile, url, "count", String(count)], {
        inNamespace: namespaceOf(node),
      }),
    );
  const onMachine = async (url: string, count = 20) =>
    toldBy((await machine.start(nodeCommand, clientFile, url, "count", String(count)).ended()).stdout);
  const backends = async () => {
    const { items } = await machine.json<core.PodList>("get", "pods", "-l", "app=web");
    const found = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return found.sort((a, b) => ((a.spec?.nodeName ?? "") < (b.spec?.nodeName ?? "") ? -1 : 1));
  };
  const addressOf = async (name: string) => {
    const { spec } = await machine.json<core.Service>("get", "service", name);
    return { url: `http://${spec?.clusterIP}`, nodePort: spec?.ports?.[0]?.nodePort ?? 0 };
  };
  const nodeIp = async (name: string) =>
    (await machine.json<core.Node>("get", "node", name)).status?.addresses?.find(({ type }) => type === "InternalIP")
      ?.address ?? "";
  const runOf = async (node: string): Promise<NodeRun | undefined> =>
    (await readNode(nodeNames(siteNames(machine.home.dataDir), node)))?.run;

  /** Requests in a Pod from now on, until it is asked for what came of them; whether there is an API server or not. */
  const load = async (name: string, url: string, more = "") => {
    const inClient = (script: string) => machine.kubectl("exec", name, "--", "sh", "-c", script);
    await inClient(
      `rm -f /tmp/*; ${nodeCommand} ${CLIENT} ${url} load /tmp/stop ${more} </dev/null >/tmp/out 2>/tmp/log &`,
    );
    await until(
      () => inClient("cat /tmp/log 2>/dev/null || true"),
      (said) => said.includes("loading"),
      20_000,
    );
    return async (): Promise<Told> => {
      await inClient("touch /tmp/stop");
      return toldBy(
        await until(
          () => inClient("cat /tmp/out"),
          (said) => said.endsWith("\n"),
          20_000,
        ),
      );
    };
  };

  const listings = {
    nftables: ["nft", ["list", "table", "ip", "k8ts-proxy"]],
    iptables: ["iptables-save", []],
  } as const;
  const listing = async (mode: keyof typeof listings, node: string) => {
    const [program, args] = listings[mode];
    const text = await run(program, args, { inNamespace: namespaceOf(node) });
    return text
      .replaceAll(/expires \S+|^#.*|\[\d+:\d+\]/gm, "")
      .split(/[,\n]/)
      .map((line) => line.trim())
      .sort();
  };

  it("Pods reach Pods, on their node and across", async () => {
    const [first, second] = await backends();
    expect([first?.spec?.nodeName, second?.spec?.nodeName]).toEqual(["node-1", "node-2"]);
    for (const client of [one, two]) {
      for (const each of [first, second]) {
        const { answers } = await inPod(client, `http://${each?.status?.podIP}:8080`, 5);
        expect(answers).toEqual({ [each?.metadata.name ?? ""]: 5 });
      }
    }
  });

  describe.each(["nftables", "iptables"] as const)("by %s", (mode) => {
    beforeAll(async () => {
      if (mode === "nftables") return;
      // The other mode takes over while there is traffic.
      const end = await load(one, (await addressOf("web")).url);
      const before = await runOf("node-1");
      await machine.ok("down", "--keep-nodes");
      await up("--proxy-mode", mode);
      for (const node of ["node-1", "node-2"]) {
        await until(
          () => listing("iptables", node),
          (lines) => lines.some((line) => line.includes("-A K8TS-SERVICES")),
        );
        await until(
          () => run("nft", ["list", "tables"], { inNamespace: namespaceOf(node) }),
          (tables) => !tables.includes("k8ts-proxy"),
        );
      }
      expect((await runOf("node-1"))?.proxy?.pid).not.toBe(before?.proxy?.pid);
      const { failures, answers } = await end();
      expect(failures).toEqual({});
      expect(Object.keys(answers)).toHaveLength(2);
    });

    it("Pods find every backend, within 10 % of evenly in 1,000 connections", async () => {
      const { url } = await addressOf("web");
      const names = (await backends()).map(({ metadata }) => metadata.name ?? "");
      // Chance decides about each of them: one series in 600 is less even than that, three in a row never are.
      let isEven = false;
      for (let turn = 0; turn < 3 && !isEven; turn++) {
        const { answers, failures } = await inPod(one, url, 1000);
        expect(failures).toEqual({});
        expect(Object.keys(answers).sort()).toEqual(names.sort());
        isEven = Object.values(answers).every((count) => Math.abs(count - 500) <= 50);
      }
      expect(isEven).toBe(true);
    });

    it("nodes find them, and every node answers at their port, for others and for the machine", async () => {
      const { url, nodePort } = await addressOf("web");
      const [ipOne, ipTwo] = [await nodeIp("node-1"), await nodeIp("node-2")];
      const told = [
        await onNode("node-1", url),
        await onNode("node-2", `http://${ipOne}:${nodePort}`),
        await onMachine(`http://${ipOne}:${nodePort}`),
        await onMachine(`http://${ipTwo}:${nodePort}`),
      ];
      for (const { answers, failures } of told) {
        expect(failures).toEqual({});
        expect(Object.keys(answers)).toHaveLength(2);
      }
    });

    it("a backend reaches itself through them", async () => {
      const { url } = await addressOf("web");
      for (const { metadata } of await backends()) {
        const { answers, failures } = await inPod(metadata.name ?? "", url);
        expect(failures).toEqual({});
        expect(answers[metadata.name ?? ""]).toBeGreaterThan(0);
      }
    });

    it("with affinity, a client always finds the same backend", async () => {
      const { url } = await addressOf("sticky");
      for (const client of [one, two]) expect(Object.keys((await inPod(client, url, 50)).answers)).toHaveLength(1);
    });

    it("the end of a proxy is not noticed: connections go on, and its successor finds all as it was", async () => {
      const inNode = { inNamespace: namespaceOf("node-1") };
      const foreign = "table ip foreign {\nchain kept {\nip daddr 192.0.2.1 drop\n}\n}\n";
      await run("nft", ["-f", "-"], { ...inNode, input: foreign });
      await run("iptables", ["-A", "FORWARD", "-d", "192.0.2.2", "-j", "DROP"], inNode);
      const before = await listing(mode, "node-1");
      const end = await load(one, (await addressOf("web")).url, "stream");
      const proxy = (await runOf("node-1"))?.proxy?.pid ?? 0;
      process.kill(proxy, "SIGKILL");
      // While nobody watches, somebody breaks something: that is mended, too.
      await run(
        mode === "nftables" ? "nft" : "iptables",
        mode === "nftables"
          ? ["add", "element", "ip", "k8ts-proxy", "cluster-ips", "{ 192.0.2.3 }"]
          : ["-t", "nat", "-A", "K8TS-SERVICES", "-d", "192.0.2.3", "-j", "RETURN"],
        inNode,
      );
      await until(
        () => runOf("node-1"),
        (found) => found?.state === "running" && found.proxy?.pid !== proxy,
      );
      expect(
        await until(
          () => listing(mode, "node-1"),
          (lines) => lines.join() === before.join(),
          20_000,
        ),
      ).toEqual(before);
      const { failures, ticks } = await end();
      expect(failures).toEqual({});
      expect(ticks).toBeGreaterThan(10);
      expect(await run("nft", ["list", "table", "ip", "foreign"], inNode)).toContain("192.0.2.1");
      expect(await run("iptables", ["-S", "FORWARD"], inNode)).toContain("192.0.2.2");
      await run("iptables", ["-D", "FORWARD", "-d", "192.0.2.2", "-j", "DROP"], inNode);
      await run("nft", ["delete", "table", "ip", "foreign"], inNode);
    });

    it("a backend that is no longer ready is left alone", async () => {
      const { url } = await addressOf("web");
      const [failing, other] = await backends();
      const failingUrl = `http://${failing?.status?.podIP}:8080`;
      const ends = [await load(one, url), await load(two, url)];
      await inPod(other?.metadata.name ?? "", `${failingUrl}/unready`, 1);
      await machine.kubectl("wait", "--for=condition=Ready=false", "pod", failing?.metadata.name ?? "");
      const name = failing?.metadata.name ?? "";
      for (const client of [one, two])
        await until(
          () => inPod(client, url),
          ({ answers }) => answers[name] === undefined,
        );
      for (const end of ends) {
        const { last, failures } = await end();
        expect(failures).toEqual({});
        expect(last[other?.metadata.name ?? ""]).toBeGreaterThan(last[name] ?? 0);
      }
    });

    it("all backends are replaced under load, and no request is lost", async () => {
      const { url } = await addressOf("web");
      const old = (await backends()).map(({ metadata }) => metadata.name ?? "");
      const ends = [await load(one, url), await load(two, url)];
      await machine.kubectl("rollout", "restart", "deployment", "web");
      await machine.kubectl("rollout", "status", "deployment", "web", "--timeout=60s");
      await machine.kubectl("wait", "--for=delete", "pod", ...old, "--timeout=30s");
      const now = (await backends()).map(({ metadata }) => metadata.name ?? "");
      for (const end of ends) {
        const { answers, failures } = await end();
        expect(failures).toEqual({});
        expect(Object.keys(answers)).toEqual(expect.arrayContaining(now));
      }
    });
  });
});
