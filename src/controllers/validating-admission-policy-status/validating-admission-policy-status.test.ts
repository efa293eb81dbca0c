import { existsSync, readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { type admissionregistration, kinds, serviceUnavailable } from "#api";
import { definition } from "../../apiserver/custom-resources/testing/index.ts";
import { type TestControllers, testControllers } from "../testing/index.ts";
import { validatingAdmissionPolicyStatus } from "./index.ts";

type Policy = admissionregistration.ValidatingAdmissionPolicy;

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function running(): Promise<TestControllers> {
  const cluster = await testControllers([validatingAdmissionPolicyStatus]);
  open.push(() => cluster.close());
  return cluster;
}

function policy(expression: string, rule: object = {}, spec: object = {}): Policy {
  const resourceRules = [
    { apiGroups: ["apps"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["deployments"], ...rule },
  ];
  return {
    metadata: { name: "p" },
    spec: { matchConstraints: { resourceRules }, validations: [{ expression }], ...spec },
  } as Policy;
}

async function statusOf({ client, settle }: TestControllers, given: Policy) {
  const policies = client.of(kinds.ValidatingAdmissionPolicy);
  await policies.create(given);
  await settle();
  return (await policies.get("p")).status;
}

describe("the status of a policy", () => {
  it("says that it was looked at", async () => {
    expect(await statusOf(await running(), policy("object.spec.replicas > 1"))).toEqual({
      observedGeneration: 1,
      typeChecking: {},
    });
  });

  it("says what is wrong, and no more when that is put right", async () => {
    const cluster = await running();
    const status = await statusOf(cluster, policy("object.spec.nosuch == 1"));
    expect(status?.typeChecking?.expressionWarnings?.[0]?.warning).toContain("undefined field 'nosuch'");
    const policies = cluster.client.of(kinds.ValidatingAdmissionPolicy);
    const { metadata } = await policies.get("p");
    await policies.update({ ...policy("true"), metadata });
    await cluster.settle();
    expect((await policies.get("p")).status).toEqual({ observedGeneration: 2, typeChecking: {} });
  });

  it("knows kinds that users define", async () => {
    const cluster = await running();
    const properties = { spec: { type: "object", properties: { size: { type: "integer" } } } };
    await cluster.client
      .of(kinds.CustomResourceDefinition)
      .create(
        definition({ versions: [{ name: "v1", storage: true, schema: { type: "object", properties } }] }) as never,
      );
    await cluster.settle();
    const rule = { apiGroups: ["example.com"], resources: ["widgets"] };
    const paramKind = { apiVersion: "example.com/v1", kind: "Widget" };
    const expression = "object.spec.size == params.spec.length && object.metadata.labels['a'] == ''";
    const status = await statusOf(cluster, policy(expression, rule, { paramKind }));
    const warnings = status?.typeChecking?.expressionWarnings?.map(({ warning }) => warning.split("\n")[0]);
    expect(warnings).toEqual(["example.com/v1, Kind=Widget: ERROR: <input>:1:32: undefined field 'length'"]);
  });

  it.each([{ apiGroups: ["nowhere.example.com"] }, { resources: ["nothings"] }, { apiGroups: ["*"] }])(
    "passes over what it does not know: %j",
    async (rule) => {
      expect(await statusOf(await running(), policy("object.anything == 1", rule))).toMatchObject({ typeChecking: {} });
    },
  );

  it("comes after faults, and is written once", async () => {
    const cluster = await running();
    let faults = 3;
    cluster.refuse(({ method }) => (method === "PUT" && faults-- > 0 ? serviceUnavailable("busy") : undefined));
    await statusOf(cluster, policy("true"));
    await cluster.clock.advance(3_600_000);
    await cluster.settle();
    const { status } = await cluster.client.of(kinds.ValidatingAdmissionPolicy).get("p");
    expect([status?.observedGeneration, cluster.writes()]).toEqual([1, 4]);
  });

  const golden = new URL("../../../../shared/oracle/golden/vap-status.json", import.meta.url);
  it.skipIf(!existsSync(golden))("is that of the original", async () => {
    const read = (path: string) => JSON.parse(readFileSync(new URL(path, golden), "utf8").replaceAll("{ns}", "ns"));
    const [given] = read("../cases/vap-status.json").steps;
    const want = read("vap-status.json").steps[1].body["/status"];
    expect(await statusOf(await running(), { ...given.body, metadata: { name: "p" } })).toEqual(want);
  });
});
