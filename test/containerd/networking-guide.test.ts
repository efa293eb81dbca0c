/**
 * The first half hour of a user, on a machine with an outside: an image from a registry, a load balancer and an Ingress,
 * reached from the machine; then the commands of the guides networking.md, images.md and first-steps.md. After `down` the machine is as it was.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { core, networking } from "../../src/api/index.ts";
import { nodeNames, readNode, siteNames } from "../../src/cluster/nodes/index.ts";
import { root } from "../layers/imports.ts";
import { guide } from "../support/guide.ts";
import { tool } from "../support/tools.ts";
import { missing } from "./support/leftovers.ts";
import { MachineWithOutside } from "./support/outside.ts";

const kubectl = tool("kubectl");
const why = kubectl === undefined ? `${missing} kubectl 1.36 is missing.` : missing;
const { steps } = guide("docs/guides/networking.md");
const images = guide("docs/guides/images.md").steps;
/** Its last command is `k8ts down`. */
const firstSteps = guide("docs/guides/first-steps.md").steps;
/** The outside has one registry, without TLS. Docker Hub is a mirror of it. */
const REGISTRIES = ["registry.outside.test", "docker.io"];

describe.skipIf(why !== "")(`the first half hour${why && `: ${why}`}`, () => {
  let machine: MachineWithOutside;
  let before = "";

  const said = async (command: string) => {
    const path = [dirname(kubectl ?? ""), join(root, "bin"), process.env.PATH].join(delimiter);
    const { code, stdout, stderr } = await machine.start("env", `PATH=${path}`, "bash", "-c", command).ended();
    return { code, said: code === 0 ? stdout : stderr };
  };
  const curl = async (url: string, ...more: string[]) =>
    (await machine.start("curl", "-sS", "--max-time", "5", "--fail", ...more, url).ended()).stdout;

  beforeAll(async () => {
    machine = await MachineWithOutside.create();
    before = await machine.networkState();
    for (const registry of REGISTRIES) {
      const folder = join(machine.home.dir, "certs.d", registry);
      mkdirSync(folder, { recursive: true });
      const hosts =
        'server = "http://registry.outside.test"\n[host."http://registry.outside.test"]\n  capabilities = ["pull", "resolve"]\n';
      writeFileSync(join(folder, "hosts.toml"), hosts);
    }
  });
  afterAll(() => machine?.[Symbol.asyncDispose]());

  it("an empty data directory: up, a Deployment, a load balancer, an Ingress, curl from the machine", async () => {
    const up = await machine.ok(
      "up",
      "--detach",
      "--runtime",
      "containerd",
      "--nodes",
      "1",
      "--publish",
      "8080:web/80",
    );
    expect(up).toContain("Ingresses and Gateways are at http://localhost and https://localhost");
    mkdirSync(machine.home.dataDir, { recursive: true });
    await machine.in("cp", "-r", join(machine.home.dir, "certs.d"), machine.home.dataDir);

    await machine.kubectl("create", "deployment", "web", "--image=registry.outside.test/web:1");
    await machine.kubectl("expose", "deployment", "web", "--type=LoadBalancer", "--port=80");
    await machine.kubectl("create", "ingress", "web", "--rule=/*=web:80");
    await machine.kubectl("rollout", "status", "deployment", "web", "--timeout=90s");
    await machine.kubectl(
      "wait",
      "service",
      "web",
      "--for=jsonpath={.status.loadBalancer.ingress[1].ip}",
      "--timeout=30s",
    );
    const { status } = await machine.json<core.Service>("get", "service", "web");
    const addresses = (status?.loadBalancer?.ingress ?? []).map(({ ip = "", ipMode }) => `${ip} ${ipMode}`);
    expect(addresses).toEqual([
      expect.stringMatching(/^10\.88\.\d+\.1 VIP$/),
      expect.stringMatching(/^127\.88\.\d+\.1 Proxy$/),
    ]);
    const urls = [
      ...addresses.map((address) => `http://${address.split(" ")[0]}`),
      "http://localhost:8080",
      "http://web.default.localhost",
      "http://localhost",
      "http://[::1]:8080",
    ];
    for (const url of urls) await expect.poll(() => curl(url), { timeout: 20_000 }).toBe("from outside\n");
    expect(await curl("https://web.default.localhost", "--insecure")).toBe("from outside\n");
    const ingress = await machine.json<networking.Ingress>("get", "ingress", "web");
    expect(ingress.status?.loadBalancer?.ingress).toContainEqual({ hostname: "web.default.localhost" });
  });

  it("ports stay open while the kubelet starts anew, and close and open with the cluster", async () => {
    const node = nodeNames(siteNames(machine.home.dataDir), "node-1");
    const kubelet = (await readNode(node))?.run?.kubelet?.pid;
    process.kill(kubelet ?? 0, "SIGKILL");
    expect(await curl("http://localhost:8080")).toBe("from outside\n");
    await machine.ok("down", "--keep-nodes");
    expect(await curl("http://localhost:8080")).toBe("");
    // Another program is faster.
    await using taken = machine.start(
      process.execPath,
      "-e",
      'require("node:http").createServer().listen(80, "127.0.0.1", () => console.log("ready"))',
    );
    await taken.printed("ready");
    const up = await machine.ok("up", "--detach");
    expect(up).toContain("Ingresses and Gateways are at http://localhost:8081 and https://localhost (80 is in use)");
    await expect.poll(() => curl("http://web.default.localhost:8081"), { timeout: 20_000 }).toBe("from outside\n");
    const clash = await machine.k8ts("publish", "127.0.0.1:80:web/80");
    expect(clash.stderr).toContain("127.0.0.1:80: port 80 is in use by another program");
    expect((await machine.k8ts("publish", "web")).stderr).toContain("is not PORT:SERVICE/PORT");
    await taken[Symbol.asyncDispose]();
    await expect.poll(() => curl("http://127.0.0.1:80"), { timeout: 20_000 }).toBe("from outside\n");
    await machine.ok("unpublish", "80");
    await machine.ok("unpublish", "8080");
    await machine.kubectl("delete", "ingress,service,deployment", "web", "--wait=true");
    await machine.ok("down");
  });

  it("the guides have commands", () =>
    expect([steps, images, firstSteps].map(({ length }) => length > 8)).toEqual([true, true, true]));

  it("its cluster starts where the ports of an earlier one are free again", async () => {
    await machine.in("sh", "-c", `rm -f ${machine.home.dataDir}/nodes/ingress-ports.json`);
    expect(await machine.ok("up", "--detach")).toContain("http://localhost and https://localhost;");
  });

  it.each([...steps, ...images, ...firstSteps])("$command", async ({ command, says }) => {
    if (says === undefined) {
      const answer = await said(command);
      expect(answer, answer.said).toMatchObject({ code: 0 });
      return;
    }
    // What a command says of may take a moment to happen.
    const first = async () => (await said(command)).said.split("\n")[0] ?? "";
    await expect.poll(first, { timeout: 30_000, interval: 200 }).toBe(says);
  });

  it("after `down` no rule, namespace, route or mount is left", async () => {
    await machine.ok("down");
    expect(await machine.networkState()).toBe(before);
    expect(await machine.leftoversInside()).toEqual([]);
  });
});
