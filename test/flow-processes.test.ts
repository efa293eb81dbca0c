/**
 * `k8ts flow` where the controllers and the scheduler are processes of their own: causes travel with their requests.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { realClock } from "#base";
import type { FlowRecord } from "#flows";
import { kubeconfigFor, loadAuthority, readKubeconfig, writeKubeconfig } from "#pki";
import { freePort } from "./support/free-port.ts";
import { Home } from "./support/k8ts.ts";
import { expectRollout } from "./support/rollout-flow.ts";
import { startSimulated } from "./support/simulated.ts";
import { CommandLine, tool } from "./support/tools.ts";

const program = tool("kubectl");
const home = new Home();
const kubectl = new CommandLine(program, () => home);
const pki = (file: string) => join(home.dataDir, "pki", file);

async function identity(user: string): Promise<string> {
  const [certPem, keyPem] = [readFileSync(pki("ca.crt"), "utf8"), readFileSync(pki("ca.key"), "utf8")];
  const authority = await loadAuthority({ certPem, keyPem, clock: realClock() });
  const client = await authority.issue({ commonName: user, usages: ["client"] });
  const { server } = await readKubeconfig(join(home.dataDir, "kubeconfig"));
  const file = join(home.dir, `${user.replaceAll(":", "-")}.conf`);
  await writeKubeconfig(file, kubeconfigFor({ name: user, server, caPem: certPem, client }));
  return file;
}

describe.skipIf(program === undefined)("a flow through several processes", () => {
  beforeAll(async () => {
    await startSimulated(home, 1, "--controllers=", "--no-scheduler");
    home.start(
      "controller-manager",
      `--kubeconfig=${await identity("system:kube-controller-manager")}`,
      `--root-ca-file=${pki("ca.crt")}`,
      `--service-account-private-key-file=${pki("sa.key")}`,
      "--use-service-account-credentials",
      "--bind-address=127.0.0.1",
      `--secure-port=${await freePort()}`,
    );
    home.start(
      "scheduler",
      `--kubeconfig=${await identity("system:kube-scheduler")}`,
      "--bind-address=127.0.0.1",
      `--secure-port=${await freePort()}`,
    );
  });
  afterAll(() => home[Symbol.asyncDispose]());

  it("is whole, in the order of its causes, by clocks that are not one", async () => {
    await kubectl.ok("create", "deployment", "web", "--image=example/web", "--replicas=2");
    await kubectl.ok("rollout", "status", "deployment/web", "--timeout=60s");
    const { stdout } = await home.k8ts("flow", "deployment/web", "--format", "json");
    const records = JSON.parse(stdout) as FlowRecord[];
    expectRollout(records);
    const foreign = records.flatMap((record) => (record.type === "work" && record.foreignClock ? [record.actor] : []));
    expect(new Set(foreign)).toEqual(new Set(["deployment-controller", "replicaset-controller", "scheduler"]));
  });

  it("why a Pod is where it is, and why another is nowhere, is known to the scheduler alone", async () => {
    const pod = (name: string, nodeSelector: object) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name },
      spec: { nodeSelector, containers: [{ name: "main", image: "example/web" }] },
    });
    for (const one of [pod("placed", {}), pod("lost", { disk: "none" })])
      await kubectl.given(one).ok("apply", "-f", "-");
    await kubectl.ok("wait", "--for=condition=Ready", "pod/placed", "--timeout=30s");
    await kubectl.ok("wait", "--for=condition=PodScheduled=false", "pod/lost", "--timeout=30s");
    expect((await home.k8ts("why", "pod/placed")).stdout).toContain("1 of 1 nodes fit");
    expect((await home.k8ts("why", "pod/lost")).stdout).toContain("scheduler plugin NodeAffinity");
    // Nobody else may put words into its mouth.
    expect(await kubectl.given([]).fails("create", "--raw", "/k8ts/scheduling", "-f", "-", "--as=jane")).toContain(
      "orbidden",
    );
  });
});
