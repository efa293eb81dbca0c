/** Names and policies as Pods of two real nodes meet them; load balancers and Ingresses as the machine does. */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { core, networking } from "../../src/api/index.ts";
import { realClock } from "../../src/base/index.ts";
import { nodeNames, readNode, siteNames } from "../../src/cluster/nodes/index.ts";
import { createAuthority } from "../../src/pki/index.ts";
import { definitionsOf, isFetched } from "../operators/support/definitions.ts";
import { tool } from "../support/tools.ts";
import { missing } from "./support/leftovers.ts";
import { Machine, WITH_NODE } from "./support/machine.ts";
import { until } from "./support/wait.ts";
import { clientPod, nodeCommand, nodePod, pod, scripts, serverContainer, type Told } from "./support/web.ts";

const why = tool("kubectl") === undefined ? `${missing} kubectl 1.36 is missing.` : missing;
const ZONE = "default.svc.cluster.local";
/** Of both families, where this kernel has both. */
const hasIpv6 = existsSync("/proc/net/if_inet6");
const RANGES = hasIpv6
  ? [
      "--cluster-cidr",
      "10.199.0.0/16,fd00:10:199::/56",
      "--service-cluster-ip-range",
      "10.100.0.0/16,fd00:10:100::/112",
    ]
  : [];
const app = (name: string) => ({ app: name });
const selecting = (name: string) => ({ matchLabels: app(name) });

const server = (name: string, nodeName: string, port: number, more: Partial<core.PodSpec> = {}) =>
  pod(name, app(name), { ...nodePod(serverContainer(port)), nodeName, ...more });
const service = (name: string, spec: core.ServiceSpec) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name },
  spec: { selector: app(name), ports: [{ name: "http", port: 80, targetPort: "http" }], ...spec },
});
const policy = (name: string, spec: networking.NetworkPolicySpec) => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name },
  spec,
});
const path = (backend: string, at = "/"): networking.HTTPIngressPath => ({
  path: at,
  pathType: "Prefix",
  backend: { service: { name: backend, port: { name: "http" } } },
});

describe.skipIf(why !== "")(`names, policies and entrances${why && `: ${why}`}`, () => {
  let machine: Machine;
  let clientFile = "";

  beforeAll(async () => {
    machine = await Machine.create();
    await machine.ok("up", "--detach", "--runtime", "containerd", "--nodes", "2", ...RANGES, ...WITH_NODE);
    clientFile = join(machine.home.dir, "client.js");
    writeFileSync(clientFile, scripts.data?.["client.js"] ?? "");
    const objects = [
      scripts,
      server("one", "node-1", 8080),
      server(
        "two",
        "node-2",
        8080,
        nodePod({ ...serverContainer(), ports: [{ name: "http", containerPort: 8080, hostPort: 18080 }] }),
      ),
      server("database", "node-1", 5432, { hostname: "db-0", subdomain: "database" }),
      clientPod("frontend", "node-1", app("frontend")),
      clientPod("backend", "node-2", app("backend")),
      service("one", {}),
      service("two", {}),
      service("database", { clusterIP: "None", ports: [{ name: "sql", port: 5432 }] }),
      service("unnamed", { selector: app("one"), ports: [{ port: 80, targetPort: 8080 }] }),
      ...(hasIpv6
        ? [service("both", { selector: app("two"), type: "NodePort", ipFamilyPolicy: "RequireDualStack" })]
        : []),
      service("elsewhere", { type: "ExternalName", externalName: "one.default.svc.cluster.local", ports: [] }),
    ];
    for (const object of objects) await machine.apply(object);
    await machine.kubectl("wait", "--for=condition=Ready", "pod", "--all", "--timeout=60s");
  });
  afterAll(async () => {
    await machine?.[Symbol.asyncDispose]();
    expect(machine?.leftovers()).toEqual([]);
  });

  const inPod = (name: string, ...command: string[]) => machine.kubectl("exec", name, "--", ...command);
  const podIp = async (name: string) => (await machine.json<core.Pod>("get", "pod", name)).status?.podIP ?? "";
  const toldBy = (text: string) => JSON.parse(text.trim().split("\n").at(-1) ?? "") as Told;
  const names = async (from: string, ...questions: [type: string, name: string][]) =>
    JSON.parse(await inPod(from, nodeCommand, "/scripts/names.js", JSON.stringify(questions))) as unknown[];
  /** Who answers, or why nobody does. */
  const ask = async (from: string, url: string) => {
    const { answers, failures } = toldBy(
      await inPod(from, "env", "TIMEOUT_MS=2000", nodeCommand, "/scripts/client.js", url, "count", "1"),
    );
    return [...Object.keys(answers), ...Object.keys(failures)][0];
  };
  /** The same as the machine sees it: `host` is whom it asks for. */
  const fromMachine = (url: string, host: string, what: string, limit: string) =>
    machine.start("env", `HOST=${host}`, nodeCommand, clientFile, url, what, limit);
  const count = async (url: string, host: string, times = 5) =>
    toldBy((await fromMachine(url, host, "count", String(times)).ended()).stdout);

  it("every record that the specification names is found from inside a Pod", async () => {
    const { spec } = await machine.json<core.Service>("get", "service", "one");
    const [cluster = "", database, own] = [spec?.clusterIP, await podIp("database"), await podIp("one")];
    const found = await names(
      "frontend",
      ["A", `one.${ZONE}`],
      ["AAAA", `one.${ZONE}`],
      ["SRV", `_http._tcp.one.${ZONE}`],
      ["PTR", cluster],
      ["A", `database.${ZONE}`],
      ["A", `db-0.database.${ZONE}`],
      ["SRV", `_sql._tcp.database.${ZONE}`],
      ["PTR", database],
      ["CNAME", `elsewhere.${ZONE}`],
      ["A", `elsewhere.${ZONE}`],
      ["A", `${own.replaceAll(".", "-")}.default.pod.cluster.local`],
      ["TXT", "dns-version.cluster.local"],
      ["SRV", `_http._tcp.unnamed.${ZONE}`],
      ["A", `nobody.${ZONE}`],
      ["A", "nobody.example.test"],
      ["search", "one"],
      ["search", "one.default"],
      ["search", "elsewhere"],
    );
    const srv = (name: string, port: number) => [{ name, port, priority: 0, weight: 100, type: "SRV" }];
    expect(found).toEqual([
      [cluster],
      "ENODATA",
      srv(`one.${ZONE}`, 80),
      [`one.${ZONE}`],
      [database],
      [database],
      srv(`db-0.database.${ZONE}`, 5432),
      [`db-0.database.${ZONE}`],
      [`one.${ZONE}`],
      [cluster],
      [own],
      [["1.1.0"]],
      "ENOTFOUND",
      "ENOTFOUND",
      // The node has no way out, and says so at once.
      "EREFUSED",
      cluster,
      cluster,
      cluster,
    ]);
    expect(await inPod("frontend", "nslookup", `one.${ZONE}.`)).toContain(cluster);
  });

  it.skipIf(!hasIpv6)(
    "Pods, Services and names of both families: across nodes, from the machine, under a policy",
    async () => {
      const v6 = (all: readonly string[] = []) => all.find((address) => address.includes(":")) ?? "none";
      const node = await machine.json<core.Node>("get", "node", "node-2");
      expect(node.spec?.podCIDRs).toEqual([
        expect.stringMatching(/^10\.199\./),
        expect.stringMatching(/^fd00:10:199:/),
      ]);
      const nodeIps = node.status?.addresses?.filter(({ type }) => type === "InternalIP").map(({ address }) => address);
      const { status } = await machine.json<core.Pod>("get", "pod", "two");
      const podIps = status?.podIPs?.map(({ ip }) => ip ?? "");
      expect([podIps?.length, status?.hostIPs?.length, status?.podIP]).toEqual([2, 2, podIps?.[0]]);
      expect(v6(podIps)).toMatch(/^fd00:10:199:/);
      // A port of the node leads to it by both.
      for (const ip of nodeIps ?? [])
        expect((await count(`http://${ip.includes(":") ? `[${ip}]` : ip}:18080`, "x")).answers).toEqual({ two: 5 });
      const { spec } = await machine.json<core.Service>("get", "service", "both");
      expect([spec?.ipFamilies, spec?.clusterIPs]).toEqual([
        ["IPv4", "IPv6"],
        [expect.stringMatching(/^10\.100\./), expect.stringMatching(/^fd00:10:100::/)],
      ]);
      expect(
        await names("frontend", ["A", `both.${ZONE}`], ["AAAA", `both.${ZONE}`], ["PTR", v6(spec?.clusterIPs)]),
      ).toEqual([[spec?.clusterIP], [v6(spec?.clusterIPs)], [`both.${ZONE}`]]);
      const byPod = `http://[${v6(podIps)}]:8080`;
      for (const url of [byPod, `http://[${v6(spec?.clusterIPs)}]`, `http://${spec?.clusterIP}`])
        expect([url, await ask("frontend", url)]).toEqual([url, "two"]);
      const nodePort = spec?.ports?.[0]?.nodePort;
      expect((await count(`http://[${v6(nodeIps)}]:${nodePort}`, "x")).answers).toEqual({ two: 5 });
      expect((await count(byPod, "x")).answers).toEqual({ two: 5 });
      await machine.apply(policy("two", { podSelector: selecting("two"), policyTypes: ["Ingress"] }));
      await until(
        () => ask("frontend", byPod),
        (said) => said === "ETIMEDOUT",
      );
      await machine.kubectl("delete", "networkpolicy", "two");
      await until(
        () => ask("frontend", byPod),
        (said) => said === "two",
      );
    },
  );

  it("policies keep out whom they do not name, for as long as they are there", async () => {
    const database = `http://${await podIp("database")}:5432`;
    const named = `http://database.${ZONE}:5432`;
    expect([await ask("frontend", named), await ask("backend", database)]).toEqual(["database", "database"]);

    const running = machine.start(
      tool("kubectl") ?? "",
      ...["exec", "frontend", "--", "env", "TIMEOUT_MS=2000"],
      ...[nodeCommand, "/scripts/client.js", database, "load", "/tmp/stop"],
    );
    await until(
      () => running.stderr(),
      (said) => said.includes("loading"),
    );
    await machine.apply(
      policy("database", {
        podSelector: selecting("database"),
        policyTypes: ["Ingress"],
        ingress: [{ from: [{ podSelector: selecting("backend") }], ports: [{ port: 5432, protocol: "TCP" }] }],
      }),
    );
    // A connection that is not answered takes a while to be given up.
    await until(
      () => ask("frontend", database),
      (answer) => answer === "ETIMEDOUT",
    );
    await inPod("frontend", "touch", "/tmp/stop");
    expect(Object.keys(toldBy((await running.ended()).stdout).failures)).toEqual(["ETIMEDOUT"]);
    expect(await ask("backend", named)).toBe("database");

    // Nobody is let in while the agent of the node is gone, and it is back soon: names are found again.
    const agent = (await readNode(nodeNames(siteNames(machine.home.dataDir), "node-1")))?.run?.proxy?.pid ?? 0;
    process.kill(agent, "SIGKILL");
    const kept = ask("frontend", database);
    await until(
      () => names("frontend", ["A", `one.${ZONE}`]),
      ([found]) => Array.isArray(found),
    );
    expect(await kept).toBe("ETIMEDOUT");
    expect(await ask("backend", database)).toBe("database");

    const dns = {
      ports: (["UDP", "TCP"] as const).map((protocol) => ({ port: 53, protocol })),
      to: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } } }],
    };
    const egress = (rules: networking.NetworkPolicyEgressRule[]) =>
      policy("frontend", { podSelector: selecting("frontend"), policyTypes: ["Egress"], egress: rules });
    await machine.apply(egress([dns]));
    await until(
      () => ask("frontend", `http://one.${ZONE}`),
      (said) => said === "ETIMEDOUT",
    );
    const [one] = await names("frontend", ["A", `one.${ZONE}`]);
    expect(one).toEqual([expect.stringMatching(/^10\.\d+\.\d+\.\d+$/)]);
    expect(await ask("backend", `http://one.${ZONE}`)).toBe("one");
    await machine.apply(egress([]));
    await until(
      () => names("frontend", ["A", `one.${ZONE}`]),
      ([said]) => said === "ETIMEOUT",
    );

    await machine.kubectl("delete", "networkpolicy", "--all");
    await until(
      () => ask("frontend", named),
      (said) => said === "database",
    );
    expect(await ask("frontend", `http://one.${ZONE}`)).toBe("one");
  });

  it("a load balancer has an address that the machine reaches, and sees the client where it stays on its node", async () => {
    const balancer = service("balancer", { type: "LoadBalancer", selector: app("two") });
    await machine.apply(balancer);
    const address = async () =>
      (await machine.json<core.Service>("get", "service", "balancer")).status?.loadBalancer?.ingress?.[0]?.ip;
    const ip = await until(address, (found) => found !== undefined);
    expect(ip).toMatch(/^10\.88\./);
    const routes = async () => (await machine.start("ip", "route", "show", `${ip}`).ended()).stdout;
    await until(routes, (said) => said.includes("via"));
    await until(
      () => count(`http://${ip}`, "x"),
      ({ answers }) => answers.two === 5,
    );
    expect(await ask("frontend", `http://${ip}`)).toBe("two");
    await machine.apply({ ...balancer, spec: { ...balancer.spec, externalTrafficPolicy: "Local" } });
    const body = async () => (await machine.start("busybox", "wget", "-q", "-O", "-", `http://${ip}`).ended()).stdout;
    await until(body, (said) => /^two 10\.89\.\d+\.1 /.test(said));
    await machine.kubectl("delete", "service", "balancer");
    await until(routes, (said) => said === "");
  });

  it("Ingresses serve two hosts, one with TLS, and change under load without a lost request", async () => {
    const authority = await createAuthority({ commonName: "test", clock: realClock() });
    const secret = async () => {
      const { certPem, keyPem } = await authority.issue({
        commonName: "one.example.test",
        dnsNames: ["one.example.test"],
        usages: ["server"],
      });
      return {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "one-tls" },
        type: "kubernetes.io/tls",
        stringData: { "tls.crt": certPem, "tls.key": keyPem },
      };
    };
    const ingress = (...more: networking.HTTPIngressPath[]) => ({
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { name: "hosts" },
      spec: {
        tls: [{ hosts: ["one.example.test"], secretName: "one-tls" }],
        rules: [
          { host: "one.example.test", http: { paths: [path("one"), ...more] } },
          { host: "two.example.test", http: { paths: [path("two")] } },
        ],
      },
    });
    await machine.apply(await secret());
    await machine.apply(ingress());
    const made = await until(
      () => machine.json<networking.Ingress>("get", "ingress", "hosts"),
      ({ status }) => status?.loadBalancer?.ingress?.[0]?.ip !== undefined,
    );
    expect(made.spec?.ingressClassName).toBe("k8ts");
    const ip = made.status?.loadBalancer?.ingress?.[0]?.ip;
    expect((await count(`https://${ip}`, "one.example.test")).answers).toEqual({ one: 5 });
    expect((await count(`http://${ip}`, "two.example.test")).answers).toEqual({ two: 5 });
    expect((await count(`http://${ip}`, "three.example.test")).failures).toEqual({ 404: 5 });
    expect(await ask("frontend", `http://${ip}`)).toBe("404");

    const stop = join(machine.home.dir, "stop");
    const loads = [
      fromMachine(`https://${ip}`, "one.example.test", "load", stop),
      fromMachine(`http://${ip}`, "two.example.test", "load", `${stop}-two`),
    ];
    for (const each of loads) {
      await until(
        () => each.stderr(),
        (said) => said.includes("loading"),
      );
    }
    for (let turn = 0; turn < 5; turn++) {
      await machine.apply(ingress(path("two", `/two-${turn}`)));
      await machine.apply(await secret());
    }
    expect(
      (
        await until(
          () => count(`https://${ip}/two-4`, "one.example.test"),
          ({ answers }) => answers.two === 5,
        )
      ).failures,
    ).toEqual({});
    for (const file of [stop, `${stop}-two`]) writeFileSync(file, "");
    for (const [at, each] of loads.entries()) {
      const { answers, failures } = toldBy((await each.ended()).stdout);
      expect(failures).toEqual({});
      expect(Object.keys(answers)).toEqual([["one"], ["two"]][at]);
    }
    for (const file of [stop, `${stop}-two`]) rmSync(file, { force: true });
  });

  it.skipIf(!isFetched("gateway-api"))(
    "Gateways and HTTPRoutes are served once their definitions are installed",
    async () => {
      const kinds = ["GatewayClass", "Gateway", "HTTPRoute", "ReferenceGrant"];
      const definitions = definitionsOf("gateway-api", { clusterScoped: ["GatewayClass"] });
      for (const each of definitions.filter(({ spec }) => kinds.includes(spec.names.kind))) await machine.apply(each);
      const gatewayApi = (kind: string, name: string, spec: object) => ({
        apiVersion: "gateway.networking.k8s.io/v1",
        kind,
        metadata: { name },
        spec,
      });
      await machine.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=20s");
      await machine.apply(gatewayApi("GatewayClass", "k8ts", { controllerName: "k8ts.dev/gateway" }));
      const listeners = [{ name: "http", port: 80, protocol: "HTTP", hostname: "*.example.test" }];
      await machine.apply(gatewayApi("Gateway", "edge", { gatewayClassName: "k8ts", listeners }));
      const rule = (value: string, name: string) => ({
        matches: [{ path: { type: "PathPrefix", value } }],
        backendRefs: [{ name, port: 80 }],
      });
      const elsewhere = { filters: [{ type: "RequestRedirect", requestRedirect: { scheme: "https" } }] };
      const rules = [
        rule("/", "one"),
        rule("/two", "two"),
        { ...elsewhere, matches: [{ path: { type: "RegularExpression", value: "/old/[a-z]+" } }] },
        {
          matches: [{ path: { type: "PathPrefix", value: "/far" } }],
          backendRefs: [{ name: "kubernetes", namespace: "far", port: 443 }],
        },
      ];
      const hostnames = ["gateway.example.test"];
      await machine.apply(gatewayApi("HTTPRoute", "web", { parentRefs: [{ name: "edge" }], hostnames, rules }));
      await machine.kubectl("wait", "--for=condition=Programmed", "gateway", "edge", "--timeout=20s");
      const { status } = await machine.json<{ status: { addresses: { value: string }[] } }>("get", "gateway", "edge");
      const url = `http://${status.addresses[0]?.value}`;
      await until(
        () => count(url, "gateway.example.test"),
        ({ answers }) => answers.one === 5,
      );
      expect((await count(`${url}/two/x`, "gateway.example.test")).answers).toEqual({ two: 5 });
      expect((await count(url, "other.example.test")).failures).toEqual({ 404: 5 });
      const route = await machine.json<{ status: { parents: { conditions: core.NodeCondition[] }[] } }>(
        "get",
        "httproute",
        "web",
      );
      const [accepted, resolved] = route.status.parents[0]?.conditions ?? [];
      expect(accepted).toMatchObject({ type: "Accepted", status: "True" });
      expect(resolved).toMatchObject({ type: "ResolvedRefs", reason: "RefNotPermitted" });
      expect((await count(`${url}/old/page`, "gateway.example.test")).failures).toEqual({ 302: 5 });
      expect((await count(`${url}/far`, "gateway.example.test")).failures).toEqual({ 500: 5 });

      // The other Namespace has a Service without anybody behind it, and lets routes of this one refer to it.
      const group = "gateway.networking.k8s.io";
      const grant = gatewayApi("ReferenceGrant", "routes", {
        from: [{ group, kind: "HTTPRoute", namespace: "default" }],
        to: [{ group: "", kind: "Service" }],
      });
      await machine.kubectl("create", "namespace", "far");
      await machine.kubectl("create", "service", "clusterip", "kubernetes", "--tcp=443", "-n", "far");
      await machine.apply({ ...grant, apiVersion: `${group}/v1beta1`, metadata: { name: "routes", namespace: "far" } });
      await until(
        () => count(`${url}/far`, "gateway.example.test"),
        ({ failures }) => failures[503] === 5,
      );
    },
  );
});
