/** kubectl apply on the client's and on the server's side, diff and prune. */
import { describe, expect, it } from "vitest";
import { configMap, deployment } from "../support/manifests.ts";
import { CommandLine, clusterForFile, tool } from "../support/tools.ts";

const program = tool("kubectl");
const home = clusterForFile();
const kubectl = new CommandLine(program, home);

describe.skipIf(program === undefined)("kubectl apply on the client's side", () => {
  it("creates, leaves alone, changes", async () => {
    expect(await kubectl.given(deployment("shop", "nginx:1")).ok("apply", "-f", "-")).toBe(
      "deployment.apps/shop created\n",
    );
    expect(await kubectl.given(deployment("shop", "nginx:1")).ok("apply", "-f", "-")).toBe(
      "deployment.apps/shop unchanged\n",
    );
    expect(await kubectl.given(deployment("shop", "nginx:2")).ok("apply", "-f", "-")).toBe(
      "deployment.apps/shop configured\n",
    );
    expect(await kubectl.ok("get", "deploy", "shop", "-o", "jsonpath={.metadata.generation} {..image}")).toBe(
      "2 nginx:2",
    );
  });

  it("removes what it has set before, and keeps what others have set", async () => {
    await kubectl.given(configMap("merged", { mine: "1", gone: "1" })).ok("apply", "-f", "-");
    await kubectl.ok("patch", "cm", "merged", "--type=merge", "-p", '{"data":{"theirs":"2"}}');
    await kubectl.given(configMap("merged", { mine: "1" })).ok("apply", "-f", "-");
    expect(await kubectl.ok("get", "cm", "merged", "-o", "jsonpath={.data}")).toBe('{"mine":"1","theirs":"2"}');
  });

  it("remembers what was applied", async () => {
    await kubectl.given(configMap("remembered", { a: "1" })).ok("apply", "-f", "-");
    expect(await kubectl.json("apply", "view-last-applied", "cm", "remembered")).toEqual({
      ...configMap("remembered", { a: "1" }),
      metadata: { annotations: {}, name: "remembered", namespace: "default" },
    });
  });

  it("tries on the server without a trace", async () => {
    expect(await kubectl.given(configMap("trial", {})).ok("apply", "-f", "-", "--dry-run=server")).toBe(
      "configmap/trial created (server dry run)\n",
    );
    expect(await kubectl.ok("get", "cm", "trial", "--ignore-not-found")).toBe("");
  });

  it("prunes what the set no longer holds", async () => {
    const part = { set: "pruned" };
    const prune = ["apply", "-f", "-", "--prune", "-l", "set=pruned", "--prune-allowlist=core/v1/ConfigMap"];
    await kubectl.given(configMap("keep", { a: "1" }, part), configMap("drop", { a: "1" }, part)).ok(...prune);
    expect(await kubectl.given(configMap("keep", { a: "1" }, part)).ok(...prune)).toBe(
      "configmap/keep unchanged\nconfigmap/drop pruned\n",
    );
  });

  it("prunes by apply set", async () => {
    const sets = kubectl.env({ KUBECTL_APPLYSET: "true" });
    const apply = ["apply", "-f", "-", "--prune", "--applyset=bundle", "-n", "default"];
    expect(await sets.given(configMap("stays", { a: "1" }), configMap("goes", {})).ok(...apply)).toBe(
      "configmap/stays created\nconfigmap/goes created\n",
    );
    expect(await sets.given(configMap("stays", { a: "1" })).ok(...apply)).toBe(
      "configmap/stays unchanged\nconfigmap/goes pruned\n",
    );
  });
});

describe.skipIf(program === undefined)("kubectl apply on the server's side", () => {
  const apply = ["apply", "--server-side", "-f", "-"];

  it("owns the fields that it applies, and no others", async () => {
    expect(await kubectl.given(configMap("owned", { a: "1" })).ok(...apply)).toBe(
      "configmap/owned serverside-applied\n",
    );
    expect(await kubectl.json("get", "cm", "owned", "--show-managed-fields")).toMatchObject({
      metadata: {
        managedFields: [
          { manager: "kubectl", operation: "Apply", fieldsType: "FieldsV1", fieldsV1: { "f:data": { "f:a": {} } } },
        ],
      },
    });
    expect(await kubectl.ok("get", "cm", "owned", "-o", "jsonpath={.metadata.annotations}")).toBe("");
  });

  it("changes nothing when it says the same again", async () => {
    const version = () => kubectl.ok("get", "cm", "owned", "-o", "jsonpath={.metadata.resourceVersion}");
    const before = await version();
    await kubectl.given(configMap("owned", { a: "1" })).ok(...apply);
    expect(await version()).toBe(before);
  });

  it("refuses to take a field from its owner, unless forced to", async () => {
    await kubectl.given(deployment("contested", "nginx:1")).ok(...apply);
    const other = kubectl.given(deployment("contested", "nginx:2"));
    const refusal = await other.fails(...apply, "--field-manager=rival");
    expect(refusal).toContain(
      'error: Apply failed with 1 conflict: conflict with "kubectl": .spec.template.spec.containers[name="web"].image\n',
    );
    expect(await other.ok(...apply, "--field-manager=rival", "--force-conflicts")).toBe(
      "deployment.apps/contested serverside-applied\n",
    );
    expect(await kubectl.ok("get", "deploy", "contested", "-o", "jsonpath={..image}")).toBe("nginx:2");
  });

  it("names each conflict", async () => {
    await kubectl.given(configMap("many", { a: "1", b: "1" })).ok(...apply);
    expect(
      await kubectl.given(configMap("many", { a: "2", b: "2" })).fails(...apply, "--field-manager=rival"),
    ).toContain('error: Apply failed with 2 conflicts: conflicts with "kubectl":\n- .data.a\n- .data.b\n');
  });

  it("removes what it no longer applies, and keeps what somebody shares", async () => {
    await kubectl.given(configMap("shared", { mine: "1", ours: "1" })).ok(...apply);
    await kubectl.given(configMap("shared", { ours: "1" })).ok(...apply, "--field-manager=partner");
    await kubectl.given(configMap("shared", {})).ok(...apply);
    expect(await kubectl.ok("get", "cm", "shared", "-o", "jsonpath={.data}")).toBe('{"ours":"1"}');
  });

  it("takes over from apply on the client's side", async () => {
    await kubectl.given(configMap("moved", { a: "1", b: "1" })).ok("apply", "-f", "-");
    await kubectl.given(configMap("moved", { a: "2" })).ok(...apply);
    expect(await kubectl.ok("get", "cm", "moved", "-o", "jsonpath={.data}")).toBe('{"a":"2"}');
  });
});

describe.skipIf(program === undefined)("kubectl diff", () => {
  it("says nothing where nothing would change", async () => {
    await kubectl.given(deployment("same", "nginx:1")).ok("apply", "-f", "-");
    expect(await kubectl.given(deployment("same", "nginx:1")).run("diff", "-f", "-")).toMatchObject({
      code: 0,
      stdout: "",
    });
  });

  const sides = [
    { side: "client", flags: [] },
    { side: "server", flags: ["--server-side"] },
  ];
  it.each(sides)("shows what apply on the $side's side would make of it", async ({ side, flags }) => {
    const name = `differs-${side}`;
    await kubectl.given(deployment(name, "nginx:1")).ok("apply", "-f", "-", ...flags);
    const { code, stdout } = await kubectl.given(deployment(name, "nginx:2")).run("diff", "-f", "-", ...flags);
    expect(code).toBe(1);
    expect(changed(stdout)).toEqual([
      "-  generation: 1",
      "+  generation: 2",
      "-      - image: nginx:1",
      "+      - image: nginx:2",
    ]);
    expect(await kubectl.ok("get", "deploy", name, "-o", "jsonpath={..image}")).toBe("nginx:1");
  });

  it("shows all of what is not there yet, defaults included", async () => {
    const { code, stdout } = await kubectl.given(deployment("new", "nginx:1")).run("diff", "-f", "-");
    expect(code).toBe(1);
    expect(changed(stdout)).toEqual(expect.arrayContaining(["+kind: Deployment", "+  revisionHistoryLimit: 10"]));
    expect(changed(stdout).filter((line) => line.startsWith("-"))).toEqual([]);
  });
});

function changed(diff: string): string[] {
  return diff.split("\n").filter((line) => /^[+-](?![+-])/.test(line));
}
