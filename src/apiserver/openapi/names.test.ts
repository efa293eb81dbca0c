import { describe, expect, it } from "vitest";
import { customTypeName, tagOf, titleOf, withArticle } from "./names.ts";

describe("names", () => {
  it.each([
    { group: "", version: "v1", title: "CoreV1", tag: "core_v1" },
    { group: "apps", version: "v1", title: "AppsV1", tag: "apps_v1" },
    { group: "rbac.authorization.k8s.io", version: "v1", title: "RbacAuthorizationV1", tag: "rbacAuthorization_v1" },
    {
      group: "stable.example.com",
      version: "v1beta1",
      title: "StableExampleComV1beta1",
      tag: "stableExampleCom_v1beta1",
    },
    { group: "cert-manager.io", version: "v1", title: "CertManagerIoV1", tag: "certManagerIo_v1" },
  ])("of $group $version", ({ group, version, title, tag }) => {
    expect([titleOf(group, version), tagOf(group, version)]).toEqual([title, tag]);
  });

  it("of a custom type begin at the end of its group", () => {
    const gvk = { group: "stable.example.com", version: "v1", kind: "CronTab" };
    expect(customTypeName(gvk)).toBe("com.example.stable.v1.CronTab");
  });

  it.each([
    ["Pod", "a Pod"],
    ["Ingress", "an Ingress"],
    ["Endpoints", "Endpoints"],
  ])("%s → %s", (noun, want) => {
    expect(withArticle(noun)).toBe(want);
  });
});
