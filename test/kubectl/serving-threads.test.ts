/** A cluster whose API server is three threads: each kubectl is another connection, and may reach another thread. */
import { describe, expect, it } from "vitest";
import { CommandLine, clusterForFile, tool } from "../support/tools.ts";

const program = tool("kubectl");
const home = clusterForFile("--serving-threads", "3");
const kubectl = new CommandLine(program, home);

const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "lamps.example.com" },
  spec: {
    group: "example.com",
    names: { kind: "Lamp", plural: "lamps" },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: { spec: { type: "object", properties: { on: { type: "boolean" } } } },
          },
        },
      },
    ],
  },
};
const lamp = (name: string) => ({ apiVersion: "example.com/v1", kind: "Lamp", metadata: { name }, spec: { on: true } });

describe.skipIf(program === undefined)("an API server of three threads", () => {
  it("shows every command what those before it did", async () => {
    for (let i = 0; i < 6; i++) {
      const name = `c${i}`;
      await kubectl.ok("create", "configmap", name, "--from-literal=a=1");
      expect(await kubectl.ok("get", "configmap", name, "-o", "jsonpath={.data.a}")).toBe("1");
      await kubectl.ok("patch", "configmap", name, "--type=merge", "-p", '{"data":{"a":"2"}}');
      expect(await kubectl.ok("get", "configmap", name, "-o", "jsonpath={.data.a}")).toBe("2");
      await kubectl.ok("delete", "configmap", name);
      expect(await kubectl.fails("get", "configmap", name)).toContain("NotFound");
    }
  });

  it("serves a custom resource on all threads once it is established", async () => {
    await kubectl.given(definition).ok("create", "-f", "-");
    await kubectl.ok("wait", "--for=condition=Established", "crd/lamps.example.com");
    for (let i = 0; i < 6; i++) await kubectl.given(lamp(`l${i}`)).ok("create", "-f", "-");
    expect((await kubectl.ok("get", "lamps", "-o", "name")).trim().split("\n")).toHaveLength(6);
  });

  it("gives every Service an address of its own", async () => {
    await Promise.all(
      Array.from({ length: 6 }, (_, i) => kubectl.ok("create", "service", "clusterip", `s${i}`, "--tcp=80")),
    );
    const addresses = await kubectl.ok("get", "services", "-o", "jsonpath={.items[*].spec.clusterIP}");
    expect(new Set(addresses.split(" ")).size).toBe(7);
  });

  it("is ready, and tells metrics and flows of all threads", async () => {
    expect(await kubectl.ok("get", "--raw", "/readyz")).toBe("ok");
    const created = async () => {
      const text = await kubectl.ok("get", "--raw", "/metrics");
      const lines = text.split("\n").filter((line) => /^apiserver_request_total\{(?=.*"lamps").*"POST"/.test(line));
      return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
    };
    expect([await created(), await created(), await created()]).toEqual([6, 6, 6]);
    const recorded = async () => {
      const lines = (await kubectl.ok("get", "--raw", "/k8ts/flows")).split("\n");
      return lines.filter((line) => line.includes('"verb":"create"') && /"name":"l\d"/.test(line)).length;
    };
    await expect.poll(recorded).toBe(6);
  });
});
