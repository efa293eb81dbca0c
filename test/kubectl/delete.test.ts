/** kubectl delete: at once, by selector, in cascades, and held up by finalizers. */
import { describe, expect, it } from "vitest";
import { configMap, deployment } from "../support/manifests.ts";
import { CommandLine, clusterForFile, tool } from "../support/tools.ts";

const program = tool("kubectl");
const home = clusterForFile();
const kubectl = new CommandLine(program, home);

describe.skipIf(program === undefined)("kubectl delete", () => {
  it("by name, by file, by label, and all", async () => {
    const secret = (name: string) => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name, labels: { some: "label" } },
    });
    await kubectl.given(...["a", "b", "c", "d", "e"].map(secret)).ok("create", "-f", "-");
    const deleted = (name: string) => `secret "${name}" deleted from default namespace\n`;
    expect(await kubectl.ok("delete", "secret", "a")).toBe(deleted("a"));
    expect(await kubectl.given(secret("b")).ok("delete", "-f", "-")).toBe(deleted("b"));
    expect(await kubectl.ok("delete", "secret", "-l", "some=label", "--field-selector=metadata.name=c")).toBe(
      deleted("c"),
    );
    expect(await kubectl.ok("delete", "secrets", "--all")).toBe(deleted("d") + deleted("e"));
    expect(await kubectl.ok("get", "secrets", "--ignore-not-found")).toBe("");
  });

  it("of what is not there", async () => {
    expect(await kubectl.fails("delete", "cm", "nobody")).toBe(
      'Error from server (NotFound): configmaps "nobody" not found\n',
    );
    expect(await kubectl.ok("delete", "cm", "nobody", "--ignore-not-found")).toBe("");
  });

  it("as a dry run", async () => {
    await kubectl.ok("create", "cm", "kept");
    expect(await kubectl.ok("delete", "cm", "kept", "--dry-run=server")).toBe(
      'configmap "kept" deleted from default namespace (server dry run)\n',
    );
    expect(await kubectl.ok("get", "cm", "kept", "-o", "name")).toBe("configmap/kept\n");
  });

  it("waits until the last finalizer is gone", async () => {
    const held = { ...configMap("held", {}), metadata: { name: "held", finalizers: ["example.com/hold"] } };
    await kubectl.given(held).ok("create", "-f", "-");
    await using deleting = kubectl.start("delete", "cm", "held", "--wait", "--timeout=25s");
    await deleting.printed('configmap "held" deleted');
    expect(await kubectl.json("get", "cm", "held")).toMatchObject({
      metadata: {
        deletionTimestamp: expect.any(String),
        deletionGracePeriodSeconds: 0,
        finalizers: ["example.com/hold"],
      },
    });
    expect(
      await kubectl.fails(
        "patch",
        "cm",
        "held",
        "--type=merge",
        "-p",
        '{"metadata":{"finalizers":["example.com/hold","example.com/more"]}}',
      ),
    ).toContain("metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted");
    expect(deleting.process.exitCode).toBe(null);
    await kubectl.ok("patch", "cm", "held", "--type=merge", "-p", '{"metadata":{"finalizers":null}}');
    expect(await deleting.ended()).toMatchObject({ code: 0, stderr: "" });
    expect(await kubectl.ok("get", "cm", "held", "--ignore-not-found")).toBe("");
  });

  it.each([
    { cascade: "orphan", left: "configmap/kid-orphan\n" },
    { cascade: "foreground", left: "" },
    { cascade: "background", left: "" },
  ])("--cascade=$cascade decides what becomes of dependents", async ({ cascade, left }) => {
    const owner = `owner-${cascade}`;
    await kubectl.given(configMap(owner, {})).ok("create", "-f", "-");
    const uid = await kubectl.ok("get", "cm", owner, "-o", "jsonpath={.metadata.uid}");
    const reference = { apiVersion: "v1", kind: "ConfigMap", name: owner, uid, blockOwnerDeletion: true };
    const kid = configMap(`kid-${cascade}`, {});
    await kubectl
      .given({ ...kid, metadata: { ...kid.metadata, ownerReferences: [reference] } })
      .ok("create", "-f", "-");
    await kubectl.ok("delete", "cm", owner, `--cascade=${cascade}`);
    const kids = () => kubectl.ok("get", "cm", `kid-${cascade}`, "--ignore-not-found", "-o", "name");
    await expect.poll(kids).toBe(left);
    if (left !== "")
      expect(await kubectl.ok("get", "cm", `kid-${cascade}`, "-o", "jsonpath={.metadata.ownerReferences}")).toBe("");
  });

  it("--cascade=background deletes the object itself at once", async () => {
    await kubectl.given(deployment("background", "nginx:1")).ok("create", "-f", "-");
    expect(await kubectl.ok("delete", "deploy", "background")).toBe(
      'deployment.apps "background" deleted from default namespace\n',
    );
    expect(await kubectl.ok("get", "deploy", "background", "--ignore-not-found")).toBe("");
  });

  it("of a namespace: nothing new is made in it while it ends", async () => {
    await kubectl.ok("create", "namespace", "ending");
    const held = {
      ...configMap("held", {}),
      metadata: { name: "held", namespace: "ending", finalizers: ["example.com/hold"] },
    };
    await kubectl.given(held).ok("create", "-f", "-");
    expect(await kubectl.ok("delete", "namespace", "ending", "--wait=false")).toBe('namespace "ending" deleted\n');
    expect(await kubectl.ok("get", "namespace", "ending", "--no-headers")).toMatch(/^ending +Terminating +\d+s\n$/);
    expect(await kubectl.fails("create", "configmap", "late", "-n", "ending")).toBe(
      'error: failed to create configmap: configmaps "late" is forbidden: unable to create new content in namespace ending because it is being terminated\n',
    );
  });
});
