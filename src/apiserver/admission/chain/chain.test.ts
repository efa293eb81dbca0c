import { describe, expect, it } from "vitest";
import type { KubeObject } from "#api";
import type { AdmissionAttributes } from "../../rest/server-context.ts";
import { ADMIN, resourceOf } from "../testing/index.ts";
import { admissionChain, isAbout } from "./chain.ts";
import { type AdmissionPlugin, type ClusterView, type Operation, rule } from "./plugin.ts";

const rows: {
  pattern: string;
  resource: string;
  operation?: Operation;
  scope?: "Namespaced" | "Cluster";
  is: boolean;
}[] = [
  { pattern: "pods", resource: "pods", is: true },
  { pattern: "pods", resource: "pods/status", is: false },
  { pattern: "pods", resource: "nodes", is: false },
  { pattern: "pods", resource: "pods", operation: "DELETE", is: false },
  { pattern: "pods/status", resource: "pods/status", is: true },
  { pattern: "pods/*", resource: "pods/exec", is: true },
  { pattern: "pods/*", resource: "pods", is: false },
  { pattern: "leases.coordination.k8s.io", resource: "leases.coordination.k8s.io", is: true },
  { pattern: "leases", resource: "leases.coordination.k8s.io", is: false },
  { pattern: "*", resource: "secrets", is: true },
  { pattern: "*", resource: "pods/status", is: false },
  { pattern: "*/*", resource: "pods/status", is: true },
  { pattern: "*/*", resource: "secrets", is: true },
  { pattern: "*", resource: "nodes", scope: "Namespaced", is: false },
  { pattern: "*", resource: "secrets", scope: "Namespaced", is: true },
];

describe("isAbout", () => {
  it.each(rows)(
    "$pattern, $resource $operation $scope: $is",
    ({ pattern, resource, operation = "CREATE", scope, is }) => {
      const [name = "", subresource = ""] = resource.split("/");
      const asked = rule("CREATE UPDATE", pattern, () => {}, { scope });
      expect(isAbout(asked, resourceOf(name).kind, subresource, operation)).toBe(is);
    },
  );
});

const view = {} as ClusterView;

function attributes(resource = "pods"): AdmissionAttributes {
  const object = { metadata: { name: "x" }, trail: [] } as unknown as KubeObject;
  return {
    operation: "CREATE",
    resource: resourceOf(resource),
    subresource: "",
    namespace: "a",
    name: "x",
    user: ADMIN,
    dryRun: false,
    object,
    warn: () => {},
    annotate: () => {},
  };
}

function trail({ object }: AdmissionAttributes): string[] {
  return (object as unknown as { trail: string[] }).trail;
}

function plugin(name: string, waits: boolean): AdmissionPlugin {
  const note = (what: string) => (asked: AdmissionAttributes) => {
    if (!waits) return void trail(asked).push(what);
    return Promise.resolve().then(() => void trail(asked).push(what));
  };
  return {
    name,
    mutates: [rule("CREATE", "pods", note(`${name} mutates`))],
    validates: [rule("CREATE", "pods", note(name))],
  };
}

describe("the chain", () => {
  it("runs in order, whether plugins wait or not", async () => {
    const chain = admissionChain([plugin("a", false), plugin("b", true), plugin("c", false)], view);
    const asked = attributes();
    await chain.mutate(asked);
    await chain.validate(asked);
    expect(trail(asked)).toEqual(["a mutates", "b mutates", "c mutates", "a", "b", "c"]);
  });

  it("waits for nothing where nobody does, and costs nothing where nobody cares", () => {
    const chain = admissionChain([plugin("a", false)], view);
    expect([chain.mutate(attributes()), chain.mutate(attributes("secrets"))]).toEqual([undefined, undefined]);
  });

  it("tells a witness who is asked, and when each has answered", async () => {
    const told: string[] = [];
    const witness = {
      asked: (owners: readonly string[]) => told.push(`asked ${owners}`),
      passed: () => told.push("passed"),
      refused: (plugin: string) => told.push(`refused ${plugin}`),
      calls: () => () => {},
      wrote: () => {},
    };
    const waits: AdmissionPlugin = { name: "waits", mutates: [rule("CREATE", "pods", async () => {})] };
    const plain: AdmissionPlugin = { name: "plain", mutates: [rule("CREATE", "pods", () => {})] };
    const refuses: AdmissionPlugin = {
      name: "refuses",
      validates: [
        rule("CREATE", "pods", () => {
          throw new Error("no");
        }),
      ],
    };
    const chain = admissionChain([plain, waits, refuses], view);
    await chain.mutate({ ...attributes(), witness });
    expect(() => chain.validate({ ...attributes(), witness })).toThrow("no");
    expect(told).toEqual(["asked plain,waits", "passed", "passed", "asked refuses", "refused refuses"]);
  });

  it("ends with the first that refuses", async () => {
    const refuses: AdmissionPlugin = {
      name: "no",
      mutates: [
        rule("CREATE", "pods", () => {
          throw new Error("no");
        }),
      ],
    };
    const chain = admissionChain([plugin("a", true), refuses, plugin("b", false)], view);
    const asked = attributes();
    await expect(chain.mutate(asked)).rejects.toThrow("no");
    expect(trail(asked)).toEqual(["a mutates"]);
  });
});
