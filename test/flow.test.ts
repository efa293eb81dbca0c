/** `k8ts flow` after a rollout on simulated nodes: who took part, in which order, each arrow with its record. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FlowRecord, RequestRecord } from "#flows";
import { Home } from "./support/k8ts.ts";
import { startSimulated } from "./support/simulated.ts";
import { CommandLine, tool } from "./support/tools.ts";

const program = tool("kubectl");
let home: Home;
const kubectl = new CommandLine(program, () => home);

beforeAll(async () => {
  home = new Home();
  await startSimulated(home, 2);
});
afterAll(() => home[Symbol.asyncDispose]());

async function flowOf(object: string): Promise<readonly FlowRecord[]> {
  const { stdout } = await home.k8ts("flow", object, "--format", "json");
  return JSON.parse(stdout) as FlowRecord[];
}

/** The causes of requests that nobody has reported. */
function withoutWork(records: readonly FlowRecord[]): readonly string[] {
  const works = new Set(records.flatMap((record) => (record.type === "work" ? [record.id] : [])));
  return records.flatMap((record) =>
    record.type === "request" && record.cause !== undefined && !works.has(record.cause) ? [record.cause] : [],
  );
}

describe.skipIf(program === undefined)("k8ts flow", () => {
  let records: readonly FlowRecord[] = [];

  it("tells from the user's command to the Pod that runs", async () => {
    await kubectl.ok("create", "deployment", "web", "--image=example/web", "--replicas=3");
    await kubectl.ok("rollout", "status", "deployment/web", "--timeout=50s");
    // Components report their works a moment after their requests.
    await expect
      .poll(async () => {
        records = await flowOf("deployment/web");
        return withoutWork(records);
      })
      .toEqual([]);
    const steps = records.flatMap((record) =>
      record.type === "request"
        ? [`${record.actor.split("/")[0]} ${record.verb} ${record.resource} ${record.subresource}`.trim()]
        : [],
    );
    const order = [
      "kubectl create apps/deployments",
      "deployment-controller create apps/replicasets",
      "replicaset-controller create pods",
      "scheduler create pods binding",
      "kubelet patch pods status",
    ].map((step) => steps.indexOf(step));
    expect(order).not.toContain(-1);
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });

  it("knows the revision and the cause of every write", () => {
    const writes = records.filter(
      (record): record is RequestRecord => record.type === "request" && record.written !== undefined,
    );
    const works = new Map(records.flatMap((record) => (record.type === "work" ? [[record.id, record]] : [])));
    const revisions = new Set(writes.map(({ written }) => written?.revision));
    for (const { cause, actor, resource } of writes) {
      // A node's report may have let the scheduler act: the flow shows it, and it begins there.
      if (resource === "nodes") continue;
      if (actor === "kubectl") expect(cause).toBeUndefined();
      else
        expect(
          works.get(cause ?? "")?.woken.some((revision) => revisions.has(revision)),
          actor,
        ).toBe(true);
    }
  });

  it("draws it", async () => {
    const { stdout } = await home.k8ts("flow", "deployment/web");
    const heads =
      stdout
        .split("\n")[0]
        ?.trim()
        .split(/\s{2,}/) ?? [];
    const actors = ["kubectl", "apiserver", "store", "deployment-controller", "replicaset-controller", "scheduler"];
    expect(heads).toEqual(expect.arrayContaining(actors));
    expect(stdout).toMatch(/POST pods ×3/);
    const mermaid = await home.k8ts("flow", "deployment/web", "--format", "mermaid");
    expect(mermaid.stdout).toMatch(
      /^sequenceDiagram\n(?: {2}participant p\d+ as .+\n)*? {2}participant p\d as kubectl\n/,
    );
  });

  it("says what a controller looked at, and how long admission took", async () => {
    const works = records.filter((record) => record.type === "work");
    const made = works.find(({ actor, decided }) => actor === "deployment-controller" && /^create/.test(decided));
    expect(made?.read?.[0]).toMatch(/^Deployment\/web@\d+$/);
    const first = records.find((record) => record.type === "request" && record.actor === "kubectl");
    const times = first?.type === "request" ? first.admissionMicroseconds : undefined;
    expect(Object.keys(times ?? {})).toContain("NamespaceLifecycle");
    const { stdout } = await home.k8ts("flow", "deployment/web", "--reads", "--depth", "1");
    expect(stdout).toMatch(/\d admission plugins ✓ \d+\.\d ms/);
    expect(stdout).toMatch(/read Deployment\/web@\d+/);
  });

  it("of the last request begins with it", async () => {
    await kubectl.ok("create", "configmap", "lonely");
    const { stdout } = await home.k8ts("flow", "--last", "--format", "json");
    const [first, ...others] = JSON.parse(stdout) as FlowRecord[];
    expect(first).toMatchObject({ type: "request", verb: "create", name: "lonely" });
    // Who was told of it, if anybody was.
    expect(others.filter(({ type }) => type !== "delivery")).toEqual([]);
  });

  it("is followed as it happens", async () => {
    await kubectl.ok("create", "configmap", "followed");
    await using following = home.start("flow", "--follow", "--format", "json", "configmap/followed");
    await following.printed('"verb":"create"');
    await kubectl.ok("label", "configmap", "followed", "a=b");
    await following.printed('"verb":"patch"');
    expect(following.stdout()).not.toContain('"name":"lonely"');
  });

  it.each([
    ["deployment/ghost", "k8ts: There are no records of apps/deployments ghost.\n"],
    ["nonsense/x", 'k8ts: "nonsense" is not a resource; write a custom one as plural.group/name.\n'],
    ["web", 'k8ts: "web" is not an object: try deployment/web.\n'],
  ])("of %s says so", async (object, want) => {
    expect(await home.k8ts("flow", object)).toMatchObject({ code: 1, stderr: want });
  });

  it("of those who took no part says who did", async () => {
    const stderr = "k8ts: scheduler took no part in this flow. Participants: kubectl, apiserver, store.\n";
    expect(await home.k8ts("flow", "configmap/lonely", "--only", "scheduler")).toMatchObject({ code: 1, stderr });
  });
});

describe.skipIf(program === undefined)("k8ts at", () => {
  it("shows what was, with kubectl", async () => {
    await kubectl.ok("create", "configmap", "past", "--from-literal=v=1");
    const revision = await kubectl.ok("get", "configmap", "past", "-o", "jsonpath={.metadata.resourceVersion}");
    await kubectl.ok("delete", "configmap", "past");
    const { stdout } = await home.k8ts("at", revision, "get", "configmaps");
    expect(stdout).toMatch(/^past +1 +/m);
    const value = await home.k8ts("at", revision, "get", "configmap", "past", "-o", "jsonpath={.data.v}");
    expect(value.stdout).toBe("1");
    const url = `${home.runState().url}/k8ts/at/${revision}`;
    expect(await kubectl.ok("--server", url, "describe", "configmap", "past")).toContain("Name:         past");
    const refused = await home.k8ts("at", revision, "delete", "configmap", "past");
    expect(refused.stderr).toContain("past state is read-only");
  });

  it("a while ago, and what is different since", async () => {
    await kubectl.ok("create", "configmap", "changing", "--from-literal=v=1");
    const before = await kubectl.ok("get", "configmap", "changing", "-o", "jsonpath={.metadata.resourceVersion}");
    await kubectl.ok("patch", "configmap", "changing", "-p", '{"data":{"v":"2"}}');
    await kubectl.ok("create", "configmap", "new");
    const { stdout } = await home.k8ts("diff", before, "0s", "configmaps", "pods");
    expect(stdout).toContain('~ configmaps default/changing\n    data.v: "1" → "2"\n+ configmaps default/new\n');
    expect((await home.k8ts("at", "-0s", "get", "configmap", "new", "-o", "name")).stdout).toBe("configmap/new\n");
    const long = await home.k8ts("at", "-1000h", "get", "pods");
    expect(long).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is not known: times are known since/),
    });
  });
});
