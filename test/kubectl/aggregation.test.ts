/**
 * An API server behind the cluster's own, as kubectl sees it: in lists of what there is, in what it serves, and when it
 * is gone.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type ExtensionServer,
  extensionServer,
  GROUP,
  NAME,
  VERSION,
} from "../../src/apiserver/aggregation/testing/index.ts";
import { CommandLine, clusterForFile, tool } from "../support/tools.ts";

/** However busy the machine is. */
const eventually = <T>(read: () => T) => expect.poll(read, { interval: 20 });

const program = tool("kubectl");
const home = clusterForFile();
const kubectl = new CommandLine(program, home);

describe.skipIf(program === undefined)("kubectl and an extension API server", () => {
  let extension: ExtensionServer;
  beforeAll(async () => {
    const frontProxyCa = readFileSync(join(home().dataDir, "pki", "front-proxy-ca.crt"), "utf8");
    extension = await extensionServer({ frontProxyCa });
    const { port, caBundle } = extension;
    const service = { name: "wardle", namespace: "default" };
    await kubectl
      .given(
        {
          apiVersion: "v1",
          kind: "Service",
          metadata: service,
          spec: { type: "ExternalName", externalName: "localhost" },
        },
        {
          apiVersion: "apiregistration.k8s.io/v1",
          kind: "APIService",
          metadata: { name: NAME },
          spec: {
            ...{ group: GROUP, version: VERSION, groupPriorityMinimum: 1000, versionPriority: 15, caBundle },
            service: { ...service, port },
          },
        },
      )
      .ok("apply", "-f", "-");
    await kubectl.ok("wait", "--for=condition=Available", `apiservice/${NAME}`, "--timeout=30s");
  });
  afterAll(() => extension?.close());

  it("shows it among the APIServices", async () => {
    const [, ...rows] = (await kubectl.ok("get", "apiservices")).trim().split("\n");
    expect(rows.find((row) => row.startsWith("v1.apps "))).toMatch(/^v1\.apps +Local +True /);
    expect(rows.find((row) => row.startsWith(NAME))).toMatch(/^v1alpha1\.wardle\.example\.com +default\/wardle +True /);
  });

  it("finds its resources, by all their names", async () => {
    await eventually(() => kubectl.ok("api-resources", "--api-group", GROUP, "--no-headers")).toMatch(
      /^flunders +fl +wardle\.example\.com\/v1alpha1 +true +Flunder$/m,
    );
    expect(await kubectl.ok("get", "fl", "--no-headers")).toBe("first\n");
    expect(await kubectl.ok("get", "flunders", "first", "-o", "name")).toBe(`flunder.${GROUP}/first\n`);
    expect(await kubectl.ok("explain", "flunders")).toContain(`GROUP:      ${GROUP}`);
  });

  it("follows a watch through both servers", async () => {
    await using watching = kubectl.start("get", "--raw", `/apis/${GROUP}/${VERSION}/flunders?watch=1`);
    await watching.printed('"type":"ADDED"');
    extension.emit({ type: "MODIFIED", object: {} });
    await watching.printed('"type":"MODIFIED"');
  });

  it("asks for nothing that may not be asked", async () => {
    expect(await kubectl.fails("get", "flunders", "--as=jane")).toContain(
      `User "jane" cannot list resource "flunders" in API group "${GROUP}"`,
    );
  });

  it("says that it is gone, and goes on with everything else", async () => {
    await kubectl.ok("delete", "service", "wardle");
    await kubectl.ok("wait", "--for=condition=Available=False", `apiservice/${NAME}`, "--timeout=30s");
    expect(await kubectl.fails("get", "--raw", `/apis/${GROUP}/${VERSION}/flunders`)).toContain("ServiceUnavailable");
    expect(await kubectl.fails("get", "flunders")).toContain("the server is currently unable to handle the request");
    // What is stale is not offered any more.
    const offered = await kubectl.ok("api-resources");
    expect([offered.includes("flunders"), offered.includes("configmaps")]).toEqual([false, true]);
    expect(await kubectl.ok("get", "namespaces", "-o", "name")).toContain("namespace/default");
    expect(await kubectl.ok("get", "apiservice", NAME, "--no-headers")).toContain("False (ServiceNotFound)");
    await kubectl.ok("delete", "apiservice", NAME);
    expect(await kubectl.fails("get", "--raw", `/apis/${GROUP}/${VERSION}/flunders`)).toContain("NotFound");
  });
});
