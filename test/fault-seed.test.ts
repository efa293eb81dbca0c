/** `k8ts up --fault-seed`: requests of its own components fail now and then, and the cluster reaches its goal all the same. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Home } from "./support/k8ts.ts";
import { CommandLine, tool } from "./support/tools.ts";

const program = tool("kubectl");
let home: Home;
const kubectl = new CommandLine(program, () => home);

describe.skipIf(program === undefined)("k8ts up --fault-seed (needs kubectl)", () => {
  let said = "";
  beforeAll(async () => {
    home = new Home();
    const flags = ["--store", "memory", "--runtime", "simulated", "--nodes", "2", "--port", "0"];
    const up = await home.k8ts("up", "--detach", "--fault-seed", "7", ...flags);
    if (up.code !== 0) throw new Error(up.stderr);
    said = up.stdout;
  });
  afterAll(() => home[Symbol.asyncDispose]());

  it("says that things go wrong on purpose", () => {
    expect(said).toContain("Requests of controllers, scheduler and simulated nodes fail by the seed 7.");
  });

  it("rolls out, scales and collects nevertheless", { timeout: 120_000 }, async () => {
    await kubectl.ok("create", "deployment", "web", "--image=web:1", "--replicas=10");
    await kubectl.ok("rollout", "status", "deployment/web", "--timeout=60s");
    await kubectl.ok("scale", "deployment", "web", "--replicas=3");
    await kubectl.ok("wait", "deployment/web", "--for=jsonpath={.status.replicas}=3", "--timeout=60s");
    await kubectl.ok("delete", "deployment", "web", "--cascade=foreground", "--timeout=60s");
    expect(await kubectl.ok("get", "pods", "-o", "name")).toBe("");
  });
});
