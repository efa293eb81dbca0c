/** What kubectl does with running containers, on two real nodes: logs, exec, attach, cp, port-forward, debug, and the API server's proxies. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run as runProgram } from "../support/command.ts";
import { freePort } from "../support/free-port.ts";
import { Home } from "../support/k8ts.ts";
import { CommandLine, tool } from "../support/tools.ts";
import { leftovers, missing } from "./support/leftovers.ts";
import { until } from "./support/wait.ts";

const program = tool("kubectl");
const why = missing || (program === undefined ? "kubectl is missing" : "");
/** How older versions of kubectl speak. */
const SPDY = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: "false", KUBECTL_PORT_FORWARD_WEBSOCKETS: "false" };

const container = (name: string, script: string, more: object = {}) => ({
  name,
  image: "localhost/busybox:1",
  command: ["sh", "-c", script],
  ...more,
});
const pod = (name: string, spec: object) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels: { app: name } },
  spec: { terminationGracePeriodSeconds: 0, ...spec },
});

describe.skipIf(why !== "")(`kubectl and running containers${why && `: ${why}`}`, { timeout: 120_000 }, () => {
  let home: Home;
  const files = mkdtempSync(join(tmpdir(), "k8ts-streams-"));
  const kubectl = new CommandLine(program, () => home);

  beforeAll(async () => {
    home = new Home();
    const flags = ["--store", "memory", "--port", "0", "--nodes", "2", "--runtime", "containerd", "--detach"];
    const up = await home.k8ts("up", ...flags);
    if (up.code !== 0) throw new Error(up.stderr);
    const serve = "echo up; mkdir -p /www; echo page of $HOSTNAME > /www/index.html; exec httpd -f -p 8080 -h /www";
    const listen = container("main", "echo ready; while read line; do echo got $line; done; echo closed", {
      stdin: true,
    });
    await kubectl
      .given(
        pod("web", {
          nodeName: "node-1",
          containers: [container("main", serve, { ports: [{ containerPort: 8080 }] })],
        }),
        pod("other", { nodeName: "node-2", containers: [container("main", serve), container("side", "sleep 100000")] }),
        pod("listener", { nodeName: "node-2", restartPolicy: "Never", containers: [listen] }),
        {
          apiVersion: "v1",
          kind: "Service",
          metadata: { name: "web" },
          spec: { selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }] },
        },
      )
      .ok("create", "-f", "-");
    await kubectl.ok("wait", "--for=condition=Ready", "pod/web", "pod/other", "pod/listener", "--timeout=90s");
  }, 240_000);
  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    rmSync(files, { recursive: true, force: true });
    expect(leftovers(home.dataDir)).toEqual([]);
  }, 120_000);

  /** With a text on its standard input. */
  const piped = (input: string, env: NodeJS.ProcessEnv = {}) => new CommandLine(program, () => home, input, env);

  describe("logs", () => {
    it("whole, the last lines, with times, since, by container", async () => {
      const lines = container("main", "for i in 1 2 3; do echo line $i; done; echo oops >&2");
      const both = { restartPolicy: "Never", containers: [lines, container("side", "echo beside")] };
      await kubectl.given(pod("lines", { nodeName: "node-1", ...both })).ok("create", "-f", "-");
      const ended = "--for=jsonpath={.status.phase}=Succeeded";
      await kubectl.ok("wait", ended, "pod/lines", "--timeout=60s");
      const logs = (...flags: string[]) => kubectl.ok("logs", "lines", "-c", "main", ...flags);
      expect((await logs()).split("\n").sort()).toEqual(["", "line 1", "line 2", "line 3", "oops"]);
      expect((await logs("--tail=2")).split("\n")).toHaveLength(3);
      expect((await logs("--tail=1", "--timestamps")).trim()).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z \S/);
      expect(await logs("--since=1h")).toContain("line 3\n");
      expect(await logs("--since-time=2999-01-01T00:00:00Z")).toBe("");
      expect(await logs("--limit-bytes=4")).toHaveLength(4);
      expect(await kubectl.ok("logs", "lines", "--all-containers", "--prefix")).toContain("[pod/lines/side] beside\n");
      expect(await kubectl.fails("logs", "lines", "-c", "main", "--previous")).toContain(
        'previous terminated container "main" in pod "lines" not found',
      );
    });

    it("of the instance before", async () => {
      const crashing = container("main", "echo attempt; sleep 1; exit 3");
      await kubectl.given(pod("crashing", { nodeName: "node-2", containers: [crashing] })).ok("create", "-f", "-");
      const seen = await until(
        () => kubectl.run("logs", "crashing", "--previous"),
        ({ code }) => code === 0,
      );
      expect(seen.stdout).toBe("attempt\n");
      await kubectl.ok("delete", "pod", "crashing", "--wait=false");
    });

    it("followed from the start to the end of a container, ten thousand lines in a second", async () => {
      const count = container(
        "main",
        "sleep 1; i=0; while [ $i -lt 20 ]; do seq $((i*1000+1)) $((i*1000+1000)); i=$((i+1)); usleep 50000; done",
      );
      const counting = { nodeName: "node-1", restartPolicy: "Never", containers: [count] };
      await kubectl.given(pod("counting", counting)).ok("create", "-f", "-");
      await kubectl.ok("wait", "--for=condition=Ready", "pod/counting", "--timeout=60s");
      const { code, stdout } = await kubectl.run("logs", "-f", "counting");
      expect(code).toBe(0);
      expect(stdout).toBe(Array.from({ length: 20_000 }, (_, i) => `${i + 1}\n`).join(""));
    });
  });

  describe.each([
    { by: "WebSocket", env: {} },
    { by: "SPDY", env: SPDY },
  ])("exec over $by", ({ env }) => {
    it("both outputs and the exit code", async () => {
      const command = ["exec", "other", "-c", "main", "--", "sh", "-c", "echo out; echo err >&2; exit 7"];
      expect(await kubectl.env(env).run(...command)).toEqual({
        code: 7,
        stdout: "out\n",
        stderr: "err\ncommand terminated with exit code 7\n",
      });
    });

    it("the end of stdin is the end of the command's input", async () => {
      const text = "a line of text\n".repeat(20_000);
      const { code, stdout } = await piped(text, env).run("exec", "-i", "web", "--", "cat");
      expect(code).toBe(0);
      expect(stdout === text).toBe(true);
    });

    it("what cannot be run is told", async () => {
      const { code, stderr } = await kubectl.env(env).run("exec", "web", "--", "no-such-command");
      expect(code).not.toBe(0);
      expect(stderr).toContain("executable file not found");
    });
  });

  it("exec -it: a terminal with its size, a change of it, and the exit code", async () => {
    const screen = join(files, "screen");
    const inside = "stty size; trap 'stty size; exit 9' WINCH; while :; do sleep 0.1; done";
    const changing = `until grep -q '33 99' ${screen}; do sleep 0.1; done; stty rows 44 cols 111 < /dev/tty`;
    const command = `stty rows 33 cols 99; (${changing}) & ${program} exec -it web -- sh -c "${inside}"`;
    const child = spawn("script", ["-qefc", command, screen], {
      env: { ...home.env, SHELL: "/bin/sh" },
      stdio: "ignore",
    });
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    const shown = readFileSync(screen, "utf8");
    expect(shown).toContain("33 99");
    expect(shown).toContain("44 111");
    expect(code).toBe(9);
  });

  it("attach: what is typed is read, what is written is seen, and its end is the end", async () => {
    const { code, stdout } = await piped("one\ntwo\n").run("attach", "-i", "listener");
    expect(code).toBe(0);
    expect(stdout).toContain("got one\ngot two\n");
    const logs = await until(
      () => kubectl.ok("logs", "listener"),
      (text) => text.includes("got two"),
    );
    expect(logs).toContain("ready\ngot one\ngot two\n");
  });

  it("run -i --rm: a Pod for one command", async () => {
    const flags = ["--rm", "-i", "--restart=Never", "--image=localhost/busybox:1", "--image-pull-policy=IfNotPresent"];
    const { code, stdout } = await piped("from here\n").run("run", "once", ...flags, "--", "cat");
    expect([code, stdout]).toEqual([0, expect.stringContaining("from here\n")]);
  });

  it("cp: there and back, byte for byte", async () => {
    const bytes = Buffer.alloc(1_500_000, Buffer.from(Array.from({ length: 251 }, (_, i) => i)));
    const [there, back] = [join(files, "there"), join(files, "back")];
    writeFileSync(there, bytes);
    await kubectl.ok("cp", there, "other:/tmp/copied", "-c", "side");
    expect(await kubectl.ok("exec", "other", "-c", "side", "--", "wc", "-c", "/tmp/copied")).toBe(
      "1500000 /tmp/copied\n",
    );
    await kubectl.ok("cp", "other:/tmp/copied", back, "-c", "side");
    expect(readFileSync(back).equals(bytes)).toBe(true);
  });

  it.each([
    { by: "SPDY inside of a WebSocket", env: {} },
    { by: "SPDY", env: SPDY },
  ])("port-forward over $by", async ({ env }) => {
    const port = await freePort();
    await using forwarding = kubectl.env(env).start("port-forward", "pod/other", `${port}:8080`);
    await forwarding.printed("Forwarding from 127.0.0.1");
    const pages = Array.from({ length: 5 }, async () => (await fetch(`http://127.0.0.1:${port}/`)).text());
    expect(await Promise.all(pages)).toEqual(Array(5).fill("page of other\n"));
  });

  it("debug: an ephemeral container beside the others sees their processes", async () => {
    const flags = [
      "--image=localhost/busybox:1",
      "--image-pull-policy=IfNotPresent",
      "-c",
      "debugger",
      "--target=main",
    ];
    await kubectl.ok("debug", "web", ...flags, "--", "sh", "-c", "echo looking; sleep 100000");
    const logs = await until(
      () => kubectl.run("logs", "web", "-c", "debugger"),
      ({ stdout }) => stdout !== "",
    );
    expect(logs.stdout).toBe("looking\n");
    expect(await kubectl.ok("exec", "web", "-c", "debugger", "--", "ps")).toContain("httpd -f -p 8080");
  });

  it("the API server's proxies to nodes, Pods and Services", async () => {
    const raw = (path: string) => kubectl.ok("get", "--raw", path);
    expect(await raw("/api/v1/nodes/node-2/proxy/healthz")).toBe("ok");
    expect(await raw("/api/v1/namespaces/default/pods/web:8080/proxy/index.html")).toBe("page of web\n");
    expect(await raw("/api/v1/namespaces/default/pods/web/proxy/")).toBe("page of web\n");
    const service = await until(
      () => kubectl.run("get", "--raw", "/api/v1/namespaces/default/services/web/proxy/"),
      ({ code }) => code === 0,
    );
    expect(service.stdout).toBe("page of web\n");
    const figures = JSON.parse(await raw("/api/v1/nodes/node-1/proxy/stats/summary"));
    expect(figures.pods.map(({ podRef }: { podRef: { name: string } }) => podRef.name)).toContain("web");
    expect(await raw("/api/v1/nodes/node-1/proxy/metrics/resource")).toContain(
      'container_memory_working_set_bytes{container="main",namespace="default",pod="web"}',
    );
  });

  it("the kubelet itself asks who comes, and what it may", async () => {
    const [ip = ""] = (
      await kubectl.ok("get", "node", "node-1", "-o", "jsonpath={.status.addresses[0].address}")
    ).split(" ");
    const token = (await kubectl.ok("create", "token", "default")).trim();
    expect(await status(ip, {})).toBe(401);
    expect(await status(ip, { authorization: "Bearer nonsense" })).toBe(401);
    expect(await status(ip, { authorization: `Bearer ${token}` })).toBe(403);
    await kubectl.ok("create", "clusterrole", "node-pods", "--verb=get", "--resource=nodes/pods");
    await kubectl.ok(
      "create",
      "clusterrolebinding",
      "node-pods",
      "--clusterrole=node-pods",
      "--serviceaccount=default:other",
    );
    await kubectl.ok("create", "serviceaccount", "other");
    const allowed = (await kubectl.ok("create", "token", "other")).trim();
    expect(await status(ip, { authorization: `Bearer ${allowed}` })).toBe(200);
  });

  it("nothing is left of what was streamed", async () => {
    const { stdout } = await runProgram("ps", ["-eo", "args"], { env: process.env, cwd: files });
    expect(stdout.split("\n").filter((line) => line.includes(home.kubeconfig) && line.includes("exec"))).toEqual([]);
  });
});

/** Of `GET /pods` at a node's kubelet. */
function status(host: string, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const asked = request({ host, port: 10250, path: "/pods", headers, rejectUnauthorized: false, agent: false });
  asked.once("response", (response) => {
    response.resume();
    resolve(response.statusCode);
  });
  asked.once("error", reject);
  asked.end();
  return promise;
}
