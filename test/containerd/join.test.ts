/**
 * Three machines on one bridge: one runs `up --listen`, two join it. Pods, Services, logs and commands work between
 * them, a wrong hash or token changes nothing, a worker starts again without a token, and its removal leaves no trace.
 */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { core } from "../../src/api/index.ts";
import { tool } from "../support/tools.ts";
import { Bridge } from "./support/bridge.ts";
import { missing } from "./support/leftovers.ts";
import type { Machine } from "./support/machine.ts";

const why = tool("kubectl") === undefined ? `${missing} kubectl 1.36 is missing.` : missing;
const SERVICES = "10.100.0.0/16";
const IMAGE = "localhost/busybox:1";

interface Ticket {
  readonly endpoint: string;
  readonly token: string;
  readonly hash: string;
}

function ticketIn(text: string): Ticket {
  const [, endpoint = "", token = "", hash = ""] = /k8ts join (\S+) --token (\S+) --ca-hash (\S+)/.exec(text) ?? [];
  return { endpoint, token, hash };
}

describe.skipIf(why !== "")(`machines that join${why && `: ${why}`}`, () => {
  let bridge: Bridge;
  let [main, one, two]: Machine[] = [];
  let ticket: Ticket;
  let before = "";

  const machine = (which: Machine | undefined): Machine => {
    if (which === undefined) throw new Error("the machines are not made");
    return which;
  };
  const inside = async (of: Machine | undefined, ...command: readonly string[]) => {
    const [program = "", ...args] = command;
    const { code, stdout, stderr } = await machine(of)
      .start(program, ...args)
      .ended();
    if (code !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
    return stdout;
  };
  const network = (of: Machine | undefined) =>
    inside(
      of,
      "sh",
      "-c",
      "ip -br address; ip route; nft list ruleset; cat /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv4/conf/default/rp_filter",
    );
  const joinAs = (
    of: Machine | undefined,
    name: string,
    { endpoint, token, hash }: Ticket,
    ...more: readonly string[]
  ) => machine(of).k8ts("join", endpoint, "--token", token, "--ca-hash", hash, "--name", name, "--detach", ...more);
  const kubectl = (...args: readonly string[]) => machine(main).kubectl(...args);
  const exec = (pod: string, command: string) => kubectl("exec", pod, "--", "sh", "-c", command);

  beforeAll(async () => {
    bridge = await Bridge.create(3);
    [main, one, two] = bridge.machines;
    before = await network(two);
    const up = ["up", "--detach", "--runtime", "containerd", "--listen", bridge.address(1), "--node-name", "main"];
    ticket = ticketIn(
      await machine(main).ok(
        ...up,
        "--service-cluster-ip-range",
        SERVICES,
        "--tls-san",
        "cp.test",
        "--port",
        "0",
        "--no-dashboard",
      ),
    );
    const joined = await Promise.all([
      joinAs(one, "one", ticket, "--labels", "disk=fast", "--taints", "kind=batch:PreferNoSchedule"),
      joinAs(two, "two", ticket),
    ]);
    for (const { code, stderr } of joined) expect([code, stderr]).toEqual([0, ""]);
  });
  afterAll(() => bridge?.[Symbol.asyncDispose]());

  it("are nodes of the cluster, with their own addresses, labels and taints", async () => {
    const nodes = await machine(main).json<core.NodeList>("get", "nodes");
    const shown = nodes.items.map(({ metadata, status }) => [
      metadata?.name,
      status?.addresses?.find(({ type }) => type === "InternalIP")?.address,
      status?.conditions?.find(({ type }) => type === "Ready")?.status,
    ]);
    expect(shown).toEqual([
      ["main", bridge.address(1), "True"],
      ["one", bridge.address(2), "True"],
      ["two", bridge.address(3), "True"],
    ]);
    const own = nodes.items.find(({ metadata }) => metadata?.name === "one");
    expect(own?.metadata?.labels).toMatchObject({ disk: "fast" });
    expect(own?.spec?.taints).toEqual([{ key: "kind", value: "batch", effect: "PreferNoSchedule" }]);
  });

  it("have Pods that reach each other, Services, the API and names, and are reached by logs and exec", async () => {
    const pod = (name: string, node: string): core.Pod => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, labels: { app: name } },
      spec: {
        nodeName: node,
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: "main",
            image: IMAGE,
            command: ["sh", "-c", `echo begun; while true; do echo ${name} | nc -l -p 8080; done`],
          },
        ],
      },
    });
    for (const [name, node] of [
      ["on-main", "main"],
      ["on-one", "one"],
      ["on-two", "two"],
    ] as const)
      await machine(main).apply(pod(name, node));
    await kubectl("expose", "pod", "on-two", "--port=80", "--target-port=8080", "--name=web");
    await kubectl("wait", "--for=condition=Ready", "pod", "--all", "--timeout=60s");
    const { items } = await machine(main).json<core.PodList>("get", "pods");
    const ip = (name: string) => items.find(({ metadata }) => metadata?.name === name)?.status?.podIP ?? "";
    const get = (from: string, host: string, port: number) =>
      exec(
        from,
        `for i in 1 2 3 4 5 6 7 8; do timeout 3 nc ${host} ${port} < /dev/null | grep . && break; sleep 0.5; done`,
      );
    expect(await get("on-one", ip("on-two"), 8080)).toBe("on-two\n");
    expect(await get("on-two", ip("on-main"), 8080)).toBe("on-main\n");
    expect(await get("on-main", ip("on-one"), 8080)).toBe("on-one\n");
    expect(await get("on-one", "web.default", 80)).toBe("on-two\n");
    expect(await kubectl("logs", "on-one")).toContain("begun");
    // The Service `kubernetes` is at the first address of the range that the cluster has, and its certificate says so.
    expect(await exec("on-two", "nc -w 3 10.100.0.1 443 -e true && echo open")).toBe("open\n");
    const names = await inside(
      one,
      "sh",
      "-c",
      `echo | openssl s_client -connect ${ticket.endpoint} 2>/dev/null | openssl x509 -noout -ext subjectAltName`,
    );
    for (const name of ["IP Address:10.100.0.1", `IP Address:${bridge.address(1)}`, "DNS:cp.test"])
      expect(names).toContain(name);
  });

  it("give a load balancer their addresses, and each serves its Pods; a second one for the port waits", async () => {
    const balancer = (name: string) =>
      kubectl("expose", "pod", "on-two", "--type=LoadBalancer", "--port=8888", "--target-port=8080", `--name=${name}`);
    await balancer("outside");
    const addresses = [1, 2, 3].map((number) => bridge.address(number));
    const shown = async (name: string) => {
      const { status } = await machine(main).json<core.Service>("get", "service", name);
      return (status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip);
    };
    await expect.poll(() => shown("outside"), { timeout: 20_000 }).toEqual(addresses);
    for (const address of addresses) {
      // From a machine to another one, and to itself.
      const ask = () => inside(one, "timeout", "3", "bash", "-c", `cat < /dev/tcp/${address}/8888`).catch(String);
      await expect.poll(ask, { timeout: 20_000 }).toContain("on-two");
    }
    await balancer("second");
    const events = () => kubectl("get", "events", "--field-selector=involvedObject.name=second", "-o", "wide");
    await expect.poll(events, { timeout: 20_000 }).toContain("belongs to the Service default/outside");
    expect(await shown("second")).toEqual([]);
    await kubectl("delete", "service", "outside", "second");
  });

  it("serve Ingresses at the address of the first machine, for Pods anywhere", async () => {
    const web: core.Pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "site", labels: { app: "site" } },
      spec: {
        nodeName: "two",
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: "main",
            image: IMAGE,
            command: ["sh", "-c", "mkdir /www; echo hello > /www/index.html; exec httpd -f -p 80 -h /www"],
          },
        ],
      },
    };
    await machine(main).apply(web);
    await kubectl("expose", "pod", "site", "--port=80");
    await kubectl("create", "ingress", "site", "--rule=site.test/*=site:80");
    const ask = () => inside(one, "curl", "-sS", "-m", "3", "-H", "Host: site.test", `http://${bridge.address(1)}/`);
    await expect.poll(() => ask().catch(String), { timeout: 30_000 }).toBe("hello\n");
    const shown = () => kubectl("get", "ingress", "site", "-o", "jsonpath={.status.loadBalancer.ingress[*].ip}");
    await expect.poll(shown, { timeout: 20_000 }).toBe(bridge.address(1));
    await kubectl("delete", "ingress,service,pod", "site");
  });

  it("refuse a wrong hash, a wrong and an unknown token, and leave nothing of the attempt", async () => {
    const created = await machine(main).ok(
      "token",
      "create",
      "--print-join-command",
      "--ttl",
      "2h",
      "--description",
      "x",
    );
    const good = ticketIn(created);
    expect(await machine(main).ok("token", "list")).toContain(good.token.slice(0, 6));
    const data = join(machine(two).home.dir, "other");
    const attempt = async (change: Partial<Ticket>, ...more: readonly string[]) => {
      const { endpoint, token, hash } = { ...good, ...change };
      const args = [
        "join",
        endpoint,
        "--token",
        token,
        "--ca-hash",
        hash,
        "--name",
        "other",
        "--data-dir",
        data,
        ...more,
      ];
      const { code, stderr } = await machine(two).k8ts(...args);
      expect([code, existsSync(join(data, "join.json")), existsSync(join(data, "nodes"))]).toEqual([1, false, false]);
      return stderr;
    };
    expect(await attempt({ hash: `sha256:${"0".repeat(64)}` })).toContain("has another authority");
    expect(await attempt({ token: `${good.token.slice(0, 6)}.0000000000000000` })).toContain("with another secret");
    expect(await attempt({ endpoint: `${bridge.address(2)}:1` })).toContain("cannot be reached");
    expect(await attempt({}, "--name", "main")).toContain("has a node main that is Ready");
    await machine(main).ok("token", "delete", good.token.slice(0, 6));
    expect(await attempt({})).toContain("does not know the token");
    await rm(data, { recursive: true, force: true });
  });

  it("let a node join by the documented steps alone, as kubeadm takes them", async () => {
    const script = join(import.meta.dirname, "support", "kubeadm-steps.ts");
    const { endpoint, token, hash } = ticket;
    const found = JSON.parse(await inside(two, process.execPath, script, endpoint, token, hash, "by-hand")) as object;
    expect(found).toMatchObject({
      networking: { serviceSubnet: SERVICES, dnsDomain: "cluster.local" },
      endpoint,
      clusterDNS: ["10.100.0.10"],
      serverTLSBootstrap: true,
      node: "by-hand",
      // NodeRestriction, and no right to read Secrets.
      anotherNode: 403,
      secrets: 403,
    });
    await machine(main).ok("node", "remove", "by-hand");
  });

  it("start again without a token, also while the control plane is away", async () => {
    await inside(two, "true");
    await machine(main).ok("down", "--keep-nodes");
    await machine(two).ok("down");
    const again = machine(two).k8ts("up", "--detach");
    await machine(main).ok(
      "up",
      "--detach",
      "--runtime",
      "containerd",
      "--service-cluster-ip-range",
      SERVICES,
      "--no-dashboard",
    );
    const { code, stderr } = await again;
    expect([code, stderr]).toEqual([0, ""]);
    await kubectl("wait", "--for=condition=Ready", "node/two", "--timeout=60s");
    expect(await machine(two).ok("status")).toContain("node two of the cluster");
  });

  it("are drained and removed, and leave no trace", async () => {
    const { stderr } = await machine(main).k8ts("node", "drain", "two");
    expect(stderr).toContain("declare no controller (use --force to override): default/on-two");
    expect(await machine(main).ok("node", "drain", "two", "--force")).toContain("two is drained");
    await machine(main).ok("node", "remove", "two");
    const left = await kubectl("get", "nodes,leases,csr", "-A", "-o", "name");
    expect(left).not.toContain("two");
    await expect.poll(() => machine(two).leftovers(), { timeout: 30_000 }).toEqual([]);
    await machine(two).ok("reset", "--yes");
    await expect.poll(() => network(two), { timeout: 10_000 }).toBe(before);
    expect(existsSync(machine(two).home.dataDir)).toBe(false);
  });
});
