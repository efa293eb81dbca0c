/**
 * kubectl rollout, scale and set image against controllers at work. There is no node: the test plays one, and lets
 * every Pod run that is not broken.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { kinds } from "#api";
import { realClock } from "#base";
import { Client, https } from "#client";
import { reportPods } from "../../src/controllers/testing/index.ts";
import type { Home } from "../support/k8ts.ts";
import { deployment } from "../support/manifests.ts";
import { CommandLine, clusterForFile, tool } from "../support/tools.ts";

const program = tool("kubectl");
const home = clusterForFile();
const kubectl = new CommandLine(program, home);
const value = (resource: string, path: string) => kubectl.ok("get", resource, "-o", `jsonpath=${path}`);
const rolledOut = (resource: string) => kubectl.ok("rollout", "status", resource, "--timeout=60s");
const cause = (resource: string, text: string) =>
  kubectl.ok("annotate", "--overwrite", resource, `kubernetes.io/change-cause=${text}`);

const stopped = new AbortController();
let node: Promise<void> | undefined;
beforeAll(() => {
  if (program !== undefined) node = playNode(home(), stopped.signal);
});
afterAll(async () => {
  stopped.abort();
  await node;
});

/** Whatever Pod appears runs and is ready, unless its image says otherwise. */
async function playNode(cluster: Home, signal: AbortSignal): Promise<void> {
  const clock = realClock();
  const client = new Client({ transport: https(adminOf(cluster), { clock }), clock });
  const isBroken = (image: string | undefined) => image?.startsWith("broken") ?? false;
  try {
    while (!signal.aborted) {
      const { metadata } = await client.of(kinds.Pod).list();
      const resourceVersion = metadata?.resourceVersion ?? "";
      for await (const { type } of client.of(kinds.Pod).watch({ resourceVersion, signal })) {
        if (type !== "ADDED") continue;
        await reportPods(
          client,
          clock.now(),
          {},
          ({ spec, status }) => status?.phase === "Pending" && !isBroken(spec?.containers[0]?.image),
        );
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await client.close();
  }
}

function adminOf({ dataDir }: Home) {
  const { clusters, users } = parse(readFileSync(join(dataDir, "kubeconfig"), "utf8"));
  const pem = (base64: string) => Buffer.from(base64, "base64").toString();
  const { cluster } = clusters[0];
  const { user } = users[0];
  return {
    server: cluster.server,
    caPem: pem(cluster["certificate-authority-data"]),
    certPem: pem(user["client-certificate-data"]),
    keyPem: pem(user["client-key-data"]),
  };
}

const statefulSet = (name: string, image: string) => ({
  ...deployment(name, image, { replicas: 2 }),
  kind: "StatefulSet",
});
/** Tolerant of everything: nobody reports these nodes ready. */
const daemonSet = (name: string, image: string) => {
  const { spec, ...rest } = deployment(name, image);
  const pod = { ...spec.template.spec, tolerations: [{ operator: "Exists" }] };
  return { ...rest, kind: "DaemonSet", spec: { ...spec, template: { ...spec.template, spec: pod } } };
};

describe.skipIf(program === undefined)("a Deployment", () => {
  it("rolls out, is set to another image, and keeps a history with causes", async () => {
    await kubectl.given(deployment("web", "nginx:1", { replicas: 3 })).ok("create", "-f", "-");
    await cause("deploy/web", "first");
    expect(await rolledOut("deploy/web")).toContain('deployment "web" successfully rolled out\n');
    expect(await kubectl.ok("set", "image", "deploy/web", "web=nginx:2")).toBe("deployment.apps/web image updated\n");
    await cause("deploy/web", "second");
    expect(await rolledOut("deploy/web")).toContain('deployment "web" successfully rolled out\n');
    expect(await kubectl.ok("rollout", "history", "deploy/web")).toBe(
      "deployment.apps/web \nREVISION  CHANGE-CAUSE\n1         first\n2         second\n\n",
    );
    expect(await kubectl.ok("rollout", "history", "deploy/web", "--revision=1")).toContain("Image:\tnginx:1\n");
    expect(await kubectl.ok("get", "pods", "-l", "app=web", "-o", "jsonpath={..containers[*].image}")).toBe(
      "nginx:2 nginx:2 nginx:2",
    );
    expect(await kubectl.ok("describe", "deploy/web")).toMatch(
      /ScalingReplicaSet .*Scaled up replica set web-\w+ from 0 to 3/,
    );
  });

  it("goes back by undo, to the one before or to a revision", async () => {
    expect(await kubectl.ok("rollout", "undo", "deploy/web")).toBe("deployment.apps/web rolled back\n");
    await rolledOut("deploy/web");
    expect(await value("deploy/web", "{..image}")).toBe("nginx:1");
    expect(await kubectl.ok("rollout", "undo", "deploy/web", "--to-revision=2")).toBe(
      "deployment.apps/web rolled back\n",
    );
    await rolledOut("deploy/web");
    expect(await value("deploy/web", "{..image}")).toBe("nginx:2");
    expect(await value("deploy/web", "{.metadata.annotations['deployment\\.kubernetes\\.io/revision']}")).toBe("4");
  });

  it("does nothing while it is paused, all of it when it is resumed", async () => {
    await kubectl.ok("rollout", "pause", "deploy/web");
    await kubectl.ok("set", "image", "deploy/web", "web=nginx:3");
    await kubectl.ok(
      "wait",
      "deploy/web",
      "--for=jsonpath={.status.conditions[?(@.type=='Progressing')].reason}=DeploymentPaused",
    );
    expect(await kubectl.fails("rollout", "undo", "deploy/web")).toContain("cannot rollback a paused deployment");
    expect(await value("rs", "{.items[*].spec.template.spec.containers[0].image}")).not.toContain("nginx:3");
    await kubectl.ok("rollout", "resume", "deploy/web");
    await rolledOut("deploy/web");
    expect(await value("deploy/web", "{.status.updatedReplicas} {.status.availableReplicas}")).toBe("3 3");
  });

  it("restarts, and scales", async () => {
    const before = await value("pods", "{.items[*].metadata.uid}");
    await kubectl.ok("rollout", "restart", "deploy/web");
    await rolledOut("deploy/web");
    const kept = (await value("pods", "{.items[*].metadata.uid}")).split(" ").filter((uid) => before.includes(uid));
    expect(kept).toEqual([]);
    await kubectl.ok("scale", "deploy/web", "--replicas=5");
    await kubectl.ok("wait", "deploy/web", "--for=jsonpath={.status.availableReplicas}=5", "--timeout=60s");
    await kubectl.ok("scale", "deploy/web", "--replicas=0");
    expect(await rolledOut("deploy/web")).toContain("successfully rolled out\n");
  });

  it("fails when it does not get on in time", async () => {
    await kubectl.given(deployment("slow", "nginx:1")).ok("create", "-f", "-");
    await rolledOut("deploy/slow");
    await kubectl.ok("patch", "deploy/slow", "-p", '{"spec":{"progressDeadlineSeconds":2}}');
    await kubectl.ok("set", "image", "deploy/slow", "web=broken:1");
    expect(await kubectl.fails("rollout", "status", "deploy/slow", "--timeout=60s")).toContain(
      'error: deployment "slow" exceeded its progress deadline\n',
    );
    await kubectl.ok("rollout", "undo", "deploy/slow");
    await rolledOut("deploy/slow");
  });
});

describe.skipIf(program === undefined)("a StatefulSet", () => {
  it("rolls out in order, has a history, and goes back", async () => {
    await kubectl.given(statefulSet("db", "db:1")).ok("create", "-f", "-");
    expect(await rolledOut("sts/db")).toMatch(
      /partitioned roll out complete|statefulset rolling update complete 2 pods/,
    );
    await kubectl.ok("set", "image", "sts/db", "web=db:2");
    expect(await rolledOut("sts/db")).toMatch(
      /partitioned roll out complete|statefulset rolling update complete 2 pods/,
    );
    expect(await value("pods/db-1", "{..containers[0].image}")).toBe("db:2");
    expect(await kubectl.ok("rollout", "history", "sts/db")).toContain("REVISION  CHANGE-CAUSE\n1         <none>\n2 ");
    expect(await kubectl.ok("rollout", "undo", "sts/db")).toBe("statefulset.apps/db rolled back\n");
    await rolledOut("sts/db");
    expect(await value("pods/db-0", "{..containers[0].image}")).toBe("db:1");
  });
});

describe.skipIf(program === undefined)("a DaemonSet", () => {
  it("rolls out over the nodes, has a history, and goes back", async () => {
    for (const name of ["one", "two"])
      await kubectl.given({ apiVersion: "v1", kind: "Node", metadata: { name } }).ok("create", "-f", "-");
    await kubectl.given(daemonSet("agent", "agent:1")).ok("create", "-f", "-");
    expect(await rolledOut("ds/agent")).toContain('daemon set "agent" successfully rolled out\n');
    await kubectl.ok("set", "image", "ds/agent", "web=agent:2");
    expect(await rolledOut("ds/agent")).toContain('daemon set "agent" successfully rolled out\n');
    expect(await value("ds/agent", "{.status.updatedNumberScheduled} {.status.numberAvailable}")).toBe("2 2");
    expect(await kubectl.ok("rollout", "undo", "ds/agent")).toBe("daemonset.apps/agent rolled back\n");
    await rolledOut("ds/agent");
    expect(await value("ds/agent", "{..image}")).toBe("agent:1");
    expect(await kubectl.ok("rollout", "history", "ds/agent")).toContain("2         <none>\n3         <none>\n");
  });
});
