/** Everything that kubectl can ask for without changing it: get in its many shapes, and describe. */
import { beforeAll, describe, expect, it } from "vitest";
import { configMap, deployment } from "../support/manifests.ts";
import { table, young } from "../support/table.ts";
import { CommandLine, clusterForFile, tool } from "../support/tools.ts";

const program = tool("kubectl");
const home = clusterForFile();
const kubectl = new CommandLine(program, home);

beforeAll(async () => {
  if (program === undefined) return;
  const objects = [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } },
    configMap("blue", { a: "1", b: "2" }, { color: "blue", set: "own", tier: "front" }),
    configMap("red", { a: "9" }, { color: "red", set: "own" }),
    configMap("plain", {}, { set: "own" }),
    deployment("web", "nginx:1", { replicas: 2 }),
    { ...configMap("blue", {}), metadata: { name: "blue", namespace: "team", labels: { set: "own" } } },
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "key" },
      stringData: { word: "open" },
      type: "example.com/key",
    },
  ];
  await kubectl.given(...objects).ok("create", "-f", "-");
  await kubectl.ok("wait", "deploy/web", "--for=jsonpath={.status.updatedReplicas}=2");
});

describe.skipIf(program === undefined)("kubectl get", () => {
  it("as a table that the server makes", async () => {
    expect(table(await kubectl.ok("get", "configmaps", "-l", "set"))).toEqual([
      ["NAME", "DATA", "AGE"],
      ["blue", "2", young],
      ["plain", "0", young],
      ["red", "1", young],
    ]);
    expect(table(await kubectl.ok("get", "ns", "default", "team"))).toEqual([
      ["NAME", "STATUS", "AGE"],
      ["default", "Active", young],
      ["team", "Active", young],
    ]);
    expect(table(await kubectl.ok("get", "deploy/web"))).toEqual([
      ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"],
      ["web", "0/2", "2", "0", young],
    ]);
  });

  it("with more columns", async () => {
    expect(table(await kubectl.ok("get", "deployments", "-o", "wide"))).toEqual([
      ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE", "CONTAINERS", "IMAGES", "SELECTOR"],
      ["web", "0/2", "2", "0", young, "web", "nginx:1", "app=web"],
    ]);
    expect(table(await kubectl.ok("get", "cm", "blue", "--show-labels"))[1]?.at(-1)).toBe(
      "color=blue,set=own,tier=front",
    );
    expect(table(await kubectl.ok("get", "cm", "-l", "set", "-L", "tier")).map((row) => row.at(-1))).toEqual([
      "TIER",
      "front",
      "",
      "",
    ]);
  });

  it("of several resources, each with its own table", async () => {
    expect(await kubectl.ok("get", "deploy,secret")).toMatch(
      /^NAME +READY .*\ndeployment\.apps\/web +0\/2 .*\n\nNAME +TYPE +DATA +AGE\nsecret\/key +example\.com\/key +1 .*\n$/,
    );
  });

  it("in all namespaces", async () => {
    expect(table(await kubectl.ok("get", "cm", "-A", "-l", "set"))).toEqual([
      ["NAMESPACE", "NAME", "DATA", "AGE"],
      ["default", "blue", "2", young],
      ["default", "plain", "0", young],
      ["default", "red", "1", young],
      ["team", "blue", "0", young],
    ]);
  });

  it("every resource that can be listed", async () => {
    const listable = await kubectl.ok("api-resources", "--verbs=list", "-o", "name");
    const resources = listable.trim().split("\n").join(",");
    const { code, stderr } = await kubectl.run("get", resources, "-A", "--ignore-not-found");
    expect(stderr.split("\n").filter((line) => line !== "" && !/^Warning: v1 \w+ is deprecated/.test(line))).toEqual(
      [],
    );
    expect(code).toBe(0);
  });

  const one: { name: string; args: string[]; says: string }[] = [
    { name: "name", args: ["cm", "-l", "set", "-o", "name"], says: "configmap/blue\nconfigmap/plain\nconfigmap/red\n" },
    { name: "jsonpath", args: ["cm", "blue", "-o", "jsonpath={.data.a} {.metadata.labels.tier}"], says: "1 front" },
    {
      name: "jsonpath over a list",
      args: ["cm", "-l", "set", "-o", 'jsonpath={range .items[?(@.data.a)]}{.metadata.name}={.data.a}{"\\n"}{end}'],
      says: "blue=1\nred=9\n",
    },
    {
      name: "custom columns",
      args: ["cm", "-l", "set", "-o", "custom-columns=WHO:.metadata.name,A:.data.a"],
      says: "WHO     A\nblue    1\nplain   <none>\nred     9\n",
    },
    { name: "a Go template", args: ["cm", "-l", "set", "-o", "go-template={{len .items}}"], says: "3" },
    {
      name: "sorted by a field",
      args: ["cm", "-l", "color", "--sort-by=.data.a", "-o", "name"],
      says: "configmap/blue\nconfigmap/red\n",
    },
    { name: "equality", args: ["cm", "-l", "color=red", "-o", "name"], says: "configmap/red\n" },
    {
      name: "inequality",
      args: ["cm", "-l", "set,color!=red", "-o", "name"],
      says: "configmap/blue\nconfigmap/plain\n",
    },
    {
      name: "sets and presence",
      args: ["cm", "-l", "color in (red,blue),!tier", "-o", "name"],
      says: "configmap/red\n",
    },
    {
      name: "a field selector",
      args: ["cm", "-l", "set", "--field-selector", "metadata.name!=red", "-o", "name"],
      says: "configmap/blue\nconfigmap/plain\n",
    },
    {
      name: "a field selector of the kind",
      args: ["secret", "--field-selector", "type=example.com/key", "-o", "name"],
      says: "secret/key\n",
    },
    { name: "nothing that fits", args: ["cm", "-l", "color=green", "--ignore-not-found"], says: "" },
  ];
  it.each(one)("$name", async ({ args, says }) => {
    expect(await kubectl.ok("get", ...args)).toBe(says);
  });

  it("as YAML, with managedFields only when asked for", async () => {
    expect(await kubectl.ok("get", "cm", "red", "-o", "yaml")).toMatch(
      /^apiVersion: v1\ndata:\n {2}a: "9"\nkind: ConfigMap\nmetadata:\n {2}creationTimestamp: "[^"]+"\n {2}labels:\n {4}color: red\n {4}set: own\n {2}name: red\n {2}namespace: default\n {2}resourceVersion: "\d+"\n {2}uid: .+\n$/,
    );
    expect(await kubectl.json("get", "cm", "red", "--show-managed-fields")).toMatchObject({
      metadata: {
        managedFields: [
          {
            manager: "kubectl-create",
            operation: "Update",
            fieldsV1: { "f:data": { ".": {}, "f:a": {} }, "f:metadata": { "f:labels": { ".": {}, "f:color": {} } } },
          },
        ],
      },
    });
  });

  it("in pages", async () => {
    const { stdout, stderr } = await kubectl.run("get", "cm", "-l", "set", "--chunk-size=1", "-o", "name", "-v=6");
    expect(stdout).toBe("configmap/blue\nconfigmap/plain\nconfigmap/red\n");
    expect(stderr.match(/configmaps\?(continue=[^ ]+&)?labelSelector=set&limit=1" status="200 OK"/g)).toHaveLength(3);
  });

  it("as raw paths", async () => {
    expect(JSON.parse(await kubectl.ok("get", "--raw", "/api/v1/namespaces/default/configmaps/red"))).toMatchObject({
      kind: "ConfigMap",
      data: { a: "9" },
    });
    expect(await kubectl.ok("get", "--raw", "/readyz")).toBe("ok");
    expect(await kubectl.fails("get", "--raw", "/no/such/path")).toBe(
      "Error from server (NotFound): the server could not find the requested resource\n",
    );
  });

  it("the subresources status and scale", async () => {
    expect(await kubectl.ok("get", "deploy", "web", "--subresource=status", "-o", "name")).toBe(
      "deployment.apps/web\n",
    );
    expect(await kubectl.json("get", "deploy", "web", "--subresource=scale")).toMatchObject({
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      spec: { replicas: 2 },
      status: { replicas: 2, selector: "app=web" },
    });
  });

  const refused: { name: string; args: string[]; says: string }[] = [
    {
      name: "an object that is not there",
      args: ["deploy", "nobody"],
      says: 'Error from server (NotFound): deployments.apps "nobody" not found\n',
    },
    {
      name: "a resource that is not there",
      args: ["gadgets"],
      says: 'error: the server doesn\'t have a resource type "gadgets"\n',
    },
    {
      name: "an unknown field selector",
      args: ["cm", "--field-selector", "data.a=1"],
      says:
        'Error from server (BadRequest): Unable to find "/v1, Resource=configmaps" that match label selector "", ' +
        'field selector "data.a=1": "data.a" is not a known field selector: only "metadata.name", "metadata.namespace"\n',
    },
  ];
  it.each(refused)("$name", async ({ args, says }) => {
    expect(await kubectl.fails("get", ...args)).toBe(says);
  });
});

describe.skipIf(program === undefined)("kubectl describe", () => {
  it("a ConfigMap", async () => {
    expect(await kubectl.ok("describe", "cm", "blue")).toBe(
      "Name:         blue\nNamespace:    default\nLabels:       color=blue\n              set=own\n              tier=front\nAnnotations:  <none>\n\n" +
        "Data\n====\na:\n----\n1\n\nb:\n----\n2\n\n\nBinaryData\n====\n\nEvents:  <none>\n",
    );
  });

  it("a Deployment", async () => {
    const text = await kubectl.ok("describe", "deployment", "web");
    expect(text).toContain("Selector:               app=web\nReplicas:               2 desired | 2 updated | 2 total");
    expect(text).toContain("RollingUpdateStrategy:  25% max unavailable, 25% max surge\n");
    expect(text).toContain("Image:         nginx:1\n    Port:          80/TCP\n");
  });

  it("the events about an object", async () => {
    const uid = await kubectl.ok("get", "cm", "red", "-o", "jsonpath={.metadata.uid}");
    const event = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "red.1" },
      type: "Warning",
      reason: "TooRed",
      message: "it hurts the eyes",
      source: { component: "painter" },
      involvedObject: { apiVersion: "v1", kind: "ConfigMap", name: "red", namespace: "default", uid },
    };
    await kubectl.given(event).ok("create", "-f", "-");
    expect(await kubectl.ok("describe", "cm", "red")).toMatch(
      /Warning +TooRed +<unknown> +painter +it hurts the eyes\n/,
    );
    expect(await kubectl.ok("events", "--for", "configmap/red")).toMatch(/Warning +TooRed +ConfigMap\/red +it hurts/);
  });
});
