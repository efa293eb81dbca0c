/** Pods that need a feature of their node, and nodes that declare it, or begin to. */
import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds } from "#api";
import { node, pod } from "../testing/index.ts";
import { testScheduler } from "../testing/test-scheduler.ts";

const FEATURE = "RestartAllContainersOnContainerExits";
const rule = { action: "RestartAllContainers", exitCodes: { operator: "In", values: [42] } } as const;
const container = { name: "app", image: "x", restartPolicy: "Never", restartPolicyRules: [rule] };

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function cluster(declared: Readonly<Record<string, readonly string[]>>) {
  const running = await testScheduler();
  open.push(() => running.close());
  const { client, addNode, settle, clock } = running;
  const nodes = client.of(kinds.Node);
  const declare = async (name: string, declaredFeatures: readonly string[]) => {
    const object = { status: { declaredFeatures: [...declaredFeatures] } };
    await nodes.subresource(name, "status").patch({ type: "merge", object });
    await settle();
  };
  for (const [name, features] of Object.entries(declared)) {
    await addNode(node(name));
    if (features.length > 0) await declare(name, features);
  }
  return { ...running, declare, later: () => clock.advance(10_000).then(settle) };
}

const needy = (name: string, spec: Partial<core.PodSpec> = { containers: [container] }) => pod(name, { spec });

describe("NodeDeclaredFeatures", () => {
  it.each([
    { name: "a Pod that needs nothing goes anywhere", spec: {}, declared: { a: [] }, want: "a" },
    { name: "a node declares it", spec: undefined, declared: { a: ["Other"], b: [FEATURE, "Other"] }, want: "b" },
    { name: "no node declares it", spec: undefined, declared: { a: [], b: ["Other"] }, want: undefined },
    {
      name: "an init container needs it",
      spec: { initContainers: [{ ...container, name: "first" }] },
      declared: { a: [] },
      want: undefined,
    },
  ])("$name", async ({ spec, declared, want }) => {
    const { addPod, settle, places } = await cluster(declared as Readonly<Record<string, readonly string[]>>);
    await addPod(needy("p", spec));
    await settle();
    expect((await places()).p).toBe(want);
  });

  it("a Pod says what is missing, and goes once a node declares it", async () => {
    const { addPod, settle, places, events, declare, later } = await cluster({ a: [], b: [] });
    await addPod(needy("p"));
    await settle();
    expect((await events("p"))[0]).toContain(
      `0/2 nodes are available: 2 node declared features check failed - unsatisfied requirements: ${FEATURE}.`,
    );
    await declare("a", ["Other"]);
    await later();
    expect((await places()).p).toBeUndefined();
    await declare("b", [FEATURE]);
    await later();
    expect((await places()).p).toBe("b");
  });
});
