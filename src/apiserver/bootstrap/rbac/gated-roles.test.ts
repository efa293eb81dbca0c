import { describe, expect, it } from "vitest";
import { parseFeatures } from "#api";
import { gatedRoles } from "./gated-roles.ts";
import { nodeRules, rbacObjects } from "./index.ts";

const named = (gates: readonly string[]) =>
  rbacObjects((gate) => gates.includes(gate)).map(({ plural, object: { metadata } }) =>
    [plural, metadata.namespace, metadata.name].filter((each) => each !== undefined).join(" "),
  );
const usual = new Set(named([]));

const CERTIFICATES = ["certificates.k8s.io"];
const READ = ["get", "list", "watch"];

describe("roles behind feature gates", () => {
  it.each([
    {
      gate: "ClusterTrustBundle",
      roles: [
        "system:cluster-trust-bundle-discovery",
        "system:controller:kube-apiserver-serving-clustertrustbundle-publisher",
      ],
      node: [{ verbs: READ, apiGroups: CERTIFICATES, resources: ["clustertrustbundles"] }],
    },
    {
      gate: "PodCertificateRequest",
      roles: ["system:controller:podcertificaterequestcleaner"],
      node: [{ verbs: ["create", ...READ], apiGroups: CERTIFICATES, resources: ["podcertificaterequests"] }],
    },
    { gate: "GenericWorkload", roles: ["system:controller:podgroup-protection-controller"], node: [] },
    { gate: "WorkloadWithJob", roles: [], node: [] },
    { gate: "StorageVersionAPI", roles: ["system:controller:storage-version-garbage-collector"], node: [] },
    { gate: "StorageVersionMigrator", roles: ["system:controller:storage-version-migrator-controller"], node: [] },
  ])("$gate: its roles, their bindings, and the rules of nodes", ({ gate, roles, node }) => {
    const added = named([gate]).filter((name) => !usual.has(name));
    expect(added.sort()).toEqual(
      [...roles.map((role) => `clusterrolebindings ${role}`), ...roles.map((role) => `clusterroles ${role}`)].sort(),
    );
    const all = nodeRules((each) => each === gate);
    expect(all.slice(nodeRules().length)).toEqual(node);
    expect(all.slice(0, nodeRules().length)).toEqual(nodeRules());
  });

  it("add rules to roles that are always there", () => {
    const rulesOf = (name: string, gates: readonly string[]) =>
      rbacObjects((gate) => gates.includes(gate)).flatMap(({ object }) =>
        object.metadata.name === name && "rules" in object ? (object.rules as readonly unknown[]) : [],
      );
    for (const [name, gate] of [
      ["system:kube-scheduler", "GenericWorkload"],
      ["system:controller:job-controller", "WorkloadWithJob"],
    ] as const) {
      expect(rulesOf(name, [gate])).toContainEqual(
        expect.objectContaining({ apiGroups: ["scheduling.k8s.io"], resources: expect.arrayContaining(["podgroups"]) }),
      );
      expect(rulesOf(name, [])).toEqual(rulesOf(name, [gate]).slice(0, rulesOf(name, []).length));
    }
  });

  it("have no name that another role has", () => {
    const all = named(gatedRoles.map(({ gate }) => gate));
    expect(new Set(all).size).toBe(all.length);
  });

  it("name gates that exist, and are off by default", () => {
    const { enabled } = parseFeatures({});
    expect(gatedRoles.map(({ gate }) => enabled(gate))).toEqual(gatedRoles.map(() => false));
    expect(rbacObjects(enabled)).toHaveLength(usual.size);
  });

  it("the discovery of trust bundles is for all service accounts; the publisher attests for its signer alone", () => {
    const objects = rbacObjects((gate) => gate === "ClusterTrustBundle").map(({ object }) => object);
    const of = (kind: "rules" | "subjects", name: string) =>
      objects.find((object) => object.metadata.name === name && kind in object);
    expect(of("subjects", "system:cluster-trust-bundle-discovery")).toMatchObject({
      subjects: [{ kind: "Group", name: "system:serviceaccounts" }],
    });
    expect(of("rules", "system:controller:kube-apiserver-serving-clustertrustbundle-publisher")).toMatchObject({
      rules: expect.arrayContaining([
        {
          verbs: ["attest"],
          apiGroups: CERTIFICATES,
          resources: ["signers"],
          resourceNames: ["kubernetes.io/kube-apiserver-serving"],
        },
      ]),
    });
  });
});
