/** What real containers use, as `kubectl top` shows it: measured by kubelets, through the resource metrics API. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tool } from "../support/tools.ts";
import { missing } from "./support/leftovers.ts";
import { Machine } from "./support/machine.ts";
import { until } from "./support/wait.ts";

const why = tool("kubectl") === undefined ? `${missing} kubectl 1.36 is missing.` : missing;

describe.skipIf(why !== "")(`usage on real nodes${why && `: ${why}`}`, () => {
  let machine: Machine;
  beforeAll(async () => {
    machine = await Machine.create();
    await machine.ok("up", "--detach", "--runtime", "containerd", "--nodes", "1", "--port", "0");
  }, 240_000);
  afterAll(async () => {
    await machine?.[Symbol.asyncDispose]();
    expect(machine?.leftovers()).toEqual([]);
  });

  const top = (...args: string[]) =>
    machine.kubectl("top", ...args, "--no-headers").catch((error: Error) => error.message);

  it("kubectl autoscale scales 1 → 4 under load, and back to 1 after the window", { timeout: 400_000 }, async () => {
    const labels = { app: "web" };
    const command = ["sh", "-c", 'while true; do [ "$LOAD" = on ] || sleep 1; done'];
    const resources = { requests: { cpu: "50m" }, limits: { cpu: "100m" } };
    const env = [{ name: "LOAD", value: "on" }];
    const container = { name: "main", image: "localhost/busybox:1", command, env, resources };
    await machine.apply({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web" },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { terminationGracePeriodSeconds: 0, containers: [container] },
        },
      },
    });
    await machine.kubectl("autoscale", "deployment", "web", "--cpu=50%", "--min=1", "--max=4");
    const behavior = { scaleDown: { stabilizationWindowSeconds: 15 } };
    await machine.kubectl("patch", "hpa", "web", "--type=merge", "-p", JSON.stringify({ spec: { behavior } }));
    const replicas = () => machine.kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.replicas}");
    expect(await replicas()).toBe("1");
    const is = (count: string) => (text: string) => text === count;
    await until(replicas, is("4"), 150_000);
    await machine.kubectl("set", "env", "deployment/web", "LOAD=off");
    await until(replicas, is("1"), 180_000);
    expect(await machine.kubectl("describe", "hpa", "web")).toContain("New size: 1; reason: All metrics below target");
    await machine.kubectl("delete", "hpa,deployment", "web");
  });

  it("a busy Pod is seen soon after its start, and its node", { timeout: 180_000 }, async () => {
    const busy = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "busy" },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: "main",
            image: "localhost/busybox:1",
            command: ["sh", "-c", "while true; do :; done"],
            resources: { limits: { cpu: "200m", memory: "64Mi" } },
          },
        ],
      },
    };
    await machine.apply(busy);
    await machine.kubectl("wait", "--for=condition=Ready", "pod/busy", "--timeout=90s");
    // A round of measuring is 15 s long; a machine under load takes longer to answer.
    const seen = await until(
      () => top("pods"),
      (text) => /^busy +\d+m +\d+Mi/m.test(text),
      60_000,
    );
    const cpu = Number(/^busy +(\d+)m/m.exec(seen)?.[1]);
    expect(cpu).toBeGreaterThan(50);
    expect(cpu).toBeLessThan(400);
    await until(
      () => top("nodes"),
      (text) => /^node-1 +\d+m +\d+% +\d+Mi +\d+%/m.test(text),
      60_000,
    );
  });
});
