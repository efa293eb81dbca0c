/**
 * What kubectl does with running containers, on two real nodes: logs, exec, attach, cp, port-forward, debug, and the
 * API server's proxies.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { browserPath, startBrowser } from "../support/browser.ts";
import type { Result, Running } from "../support/command.ts";
import { tool } from "../support/tools.ts";
import { missing } from "./support/leftovers.ts";
import { Machine } from "./support/machine.ts";
import { until } from "./support/wait.ts";

const program = tool("kubectl");
const why = program === undefined ? `${missing} kubectl 1.36 is missing.` : missing;
/** How older versions of kubectl speak. */
const SPDY = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: "false", KUBECTL_PORT_FORWARD_WEBSOCKETS: "false" };

interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

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

describe.skipIf(why !== "")(`kubectl and running containers${why && `: ${why}`}`, () => {
  let machine: Machine;
  const files = mkdtempSync(join(tmpdir(), "k8ts-streams-"));

  /** On the machine's command line, with a text on its standard input. */
  const start = (args: readonly string[], { env = {}, input = "" }: Surroundings = {}): Running => {
    const file = join(files, randomBytes(4).toString("hex"));
    writeFileSync(file, input);
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    return machine.start("env", ...variables, "sh", "-c", 'exec "$@" < "$0"', file, program ?? "", ...args);
  };
  const kubectl = {
    start,
    run: (args: readonly string[], surroundings?: Surroundings): Promise<Result> => start(args, surroundings).ended(),
    ok: (...args: readonly string[]) => machine.kubectl(...args),
    fails: async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await start(args).ended();
      if (code === 0) throw new Error(`${args.join(" ")}: should have failed: ${stdout}`);
      return stderr;
    },
  };

  beforeAll(async () => {
    machine = await Machine.create();
    await machine.ok("up", "--detach", "--runtime", "containerd", "--nodes", "2", "--port", "0");
    const serve = "echo up; mkdir -p /www; echo page of $(hostname) > /www/index.html; exec httpd -f -p 8080 -h /www";
    const listen = container("main", "echo ready; while read line; do echo got $line; done; echo closed", {
      stdin: true,
    });
    const ports = [{ containerPort: 8080 }];
    await machine.apply(pod("web", { nodeName: "node-1", containers: [container("main", serve, { ports })] }));
    const beside = container("side", "sleep 100000");
    await machine.apply(pod("other", { nodeName: "node-2", containers: [container("main", serve), beside] }));
    await machine.apply(pod("listener", { nodeName: "node-2", restartPolicy: "Never", containers: [listen] }));
    const service = { selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }] };
    await machine.apply({ apiVersion: "v1", kind: "Service", metadata: { name: "web" }, spec: service });
    await kubectl.ok("wait", "--for=condition=Ready", "pod/web", "pod/other", "pod/listener", "--timeout=90s");
  }, 240_000);
  afterAll(async () => {
    await machine?.[Symbol.asyncDispose]();
    rmSync(files, { recursive: true, force: true });
    expect(machine?.leftovers()).toEqual([]);
  });

  describe("logs", () => {
    it("whole, the last lines, with times, since, by container", async () => {
      const lines = container("main", "for i in 1 2 3; do echo line $i; done; echo oops >&2");
      const both = { restartPolicy: "Never", containers: [lines, container("side", "echo beside")] };
      await machine.apply(pod("lines", { nodeName: "node-1", ...both }));
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
      await machine.apply(pod("crashing", { nodeName: "node-2", containers: [crashing] }));
      const seen = await until(
        () => kubectl.run(["logs", "crashing", "--previous"]),
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
      await machine.apply(pod("counting", counting));
      await kubectl.ok("wait", "--for=condition=Ready", "pod/counting", "--timeout=60s");
      const { code, stdout } = await kubectl.run(["logs", "-f", "counting"]);
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
      expect(await kubectl.run(command, { env })).toEqual({
        code: 7,
        stdout: "out\n",
        stderr: "err\ncommand terminated with exit code 7\n",
      });
    });

    it("the end of stdin is the end of the command's input", async () => {
      const text = "a line of text\n".repeat(20_000);
      const { code, stdout } = await kubectl.run(["exec", "-i", "web", "--", "cat"], { env, input: text });
      expect(code).toBe(0);
      expect(stdout === text).toBe(true);
    });

    it("what cannot be run is told", async () => {
      const { code, stderr } = await kubectl.run(["exec", "web", "--", "no-such-command"], { env });
      expect(code).not.toBe(0);
      expect(stderr).toContain("executable file not found");
    });
  });

  it("exec -it: a terminal with its size, a change of it, and the exit code", async () => {
    const screen = join(files, "screen");
    const session = join(files, "session.sh");
    const lines = [
      "stty rows 33 cols 99",
      `(until grep -aq '33 99' ${screen}; do sleep 0.1; done; stty rows 44 cols 111 < /dev/tty) &`,
      `${program} exec -it web -- sh -c 'until stty size | grep "44 111"; do stty size; sleep 0.1; done; exit 9'`,
    ];
    writeFileSync(session, lines.join("\n"));
    const { code } = await machine.start("script", "-qefc", `sh ${session}`, screen).ended();
    const shown = readFileSync(screen, "utf8");
    expect(shown).toMatch(/33 99\r$/m);
    expect(code).toBe(9);
  });

  it("attach: what is typed is read, what is written is seen, and its end is the end", async () => {
    // Its input stays open until the answer is there: the runtime lets go of a container's output when nothing more is
    // typed.
    const typed = join(files, "typed");
    writeFileSync(typed, "one\ntwo\n");
    const typing = '(cat "$0"; until [ -e "$0.end" ]; do sleep 0.05; done) | "$@"';
    const attached = machine.start("sh", "-c", typing, typed, program ?? "", "attach", "-i", "listener");
    await attached.printed("got one\ngot two\n");
    writeFileSync(`${typed}.end`, "");
    expect((await attached.ended()).code).toBe(0);
    const logs = await until(
      () => kubectl.ok("logs", "listener"),
      (text) => text.includes("got two"),
    );
    expect(logs).toContain("ready\ngot one\ngot two\n");
  });

  it("run -i --rm: a Pod for one command", async () => {
    const flags = ["--rm", "-i", "--restart=Never", "--image=localhost/busybox:1", "--image-pull-policy=IfNotPresent"];
    const { code, stdout } = await kubectl.run(["run", "once", ...flags, "--", "cat"], { input: "from here\n" });
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
    await using forwarding = kubectl.start(["port-forward", "pod/other", ":8080"], { env });
    await forwarding.printed("Forwarding from 127.0.0.1");
    const port = /127\.0\.0\.1:(\d+)/.exec(forwarding.stdout())?.[1] ?? "";
    const page = async () => {
      const asking = machine.start("busybox", "wget", "-q", "-O", "-", `http://127.0.0.1:${port}/`);
      return (await asking.ended()).stdout;
    };
    expect(await Promise.all(Array.from({ length: 5 }, page))).toEqual(Array(5).fill("page of other\n"));
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
      () => kubectl.run(["logs", "web", "-c", "debugger"]),
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
      () => kubectl.run(["get", "--raw", "/api/v1/namespaces/default/services/web/proxy/"]),
      ({ code }) => code === 0,
    );
    expect(service.stdout).toBe("page of web\n");
    const figures = JSON.parse(await raw("/api/v1/nodes/node-1/proxy/stats/summary"));
    expect(figures.pods.map(({ podRef }: { podRef: { name: string } }) => podRef.name)).toContain("web");
    expect(await raw("/api/v1/nodes/node-1/proxy/metrics/resource")).toContain(
      'container_memory_working_set_bytes{container="main",namespace="default",pod="web"}',
    );
  });

  it.skipIf(browserPath() === undefined)("the dashboard follows a log, runs a shell and forwards a port", async () => {
    const dashboard = machine.startK8ts("dashboard", "--serve", "--no-open");
    await dashboard.printed("works once");
    const browser = await startBrowser({ network: machine.network, dir: files });
    try {
      const page = await browser.newPage();
      await page.goto(/Dashboard: (\S+)/.exec(dashboard.stdout())?.[1] ?? "");
      await page.getByRole("navigation", { name: "Pages" }).waitFor();
      await page.evaluate("location.hash = '#/object/-/v1/pods/default/other/logs'");
      await page.getByRole("log").getByText("up").waitFor();
      await page.evaluate("location.hash = '#/object/-/v1/pods/default/other/terminal'");
      await page.getByRole("combobox", { name: "Container" }).selectOption("side");
      await page.getByRole("button", { name: "Start" }).click();
      await page.getByText("Connected.").waitFor();
      await page.keyboard.type("echo $((6*7)) on $(hostname)\n");
      await page.locator(".xterm-rows").getByText("42 on other").waitFor();
      await page.keyboard.type("exit 3\n");
      await page.getByText(/exit code 3/).waitFor();
      await page.evaluate("location.hash = '#/object/-/v1/services/default/web'");
      await page.getByRole("button", { name: "Forward" }).click();
      await page.getByRole("button", { name: "Open", exact: true }).click();
      const address = (await page.getByRole("link", { name: /^http:/ }).textContent()) ?? "";
      const asked = await machine.start("busybox", "wget", "-q", "-O", "-", address).ended();
      expect(asked.stdout).toBe("page of web\n");
    } finally {
      await browser.close();
    }
  });

  it("the kubelet itself asks who comes, and what it may", async () => {
    const [ip = ""] = (
      await kubectl.ok("get", "node", "node-1", "-o", "jsonpath={.status.addresses[0].address}")
    ).split(" ");
    const token = (await kubectl.ok("create", "token", "default")).trim();
    const pods = (bearer: string) => {
      const own = ["--kubeconfig=/dev/null", `--server=https://${ip}:10250`, "--insecure-skip-tls-verify"];
      return kubectl.run(["get", "--raw", "/pods", ...own, `--token=${bearer}`]);
    };
    expect((await pods("nonsense")).stderr).toContain("You must be logged in to the server");
    expect((await pods(token)).stderr).toContain("Forbidden");
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
    expect(JSON.parse((await pods(allowed)).stdout)).toMatchObject({ kind: "PodList" });
  });
});
