/**
 * The way out of a cluster: Pods reach what the machine reaches, by its address and with its names, and nothing of the
 * machine itself. The machine and its outside are two namespaces that lead nowhere else.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { core } from "../../src/api/index.ts";
import { nodeNames, readNode, siteNames } from "../../src/cluster/nodes/index.ts";
import { tool } from "../support/tools.ts";
import { missing } from "./support/leftovers.ts";
import { MachineWithOutside } from "./support/outside.ts";
import { OUTSIDE } from "./support/outside-addresses.ts";

const why = tool("kubectl") === undefined ? `${missing} kubectl 1.36 is missing.` : missing;
const { web, web6, registry, machine: own, dns } = OUTSIDE;
const hasIpv6 = existsSync("/proc/net/if_inet6");
const RANGES = hasIpv6
  ? [
      "--cluster-cidr",
      "10.199.0.0/16,fd00:10:199::/56",
      "--service-cluster-ip-range",
      "10.100.0.0/16,fd00:10:100::/112",
    ]
  : ["--service-cluster-ip-range", "10.100.0.0/16"];

const client = (name: string, spec: Partial<core.PodSpec> = {}, labels: Record<string, string> = {}): core.Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [{ name: "main", image: "localhost/busybox:1", command: ["sleep", "100000"] }],
    ...spec,
  },
});

/** A credential provider for one registry, and the flags that name it. */
function providerOf({ home }: MachineWithOutside): string[] {
  const [folder, config] = [join(home.dir, "providers"), join(home.dir, "providers.yaml")];
  const auth = { "cloud.outside.test": { username: "cloud", password: "three" } };
  const api = "credentialprovider.kubelet.k8s.io/v1";
  const answer = {
    kind: "CredentialProviderResponse",
    apiVersion: api,
    cacheKeyType: "Image",
    cacheDuration: "0s",
    auth,
  };
  mkdirSync(folder);
  writeFileSync(
    join(folder, "cloud"),
    `#!/bin/sh\ngrep -q CredentialProviderRequest && echo '${JSON.stringify(answer)}'\n`,
  );
  chmodSync(join(folder, "cloud"), 0o755);
  const providers = [
    { name: "cloud", matchImages: ["cloud.outside.test"], defaultCacheDuration: "0s", apiVersion: api },
  ];
  writeFileSync(
    config,
    JSON.stringify({ apiVersion: "kubelet.config.k8s.io/v1", kind: "CredentialProviderConfig", providers }),
  );
  return ["--image-credential-provider-config", config, "--image-credential-provider-bin-dir", folder];
}

describe.skipIf(why !== "")(`the way out${why && `: ${why}`}`, () => {
  let machine: MachineWithOutside;
  let before = "";

  const up = (...args: string[]) =>
    machine.ok("up", "--detach", "--runtime", "containerd", "--nodes", "1", ...RANGES, "--port", "0", ...args);
  const exec = (name: string, command: string) => machine.kubectl("exec", name, "--", "sh", "-c", command);
  /** The body of an answer. Some builds of busybox have a wget that crashes. */
  const get = (name: string, url: string, filter = "tail -n 1") => {
    const { hostname, port, pathname } = new URL(url);
    const question = `GET ${pathname} HTTP/1.0\\r\\nHost: ${hostname}\\r\\n\\r\\n`;
    const host = hostname.replace(/^\[|\]$/g, "");
    return exec(name, `(printf '${question}' | timeout 4 nc ${host} ${port || 80} || echo no answer) | ${filter}`);
  };

  /** On all addresses of the machine. */
  const server = (port: number) =>
    machine.start(
      process.execPath,
      "-e",
      `require("node:http").createServer((_, response) => response.end("host\\n")).listen(${port}, () => console.log("ready"))`,
    );

  beforeAll(async () => {
    machine = await MachineWithOutside.create();
    // A firewall as Docker makes it.
    await machine.in("iptables", "-P", "FORWARD", "DROP");
    await machine.in("iptables", "-A", "FORWARD", "-i", "other0", "-j", "ACCEPT");
    // Chains of other families that the listing itself makes are there from the start.
    await machine.in("sh", "-c", "ip6tables -S FORWARD");
    before = await machine.networkState();
    const providers = providerOf(machine);
    await up("--host-ports", "8099", ...providers);
    await machine.apply(client("pod"));
    await machine.apply(client("default-dns", { dnsPolicy: "Default" }));
    await machine.apply(client("none", {}, { app: "none" }));
    await machine.kubectl("wait", "--for=condition=Ready", "pod", "--all", "--timeout=90s");
  });
  afterAll(() => machine?.[Symbol.asyncDispose]());

  it("leads to what the machine reaches, by the address of the machine", async () => {
    expect(await get("pod", `http://${web}`)).toBe(`outside sees ${own}\n`);
    if (hasIpv6) expect(await get("pod", `http://[${web6}]`)).toBe(`outside sees ${OUTSIDE.machine6}\n`);
    expect(await exec("pod", `nslookup -type=a web.outside.test ${dns}`)).toContain(web);
    expect(await exec("pod", `ping -c 1 -W 3 ${web} > /dev/null && echo heard`)).toBe("heard\n");
  });

  it("carries packets of the machine's size, in both directions", async () => {
    expect(await exec("pod", "cat /sys/class/net/eth0/mtu")).toBe(`${OUTSIDE.mtu}\n`);
    expect(await get("pod", `http://${web}/large`, "tail -n 1 | wc -c")).toBe("500000\n");
  });

  it("has the machine's names, also from behind a stub resolver, and its search domains", async () => {
    expect(await get("pod", "http://web.outside.test")).toBe(`outside sees ${own}\n`);
    expect(await exec("pod", "nslookup -type=a web.outside.test | tail -3")).toContain(web);
    // More than a datagram carries, asked over TCP: 35 bytes, TXT.
    const long = "\\0\\043\\0\\7\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0\\4long\\7outside\\4test\\0\\0\\020\\0\\1";
    const overTcp = `(printf '${long}'; sleep 1) | nc 10.100.0.10 53 | wc -c`;
    expect(Number(await exec("pod", overTcp))).toBeGreaterThan(1200);
    expect(await exec("pod", "nslookup nobody.outside.test || true")).toContain("NXDOMAIN");
    expect(await exec("pod", "cat /etc/resolv.conf")).toMatch(
      /search default\.svc\.cluster\.local svc\.cluster\.local cluster\.local corp\.outside\.test\n/,
    );
    const inherited = await exec("default-dns", "cat /etc/resolv.conf");
    expect(inherited).toContain("search corp.outside.test\n");
    expect(inherited).not.toContain("svc.cluster.local");
    expect(await get("default-dns", "http://web")).toBe(`outside sees ${own}\n`);
    // The machine's resolvers change: the next question goes to the new ones.
    await machine.in("sh", "-c", `printf 'nameserver ${dns}\\n' > /etc/resolv.conf`);
    expect(await get("pod", "http://registry.outside.test/v2/", "head -n 1")).toContain("200 OK");
  });

  it("shows the documented doors of the machine, at host.k8ts.internal, and nothing else of it", async () => {
    await using one = server(8099);
    await using two = server(8098);
    await Promise.all([one.printed("ready"), two.printed("ready")]);
    expect(await get("pod", "http://host.k8ts.internal:8099")).toBe("host\n");
    const address = (await exec("pod", "nslookup -type=a host.k8ts.internal | tail -2 | head -1"))
      .split(" ")
      .at(-1)
      ?.trim();
    expect(address).toMatch(/^10\.89\.\d+\.1$/);
    // A port that another program publishes by translation of addresses is no door either.
    await machine.in(
      "nft",
      `add table ip other; add chain ip other pre { type nat hook prerouting priority dstnat; }; add rule ip other pre tcp dport 8090 dnat to ${web}:80`,
    );
    const closed = ["host.k8ts.internal:8098", `${own}:8098`, `${own}:8090`, "10.100.77.77"];
    const answers = await Promise.all(closed.map((door) => get("pod", `http://${door}`)));
    expect(answers).toEqual(closed.map(() => "no answer\n"));
    await machine.in("nft", "delete table ip other");
  });

  it("nobody outside gets in, and the machine forwards nothing else", async () => {
    const { status } = await machine.json<core.Pod>("get", "pod", "pod");
    await machine.out("ip", "route", "add", status?.podIP ?? "", "via", own);
    await exec("pod", "echo inside > /tmp/index.html; busybox httpd -p 8080 -h /tmp");
    const url = `http://${status?.podIP}:8080`;
    expect(await machine.in("curl", "-sS", "--max-time", "5", url)).toBe("inside\n");
    await expect(machine.out("curl", "-sS", "--max-time", "3", url)).rejects.toThrow();
  });

  it("holds to network policies", async () => {
    await machine.apply({
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: { name: "registry-only" },
      spec: {
        podSelector: { matchLabels: { app: "none" } },
        policyTypes: ["Egress"],
        egress: [{ to: [{ ipBlock: { cidr: `${registry}/32` } }] }],
      },
    });
    await expect.poll(() => get("none", `http://${web}`), { timeout: 20_000 }).toBe("no answer\n");
    expect(await get("none", `http://${registry}/v2/`, "head -n 1")).toContain("200 OK");
  });

  it("private registries: by a pull secret, by registries.yaml, by a credential provider, through a mirror", async () => {
    const tls = `tls: { ca_file: ${machine.caFile} }`;
    const registries = [
      "mirrors:",
      '  registry.outside.test: { endpoint: ["http://registry.outside.test"] }',
      '  hub.outside.test: { endpoint: ["https://known.outside.test"], rewrite: { "^library/(.*)": "mirrored/$1" } }',
      "configs:",
      `  private.outside.test: { ${tls} }`,
      `  cloud.outside.test: { ${tls} }`,
      `  known.outside.test: { ${tls}, auth: { username: node, password: two } }`,
    ];
    writeFileSync(join(machine.home.dataDir, "registries.yaml"), registries.join("\n"));
    const secret = ["--docker-server=private.outside.test", "--docker-username=team", "--docker-password=one"];
    await machine.kubectl("create", "secret", "docker-registry", "team", ...secret);
    const web = (name: string, image: string, more: Partial<core.PodSpec> = {}) =>
      machine.apply(
        client(
          name,
          { containers: [{ name: "main", image, imagePullPolicy: "IfNotPresent" }], ...more },
          { app: "registry" },
        ),
      );
    const hosts = join(machine.home.dataDir, "nodes/.registries/known.outside.test/hosts.toml");
    await expect.poll(() => existsSync(hosts), { timeout: 20_000 }).toBe(true);
    await web("by-secret", "private.outside.test/team/app:1", { imagePullSecrets: [{ name: "team" }] });
    await web("by-file", "known.outside.test/app:1");
    await web("by-provider", "cloud.outside.test/app:1");
    await web("by-mirror", "hub.outside.test/library/app:1");
    await machine.kubectl("wait", "--for=condition=Ready", "pod", "-l", "app=registry", "--timeout=60s");

    // The image is there, and not for everybody.
    await web("without", "private.outside.test/team/app:1");
    await web("never", "private.outside.test/team/app:1", {
      containers: [{ name: "main", image: "private.outside.test/team/app:1", imagePullPolicy: "Never" }],
    });
    const waiting = async (name: string) =>
      (await machine.json<core.Pod>("get", "pod", name)).status?.containerStatuses?.[0]?.state?.waiting;
    await expect
      .poll(async () => (await waiting("without"))?.reason, { timeout: 30_000 })
      .toMatch(/ErrImagePull|BackOff/);
    expect((await waiting("without"))?.message).toMatch(/401 Unauthorized|authorization failed/);
    await expect
      .poll(() => waiting("never"), { timeout: 30_000 })
      .toMatchObject({
        reason: "ErrImageNeverPull",
        message: expect.stringContaining("does not have the proper credentials to access the image"),
      });
    expect(await machine.ok("why", "pod/without")).toMatch(/cannot be pulled: (?!failed to pull and unpack)/);
    // A kubelet after this one has not forgotten.
    process.kill(
      (await readNode(nodeNames(siteNames(machine.home.dataDir), "node-1")))?.run?.kubelet?.pid ?? 0,
      "SIGKILL",
    );
    await web("again", "private.outside.test/team/app:1");
    await expect
      .poll(async () => (await waiting("again"))?.reason, { timeout: 30_000 })
      .toMatch(/ErrImagePull|BackOff/);
    await machine.kubectl("delete", "pod", "-l", "app=registry", "--wait=false");
  });

  it.skipIf(tool("helm") === undefined)("five charts with all that charts have, installed at once", async () => {
    const names = ["storefront", "ledger", "courier", "gauge", "almanac"];
    const folder = join(import.meta.dirname, "support/charts");
    const helm = (...args: string[]) => machine.in(tool("helm") ?? "helm", ...args, "--namespace", "charts");
    await helm("lint", "--strict", ...names.map((name) => join(folder, name)));
    await machine.kubectl("create", "namespace", "charts");
    await machine.kubectl("config", "set-context", "--current", "--namespace", "charts");
    await Promise.all(names.map((name) => helm("install", name, join(folder, name), "--wait", "--timeout", "100s")));
    const releases = JSON.parse(await helm("list", "-o", "json")) as { name: string; status: string }[];
    expect(releases.map(({ name, status }) => `${name} ${status}`).sort()).toEqual(
      names.map((name) => `${name} deployed`).sort(),
    );

    expect(await machine.in("curl", "-sS", "--max-time", "5", "http://store.localhost")).toBe("Welcome to the store\n");
    const claims = await machine.kubectl("get", "pvc", "-o", "jsonpath={.items[*].status.phase}");
    expect(claims).toBe("Bound Bound Bound");
    expect(await machine.kubectl("logs", "job/courier-topics")).toMatch(/topic orders\ntopic invoices\n$/);
    expect(await machine.kubectl("get", "servicemonitor", "gauge", "-o", "jsonpath={.spec.endpoints[0]}")).toBe(
      '{"interval":"15s","port":"metrics","scheme":"http"}',
    );
    await machine.kubectl("create", "job", "now", "--from=cronjob/almanac");
    const password = () => machine.kubectl("get", "secret", "ledger", "-o", "jsonpath={.data.password}");
    const first = await password();
    await Promise.all([
      helm("test", "ledger"),
      helm("test", "gauge"),
      helm("upgrade", "storefront", join(folder, "storefront"), "--set", "greeting=Good evening", "--wait"),
      helm("upgrade", "ledger", join(folder, "ledger"), "--wait"),
      machine.kubectl("wait", "--for=condition=AbleToScale", "hpa/storefront", "--timeout=60s"),
      machine.kubectl("wait", "--for=condition=Complete", "job/now", "--timeout=60s"),
    ]);
    expect(await password()).toBe(first);
    expect(await machine.in("curl", "-sS", "--max-time", "5", "http://store.localhost")).toBe("Good evening\n");
    expect(await machine.kubectl("logs", "job/now")).toBe("create tables\nadd an index\n");
    await Promise.all(names.map((name) => helm("uninstall", name)));
    await machine.kubectl("config", "set-context", "--current", "--namespace", "default");
    await machine.kubectl("delete", "namespace", "charts", "--timeout=60s");
  });

  it("images by commands: pulled, saved, removed, from a daemon; a node that comes later has them", async () => {
    const image = (...args: string[]) => machine.ok("image", ...args);
    const file = join(machine.home.dir, "app.tar");
    expect(await image("pull", "known.outside.test/app:1")).toBe("known.outside.test/app:1 on node-1\n");
    expect(await image("save", "known.outside.test/app:1", "-o", file)).toContain("known.outside.test/app:1 of node-1");
    await image("rm", "known.outside.test/app:1");
    expect(await image("ls")).not.toContain("known.outside.test/app:1");

    const socket = join(machine.home.dir, "docker.sock");
    const daemon = `require("node:http").createServer(({ url }, response) => url === "/images/known.outside.test/app:1/json" ? response.end("{}")
      : url === "/images/known.outside.test/app:1/get" ? require("node:fs").createReadStream(${JSON.stringify(file)}).pipe(response)
      : response.writeHead(404).end('{"message":"No such image"}')).listen(${JSON.stringify(socket)}, () => console.log("ready"))`;
    await using running = machine.start(process.execPath, "-e", daemon);
    await running.printed("ready");
    machine.home.env.DOCKER_HOST = `unix://${socket}`;
    expect(await image("import", "docker-daemon:known.outside.test/app:1")).toBe(
      "known.outside.test/app:1 on node-1\n",
    );
    const missing = await machine.k8ts("image", "import", "docker-daemon:other");
    expect(missing.stderr).toContain("No such image");

    await machine.ok("node", "add", "later");
    await machine.apply(
      client("later", {
        nodeName: "later",
        containers: [{ name: "main", image: "known.outside.test/app:1", imagePullPolicy: "Never" }],
      }),
    );
    await machine.kubectl("wait", "--for=condition=Ready", "pod", "later", "--timeout=60s");
    expect(await image("ls", "--node", "later")).toContain("known.outside.test/app:1");
    await machine.kubectl("delete", "pod", "later");
    await machine.ok("node", "remove", "later");
    // Air gap: what lies in the folder is on every node.
    await image("rm", "known.outside.test/app:1");
    mkdirSync(join(machine.home.dataDir, "images"));
    writeFileSync(join(machine.home.dataDir, "images/app.tar.gz"), gzipSync(readFileSync(file)));
    await expect.poll(() => image("ls"), { timeout: 20_000 }).toContain("known.outside.test/app:1");
  });

  it("is made again when all rules of the machine have been flushed", async () => {
    const table = `inet k8ts-${machine.siteId}`;
    await machine.in("nft", `delete table ${table}`);
    await expect.poll(() => get("pod", `http://${web}`), { timeout: 40_000 }).toBe(`outside sees ${own}\n`);
    expect(await machine.in("nft", "list", "tables")).toContain(table);
  });

  it("is closed without an outside: nothing is forwarded, names outside are refused", async () => {
    await machine.ok("down", "--keep-nodes");
    await up("--no-outside");
    await expect.poll(() => get("pod", `http://${web}`), { timeout: 40_000 }).toBe("no answer\n");
    expect(await exec("pod", "nslookup web.outside.test || true")).toContain("REFUSED");
    expect(await machine.in("cat", "/proc/sys/net/ipv4/ip_forward")).toBe("0\n");
  });

  it("leaves the machine as it was", async () => {
    await machine.ok("down");
    expect(await machine.networkState()).toBe(before);
    expect(await machine.leftoversInside()).toEqual([]);
  });
});
