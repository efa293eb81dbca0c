import { describe, expect, it } from "vitest";
import { goJson } from "../machinery/json/go-text.ts";
import type { Json } from "../machinery/json/json.ts";
import { decode } from "../machinery/schema/decode.ts";
import { internalField, internalForm, storedForm, typeNames, typeSchema } from "./index.ts";
import { internalFields } from "./internal-types.ts";

describe("a value in its internal Go type", () => {
  it.each<[string, string, object | undefined, string]>([
    ["has Go's names and every field", "rbac.v1.RoleRef", { kind: "Role" }, '{"APIGroup":"","Kind":"Role","Name":""}'],
    ["is null where there is none", "rbac.v1.RoleRef", undefined, "null"],
    [
      "has null for nil pointers and lists",
      "batch.v1.SuccessPolicy",
      { rules: [{}] },
      '{"Rules":[{"SucceededIndexes":null,"SucceededCount":null}]}',
    ],
    [
      "prints abbreviations as Go spells them",
      "core.v1.ObjectReference",
      { uid: "u", apiVersion: "v1" },
      '{"Kind":"","Namespace":"","Name":"","UID":"u","APIVersion":"v1","ResourceVersion":"","FieldPath":""}',
    ],
    [
      "prints types of meta/v1 as JSON, embedded ones among the fields of the struct",
      "resource.v1.ResourceClaimTemplateSpec",
      { metadata: { labels: { a: "b" } }, spec: { devices: {} } },
      '{"labels":{"a":"b"},"Spec":{"Devices":{"Requests":null,"Constraints":null,"Config":null}}}',
    ],
    [
      "has the fields of embedded structs in place",
      "core.v1.ConfigMapKeySelector",
      { name: "n", key: "k" },
      '{"Name":"n","Key":"k","Optional":null}',
    ],
    [
      "sorts the keys of maps",
      "core.v1.VolumeResourceRequirements",
      { requests: { b: "1", a: "2" } },
      '{"Limits":null,"Requests":{"a":"2","b":"1"}}',
    ],
    [
      "has plain values where the API has pointers",
      "core.v1.ServiceAccountTokenProjection",
      { path: "p" },
      '{"Audience":"","ExpirationSeconds":0,"Path":"p"}',
    ],
  ])("%s", (_, type, value, want) => expect(goJson(internalForm(type, value))).toBe(want));

  it.each([
    ["sent", '{"Limits":{},"Requests":null}'],
    ["stored", '{"Limits":null,"Requests":null}'],
  ] as const)("has what was sent empty: %s", (source, want) => {
    const type = "core.v1.VolumeResourceRequirements";
    const { value } = decode(typeSchema(`io.k8s.api.${type}`), { limits: {} });
    expect(goJson(source === "sent" ? internalForm(type, value as object) : storedForm(type, value as object))).toBe(
      want,
    );
  });

  it("has the host's namespaces of a pod in its security context", () => {
    const { SecurityContext: context } = internalForm("core.v1.PodSpec", { hostNetwork: true }) as Record<string, Json>;
    expect(Object.entries(context as object).slice(0, 6)).toEqual([
      ["HostNetwork", true],
      ["HostPID", false],
      ["HostIPC", false],
      ["ShareProcessNamespace", null],
      ["HostUsers", null],
      ["SELinuxOptions", null],
    ]);
  });

  it.each<[string, string, Parameters<typeof internalField>[2], Json]>([
    ["storage.v1.StorageClass", "provisioner", undefined, ""],
    ["storage.v1.StorageClass", "volumeBindingMode", undefined, null],
    ["core.v1.Event", "source", undefined, { Component: "", Host: "" }],
    ["core.v1.Event", "related", undefined, null],
    ["core.v1.Event", "source", { host: "h" }, { Component: "", Host: "h" }],
  ])("of %s.%s %#", (type, name, value, want) => expect(internalField(type, name, value)).toEqual(want));

  it("exists for every type of the API", () => {
    for (const type of typeNames().filter((name) => name.startsWith("io.k8s.api."))) {
      expect(() => internalForm(type.replace("io.k8s.api.", ""), {})).not.toThrow();
    }
  });

  it("leaves out no field by mistake", () => {
    const known = new Set(["core.v1.NodeSpec.podCIDR", "core.v1.PodSpec.serviceAccount"]);
    for (const type of typeNames()) {
      const internal = internalFields(type);
      if (internal === undefined) continue;
      const named = new Set(internal.flatMap(({ name, moved }) => [name, ...moved]));
      const missing = [...typeSchema(type).fields.keys()]
        .filter((name) => !named.has(name))
        .map((name) => `${type.replace("io.k8s.api.", "")}.${name}`);
      expect(missing.filter((name) => !known.has(name))).toEqual([]);
    }
  });
});
