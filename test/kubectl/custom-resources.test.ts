/** kubectl on kinds that users define: as if they had always been there. */
import { beforeAll, describe, expect, it } from "vitest";
import { table, young } from "../support/table.ts";
import { CommandLine, clusterForFile, tool } from "../support/tools.ts";

const program = tool("kubectl");
const home = clusterForFile();
const kubectl = new CommandLine(program, home);

const integer = (description: string) => ({ type: "integer", description });
const schema = {
  type: "object",
  description: "A CronTab runs a command now and then.",
  required: ["spec"],
  properties: {
    spec: {
      type: "object",
      properties: {
        cronSpec: { type: "string", description: "When it runs.", pattern: "^\\S+( \\S+){4}$" },
        replicas: integer("How many of it run at once."),
      },
    },
    status: { type: "object", properties: { replicas: integer("How many run."), selector: { type: "string" } } },
  },
};
const version = {
  name: "v1",
  served: true,
  storage: true,
  schema: { openAPIV3Schema: schema },
  subresources: {
    status: {},
    scale: {
      specReplicasPath: ".spec.replicas",
      statusReplicasPath: ".status.replicas",
      labelSelectorPath: ".status.selector",
    },
  },
  additionalPrinterColumns: [
    { name: "Spec", type: "string", jsonPath: ".spec.cronSpec" },
    { name: "Replicas", type: "integer", jsonPath: ".spec.replicas" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
  selectableFields: [{ jsonPath: ".spec.cronSpec" }],
};
const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "crontabs.stable.example.com" },
  spec: {
    group: "stable.example.com",
    scope: "Namespaced",
    names: { plural: "crontabs", singular: "crontab", kind: "CronTab", shortNames: ["ct"], categories: ["all"] },
    versions: [version, { ...version, name: "v1beta1", storage: false, deprecated: true }],
  },
};
const cronTab = (name: string, cronSpec: string, replicas = 1, apiVersion = "stable.example.com/v1") => ({
  apiVersion,
  kind: "CronTab",
  metadata: { name },
  spec: { cronSpec, replicas },
});

beforeAll(async () => {
  if (program === undefined) return;
  await kubectl.given(definition).ok("apply", "-f", "-");
  await kubectl.ok("wait", "--for=condition=Established", "crd/crontabs.stable.example.com", "--timeout=20s");
});

describe.skipIf(program === undefined)("kubectl on a kind that was defined", () => {
  it("api-resources and explain", async () => {
    const found = await kubectl.ok("api-resources", "--api-group=stable.example.com");
    expect(table(found)).toEqual([
      ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"],
      ["crontabs", "ct", "stable.example.com/v1", "true", "CronTab"],
    ]);
    const explained = await kubectl.ok("explain", "crontabs.spec");
    expect(explained).toContain("GROUP:      stable.example.com");
    expect(explained).toMatch(/cronSpec\t<string>\n\s+When it runs\./);
    expect(await kubectl.ok("explain", "ct")).toContain("A CronTab runs a command now and then.");
  });

  it("create, get, watch", async () => {
    await using rows = kubectl.start("get", "ct", "--watch");
    expect(await kubectl.given(cronTab("first", "* * * * */5")).ok("create", "-f", "-")).toBe(
      "crontab.stable.example.com/first created\n",
    );
    expect(table(await kubectl.ok("get", "crontab"))).toEqual([
      ["NAME", "SPEC", "REPLICAS", "AGE"],
      ["first", "* * * * */5", "1", young],
    ]);
    await rows.printed("first");
    expect(await kubectl.ok("get", "all")).toContain("crontab.stable.example.com/first");
    expect(await kubectl.ok("get", "ct", "--field-selector=spec.cronSpec=other", "-o", "name")).toBe("");
    expect(await kubectl.json("get", "crontabs.v1beta1.stable.example.com", "first")).toMatchObject({
      apiVersion: "stable.example.com/v1beta1",
    });
  });

  it("warns of versions that are deprecated", async () => {
    const { stderr } = await kubectl.run("get", "crontabs.v1beta1.stable.example.com");
    expect(stderr).toContain(
      "Warning: stable.example.com/v1beta1 CronTab is deprecated; use stable.example.com/v1 CronTab",
    );
  });

  it("refuses what the schema does not allow", async () => {
    expect(await kubectl.given(cronTab("bad", "never")).fails("create", "-f", "-")).toContain(
      'The CronTab "bad" is invalid: spec.cronSpec: Invalid value: "never": spec.cronSpec in body should match',
    );
    const unknown = { ...cronTab("odd", "* * * * *"), spec: { cronSpec: "* * * * *", nosuch: 1 } };
    expect(await kubectl.given(unknown).fails("create", "-f", "-")).toContain('unknown field "spec.nosuch"');
  });

  it("apply, on the client's side and on the server's", async () => {
    const apply = ["apply", "-f", "-"];
    const named = "crontab.stable.example.com/applied";
    expect(await kubectl.given(cronTab("applied", "1 * * * *")).ok(...apply)).toBe(`${named} created\n`);
    expect(await kubectl.given(cronTab("applied", "1 * * * *")).ok(...apply)).toBe(`${named} unchanged\n`);
    expect(await kubectl.given(cronTab("applied", "2 * * * *")).ok(...apply)).toBe(`${named} configured\n`);
    const server = [...apply, "--server-side", "--field-manager=other"];
    expect(await kubectl.given(cronTab("applied", "3 * * * *")).fails(...server)).toContain(".spec.cronSpec");
    expect(await kubectl.given(cronTab("applied", "3 * * * *")).ok(...server, "--force-conflicts")).toBe(
      `${named} serverside-applied\n`,
    );
  });

  it("patch, scale and the status", async () => {
    await kubectl.given(cronTab("changed", "* * * * *", 2)).ok("create", "-f", "-");
    expect(await kubectl.ok("patch", "ct", "changed", "--type=merge", "-p", '{"spec":{"replicas":3}}')).toBe(
      "crontab.stable.example.com/changed patched\n",
    );
    expect(await kubectl.fails("patch", "ct", "changed", "-p", '{"spec":{"replicas":4}}')).toContain(
      "the body of the request was in an unknown format - accepted media types include: application/json-patch+json",
    );
    expect(await kubectl.ok("scale", "ct/changed", "--replicas=5")).toBe("crontab.stable.example.com/changed scaled\n");
    const status = '{"status":{"replicas":5},"spec":{"replicas":9}}';
    await kubectl.ok("patch", "ct", "changed", "--subresource=status", "--type=merge", "-p", status);
    expect(await kubectl.json("get", "ct", "changed")).toMatchObject({
      metadata: { generation: 3 },
      spec: { replicas: 5 },
      status: { replicas: 5 },
    });
  });

  it("delete, of an object and of the kind with all of its objects", async () => {
    await kubectl.given(cronTab("gone", "* * * * *")).ok("create", "-f", "-");
    expect(await kubectl.ok("delete", "ct", "gone")).toBe(
      'crontab.stable.example.com "gone" deleted from default namespace\n',
    );
    expect(await kubectl.ok("delete", "crd", "crontabs.stable.example.com")).toBe(
      'customresourcedefinition.apiextensions.k8s.io "crontabs.stable.example.com" deleted\n',
    );
    // kubectl may still remember the kind, the server does not.
    expect(await kubectl.fails("get", "crontabs")).toMatch(
      /could not find the requested resource|have a resource type/,
    );
    await kubectl.given(definition).ok("create", "-f", "-");
    await kubectl.ok("wait", "--for=condition=Established", "crd/crontabs.stable.example.com", "--timeout=20s");
    expect(await kubectl.ok("get", "ct", "-o", "name")).toBe("");
  });
});
