/** What kubectl finds out about the server: its version, its resources, its schemas, who one is. */
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { table } from "../support/table.ts";
import { CommandLine, clusterForFile, tool } from "../support/tools.ts";

const program = tool("kubectl");
const home = clusterForFile();
const kubectl = new CommandLine(program, home);

describe.skipIf(program === undefined)("kubectl on the server and its address", () => {
  it("version", async () => {
    expect(await kubectl.json("version")).toMatchObject({
      serverVersion: {
        major: "1",
        minor: "36",
        gitVersion: expect.stringMatching(/^v1\.36\.4\+k8ts\d/),
        platform: expect.any(String),
      },
    });
  });

  it("cluster-info", async () => {
    const plain = stripVTControlCharacters(await kubectl.ok("cluster-info"));
    expect(plain).toContain(`Kubernetes control plane is running at ${home().runState().url}\n`);
  });

  it("config knows the cluster as the context k8ts", async () => {
    expect(await kubectl.ok("config", "current-context")).toBe("k8ts\n");
    expect(table(await kubectl.ok("config", "get-contexts"))).toEqual([
      ["CURRENT", "NAME", "CLUSTER", "AUTHINFO", "NAMESPACE"],
      ["*", "k8ts", "k8ts", "k8ts", ""],
    ]);
    expect(await kubectl.ok("config", "view", "-o", "jsonpath={.clusters[0].cluster.server}")).toBe(
      home().runState().url,
    );
  });
});

describe.skipIf(program === undefined)("kubectl on the server's resources", () => {
  it("api-versions", async () => {
    expect((await kubectl.ok("api-versions")).trim().split("\n")).toEqual([
      "admissionregistration.k8s.io/v1",
      "apiextensions.k8s.io/v1",
      "apiregistration.k8s.io/v1",
      "apps/v1",
      "authentication.k8s.io/v1",
      "authorization.k8s.io/v1",
      "autoscaling/v1",
      "autoscaling/v2",
      "batch/v1",
      "certificates.k8s.io/v1",
      "coordination.k8s.io/v1",
      "discovery.k8s.io/v1",
      "events.k8s.io/v1",
      "flowcontrol.apiserver.k8s.io/v1",
      "networking.k8s.io/v1",
      "node.k8s.io/v1",
      "policy/v1",
      "rbac.authorization.k8s.io/v1",
      "resource.k8s.io/v1",
      "scheduling.k8s.io/v1",
      "storage.k8s.io/v1",
      "v1",
    ]);
  });

  it("api-resources", async () => {
    expect(table(await kubectl.ok("api-resources", "--api-group=apps", "-o", "wide"))).toEqual([
      ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND", "VERBS", "CATEGORIES"],
      ...[
        ["controllerrevisions", "", "ControllerRevision", ""],
        ["daemonsets", "ds", "DaemonSet", "all"],
        ["deployments", "deploy", "Deployment", "all"],
        ["replicasets", "rs", "ReplicaSet", "all"],
        ["statefulsets", "sts", "StatefulSet", "all"],
      ].map(([name, short, kind, category]) => [
        name,
        short,
        "apps/v1",
        "true",
        kind,
        "create,delete,deletecollection,get,list,patch,update,watch",
        category,
      ]),
    ]);
    const clusterWide = (await kubectl.ok("api-resources", "--namespaced=false", "-o", "name")).trim().split("\n");
    expect(clusterWide).toContain("nodes");
    expect(clusterWide).not.toContain("pods");
  });

  it("short names, singulars, kinds and groups all find the resource", async () => {
    for (const name of ["cm", "configmap", "configmaps", "ConfigMap", "configmaps.v1."]) {
      expect([
        name,
        await kubectl.ok("get", name, "-n", "kube-node-lease", "--field-selector=metadata.name=none"),
      ]).toEqual([name, ""]);
    }
    expect(await kubectl.ok("get", "hpa.v1.autoscaling", "--ignore-not-found")).toBe("");
  });
});

describe.skipIf(program === undefined)("kubectl explain", () => {
  it("a resource", async () => {
    const text = await kubectl.ok("explain", "deployments");
    expect(text).toMatch(
      /^GROUP: {6}apps\nKIND: {7}Deployment\nVERSION: {4}v1\n\nDESCRIPTION:\n {4}Deployment enables declarative updates for Pods and\n? *ReplicaSets\.\n/,
    );
    expect(fields(text)).toEqual([
      "apiVersion\t<string>",
      "kind\t<string>",
      "metadata\t<ObjectMeta>",
      "spec\t<DeploymentSpec>",
      "status\t<DeploymentStatus>",
    ]);
  });

  it("a field, with what it holds, what is required and what it may be", async () => {
    const text = await kubectl.ok("explain", "pod.spec.containers.ports");
    expect(text).toContain("FIELD: ports <[]ContainerPort>\n");
    expect(fields(text)).toEqual([
      "containerPort\t<integer> -required-",
      "hostIP\t<string>",
      "hostPort\t<integer>",
      "name\t<string>",
      "protocol\t<string>",
      "enum: SCTP, TCP, UDP",
    ]);
  });

  it("everything below", async () => {
    const text = await kubectl.ok("explain", "deployment", "--recursive");
    for (const line of [
      "      rollingUpdate\t<RollingUpdateDeployment>\n        maxSurge\t<IntOrString>\n        maxUnavailable\t<IntOrString>\n",
      "        containers\t<[]Container> -required-\n          args\t<[]string>\n",
      "          livenessProbe\t<Probe>\n            exec\t<ExecAction>\n              command\t<[]string>\n",
    ]) {
      expect(text).toContain(line);
    }
  });

  it("another version of a resource", async () => {
    expect(await kubectl.ok("explain", "hpa.spec", "--api-version=autoscaling/v1")).toContain(
      "targetCPUUtilizationPercentage\t<integer>",
    );
    expect(await kubectl.ok("explain", "hpa.spec")).toContain("metrics\t<[]MetricSpec>");
  });

  it("what is not there", async () => {
    expect(await kubectl.fails("explain", "cm.nothing")).toBe('error: field "nothing" does not exist\n');
    expect(await kubectl.fails("explain", "gadgets")).toContain('the server doesn\'t have a resource type "gadgets"');
  });
});

function fields(explained: string): string[] {
  const [, listed = ""] = explained.split("FIELDS:\n");
  return listed
    .split("\n")
    .filter((line) => /^ {2}\S/.test(line))
    .map((line) => line.trim());
}
