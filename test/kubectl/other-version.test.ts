/** The machine's own kubectl, whatever its version is, for the commands that everybody uses. */
import { describe, expect, it } from "vitest";
import { configMap, deployment } from "../support/manifests.ts";
import { table, young } from "../support/table.ts";
import { CommandLine, clusterForFile, toolOnPath } from "../support/tools.ts";

const program = toolOnPath("kubectl");
const home = clusterForFile();
const kubectl = new CommandLine(program, home);

describe.skipIf(program === undefined)("the kubectl on PATH", () => {
  it("creates, reads, changes and deletes", async () => {
    expect(await kubectl.given(deployment("web", "nginx:1", { replicas: 2 })).ok("apply", "-f", "-")).toBe(
      "deployment.apps/web created\n",
    );
    await kubectl.ok("wait", "deploy/web", "--for=jsonpath={.status.updatedReplicas}=2");
    expect(table(await kubectl.ok("get", "deploy"))).toEqual([
      ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"],
      ["web", "0/2", "2", "0", young],
    ]);
    expect(await kubectl.ok("set", "image", "deploy/web", "web=nginx:2")).toBe("deployment.apps/web image updated\n");
    expect(await kubectl.ok("scale", "deploy/web", "--replicas=3")).toBe("deployment.apps/web scaled\n");
    expect(await kubectl.ok("describe", "deploy", "web")).toContain("Replicas:               3 desired");
    expect(await kubectl.ok("delete", "deploy", "web")).toMatch(/^deployment\.apps "web" deleted/);
  });

  it("applies on the server's side", async () => {
    expect(await kubectl.given(configMap("applied", { a: "1" })).ok("apply", "--server-side", "-f", "-")).toBe(
      "configmap/applied serverside-applied\n",
    );
    expect(
      await kubectl
        .given(configMap("applied", { a: "2" }))
        .fails("apply", "--server-side", "-f", "-", "--field-manager=rival"),
    ).toContain('Apply failed with 1 conflict: conflict with "kubectl": .data.a\n');
  });

  it("watches", async () => {
    await using watch = kubectl.start("get", "cm", "--watch-only", "-o", "name");
    // A watch that only follows shows no sign of life: changes are made until it has seen one.
    const change = async () => {
      await kubectl.ok("create", "cm", "watched");
      await kubectl.ok("delete", "cm", "watched");
      return watch.stdout();
    };
    await expect.poll(change).toContain("configmap/watched");
  });

  it("finds resources and explains them", async () => {
    expect(await kubectl.ok("api-resources", "--api-group=batch", "-o", "name")).toBe("cronjobs.batch\njobs.batch\n");
    expect(await kubectl.ok("explain", "job.spec.parallelism")).toMatch(/FIELD: +parallelism +<integer>/);
  });
});
