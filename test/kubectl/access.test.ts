/** Who one is, what one may do, and roles as kubectl brings them about. */
import { describe, expect, it } from "vitest";
import { CommandLine, clusterForFile, tool } from "../support/tools.ts";

const program = tool("kubectl");
const home = clusterForFile();
const kubectl = new CommandLine(program, home);

describe.skipIf(program === undefined)("kubectl auth", () => {
  it("whoami", async () => {
    expect(await kubectl.ok("auth", "whoami")).toMatch(
      /^ATTRIBUTE +VALUE\nUsername +kubernetes-admin\nGroups +\[system:masters system:authenticated\]\n/,
    );
  });

  it("can-i", async () => {
    expect(await kubectl.ok("auth", "can-i", "delete", "nodes")).toBe("yes\n");
    expect(await kubectl.ok("auth", "can-i", "--list")).toMatch(/^\*\.\* +\[\] +\[\] +\[\*\]$/m);
  });

  it("reconcile adds what a role lacks and keeps what it has more", async () => {
    const role = (...verbs: string[]) => ({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata: { name: "grown", namespace: "default" },
      rules: [{ apiGroups: [""], resources: ["pods"], verbs }],
    });
    const reconcile = (...verbs: string[]) => kubectl.given(role(...verbs)).ok("auth", "reconcile", "-f", "-");
    expect(await reconcile("get")).toMatch(/^role\.rbac\.authorization\.k8s\.io\/grown reconciled\n/);
    await reconcile("list");
    expect(await kubectl.ok("get", "role", "grown", "-o", "jsonpath={.rules[*].verbs}")).toBe('["get"] ["list"]');
  });
});
