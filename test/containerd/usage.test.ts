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
