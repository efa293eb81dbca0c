/** kubectl as it follows what changes: get --watch and wait. */
import { beforeAll, describe, expect, it } from "vitest";
import { configMap, deployment } from "../support/manifests.ts";
import { table, young } from "../support/table.ts";
import { CommandLine, clusterForFile, tool } from "../support/tools.ts";

const program = tool("kubectl");
const home = clusterForFile();
const kubectl = new CommandLine(program, home);

beforeAll(async () => {
  if (program === undefined) return;
  await kubectl.ok("create", "namespace", "team");
  await kubectl.ok("create", "configmap", "blue", "-n", "team");
  await kubectl
    .given(configMap("red", { a: "9" }), configMap("plain", {}), deployment("web", "nginx:1"))
    .ok("create", "-f", "-");
});

describe.skipIf(program === undefined)("kubectl get --watch", () => {
  // A cluster publishes its authority in every namespace.
  const ownOnly = "--field-selector=metadata.name!=kube-root-ca.crt";

  it("shows each change as it happens, as table rows and as events", async () => {
    await using rows = kubectl.start("get", "cm", "-n", "team", "-l", "watched", "--watch");
    await using events = kubectl.start("get", "cm", "-n", "team", "--watch", "--output-watch-events", ownOnly);
    await using values = kubectl.start("get", "cm", "blue", "-n", "team", "--watch", "-o", "jsonpath=<{.data.step}>");
    await events.printed("blue");
    await values.printed("<>");

    await kubectl.ok("create", "cm", "seen", "-n", "team");
    await kubectl.ok("label", "cm", "seen", "-n", "team", "watched=yes");
    await rows.printed("seen");
    await kubectl.ok("patch", "cm", "blue", "-n", "team", "--type=merge", "-p", '{"data":{"step":"1"}}');
    await values.printed("<1>");
    await kubectl.ok("delete", "cm", "seen", "-n", "team");

    await events.printed("DELETED");
    expect(table(events.stdout())).toEqual([
      ["EVENT", "NAME", "DATA", "AGE"],
      ["ADDED", "blue", "0", young],
      ["ADDED", "seen", "0", young],
      ["MODIFIED", "seen", "0", young],
      ["MODIFIED", "blue", "1", young],
      ["DELETED", "seen", "0", young],
    ]);
    await expect
      .poll(() => table(rows.stdout()))
      .toEqual([
        ["NAME", "DATA", "AGE"],
        ["seen", "0", young],
        ["seen", "0", young],
      ]);
  });
});

describe.skipIf(program === undefined)("kubectl wait", () => {
  it("for a value that is there", async () => {
    expect(await kubectl.ok("wait", "--for=jsonpath={.data.a}=9", "cm/red", "--timeout=20s")).toBe(
      "configmap/red condition met\n",
    );
  });

  it("for a value that comes later", async () => {
    await using waiting = kubectl.start("wait", "--for=jsonpath={.data.later}=yes", "cm/plain", "--timeout=25s");
    await kubectl.ok("patch", "cm", "plain", "--type=merge", "-p", '{"data":{"later":"yes"}}');
    expect(await waiting.ended()).toMatchObject({ code: 0, stdout: "configmap/plain condition met\n" });
  });

  it("for a condition", async () => {
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "waited" },
      spec: { containers: [{ name: "c", image: "i" }] },
    };
    await kubectl.given(pod).ok("create", "-f", "-");
    await using waiting = kubectl.start("wait", "--for=condition=Ready", "pod/waited", "--timeout=25s");
    const patch = JSON.stringify({ status: { conditions: [{ type: "Ready", status: "True" }] } });
    await kubectl.ok("patch", "pod", "waited", "--subresource=status", "--type=merge", "-p", patch);
    expect(await waiting.ended()).toMatchObject({ code: 0, stdout: "pod/waited condition met\n" });
  });

  it("for creation and deletion", async () => {
    await using created = kubectl.start("wait", "--for=create", "cm/soon", "--timeout=25s");
    await kubectl.ok("create", "cm", "soon");
    expect(await created.ended()).toMatchObject({ code: 0, stdout: "configmap/soon condition met\n" });
    await using deleted = kubectl.start("wait", "--for=delete", "cm/soon", "--timeout=25s");
    await kubectl.ok("delete", "cm", "soon");
    expect(await deleted.ended()).toMatchObject({ code: 0, stderr: "" });
  });

  it("gives up after its time", async () => {
    expect(await kubectl.fails("wait", "--for=delete", "cm/red", "--timeout=1s")).toBe(
      "error: timed out waiting for the condition on configmaps/red\n",
    );
  });
});
