/** `k8ts up --runtime simulated`: nodes and their Pods as kubectl sees them. Pods are set to their nodes directly. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Home } from "./support/k8ts.ts";
import { CommandLine, tool } from "./support/tools.ts";

const program = tool("kubectl");
let home: Home;
const kubectl = new CommandLine(program, () => home);

beforeAll(async () => {
  home = new Home();
  const flags = ["--runtime", "simulated", "--nodes", "3", "--node-cpu", "2", "--node-zones", "a,b"];
  const up = await home.k8ts("up", "--store", "memory", "--port", "0", "--detach", ...flags);
  if (up.code !== 0) throw new Error(up.stderr);
});
afterAll(() => home[Symbol.asyncDispose]());

const template = (command: string[]) => ({
  metadata: { labels: { app: "web" } },
  spec: { nodeName: "node-1", containers: [{ name: "c", image: "busybox:1", ...(command.length > 0 && { command }) }] },
});

describe.skipIf(program === undefined)("simulated nodes", () => {
  it("are Ready when `up` returns", async () => {
    const path = '{range .items[*]}{.metadata.name} {.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}';
    const said = await kubectl.ok("get", "nodes", "-o", `jsonpath=${path}`);
    expect(said.trim().split("\n")).toEqual(["node-1 True", "node-2 True", "node-3 True"]);
    expect(await kubectl.ok("get", "nodes", "-L", "topology.kubernetes.io/zone")).toMatch(/node-2 .* b$/m);
  });

  it("run what a Deployment makes, and roll it out anew", async () => {
    const deployment = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web" },
      spec: { replicas: 3, selector: { matchLabels: { app: "web" } }, template: template([]) },
    };
    await kubectl.given(deployment).ok("apply", "-f", "-");
    await kubectl.ok("rollout", "status", "deployment/web", "--timeout=60s");
    await kubectl.ok("set", "image", "deployment/web", "c=busybox:2");
    await kubectl.ok("rollout", "status", "deployment/web", "--timeout=60s");
    expect(await kubectl.ok("get", "pods", "-l", "app=web", "-o", "wide")).toMatch(
      /1\/1 +Running .* 10\.\d+\.\d+\.\d+ +node-1/,
    );
    await kubectl.ok("delete", "deployment", "web", "--cascade=foreground", "--timeout=60s");
  });

  it("complete Jobs", async () => {
    const { metadata, spec } = template(["sh", "-c", "sleep 0.2; exit 0"]);
    const job = {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "sums" },
      spec: { completions: 3, parallelism: 2, template: { metadata, spec: { ...spec, restartPolicy: "Never" } } },
    };
    await kubectl.given(job).ok("create", "-f", "-");
    await kubectl.ok("wait", "job/sums", "--for=condition=complete", "--timeout=60s");
  });

  it("show a Pod in all its states", async () => {
    const annotations = { "simulated.k8ts.io/fail-pull": "always" };
    const { spec } = template([]);
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "stuck", annotations }, spec };
    const large = { ...spec, containers: [{ ...spec.containers[0], resources: { requests: { cpu: "3" } } }] };
    await kubectl.given(pod, { ...pod, metadata: { name: "large" }, spec: large }).ok("create", "-f", "-");
    await expect
      .poll(() => kubectl.ok("get", "pods"))
      .toMatch(/large +0\/1 +OutOfcpu[\s\S]*stuck +0\/1 +(ErrImagePull|ImagePullBackOff)/);
    await kubectl.ok("delete", "pod", "stuck", "large", "--timeout=60s");
  });

  it("say that nothing runs there", async () => {
    const { spec } = template([]);
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "quiet" }, spec };
    await kubectl.given(pod).ok("create", "-f", "-");
    await kubectl.ok("wait", "pod/quiet", "--for=condition=Ready", "--timeout=60s");
    const asked = [
      ["logs", "quiet"],
      ["exec", "quiet", "--", "true"],
      ["attach", "quiet"],
      ["port-forward", "quiet", ":80"],
    ];
    const said = 'node "node-1" is simulated: no containers run there, so there are no logs';
    for (const words of asked) expect(await kubectl.fails(...words), words.join(" ")).toContain(said);
    await kubectl.ok("delete", "pod", "quiet", "--timeout=60s");
  });

  it("fall silent and come back", async () => {
    expect(await home.k8ts("node", "stop", "node-3")).toMatchObject({ code: 0, stdout: "node-3 is stopped.\n" });
    expect((await home.k8ts("node", "ls")).stdout).toMatch(
      /^node-3 +(Ready|NotReady.*), stopped +a +172\.30\.0\.4 +simulated$/m,
    );
    const { spec } = template([]);
    const late = { apiVersion: "v1", kind: "Pod", metadata: { name: "late" }, spec: { ...spec, nodeName: "node-3" } };
    await kubectl.given(late).ok("create", "-f", "-");
    expect(await home.k8ts("node", "start", "node-3")).toMatchObject({ code: 0, stdout: "node-3 is started.\n" });
    await kubectl.ok("wait", "pod/late", "--for=condition=Ready", "--timeout=60s");
    expect((await home.k8ts("node", "stop", "nobody")).stderr).toContain("There is no node nobody");
  });
});
