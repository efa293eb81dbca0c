import { describe, expect, it } from "vitest";
import { reviewedAttributes } from "./attributes.ts";
import { asking, user } from "./testing/questions.ts";

const ann = user("ann");

describe("the selectors of a request", () => {
  it.each([
    { request: "GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn1", want: ["spec.nodeName=n1"] },
    { request: "GET /api/v1/pods?watch=1&fieldSelector=a%3D1,b!%3D2", want: ["a=1", "b!=2"] },
    { request: "DELETE /api/v1/namespaces/ns/pods?fieldSelector=a%3D1", want: ["a=1"] },
    // Only the first counts, for the verbs as for authorization.
    { request: "GET /api/v1/pods?fieldSelector=a%3D1&fieldSelector=b%3D2", want: ["a=1"] },
    { request: "GET /api/v1/namespaces/ns/pods/x?fieldSelector=a%3D1", want: [] },
    { request: "POST /api/v1/namespaces/ns/pods?fieldSelector=a%3D1", want: [] },
    { request: "GET /api/v1/watch/pods?fieldSelector=a%3D1", want: [] },
    { request: "GET //apis//apps/v1//watch/deployments?fieldSelector=a%3D1", want: [] },
    { request: "GET /metrics?fieldSelector=a%3D1", want: [] },
  ])("$request", ({ request, want }) => {
    const { field } = asking(ann, request).selectors;
    expect(field.map((term) => `${term.field}${term.operator}${term.value}`)).toEqual(want);
  });

  it("counts one that cannot be read as none", () => {
    expect(asking(ann, "GET /api/v1/pods?fieldSelector=x&labelSelector=a+in+(").selectors).toMatchObject({
      field: [],
      label: [],
      unreadable: ["fieldSelector", "labelSelector"],
    });
  });

  it("stays when the attributes are copied", () => {
    const copy = { ...asking(ann, "GET /api/v1/pods?labelSelector=a%3Db"), verb: "other" };
    expect(copy.selectors.label).toMatchObject([{ key: "a", values: ["b"] }]);
  });
});

describe("what a review asks", () => {
  it("is about every version if it names none", () => {
    const about = (version?: string) =>
      reviewedAttributes(ann, { resourceAttributes: { verb: "get", ...(version !== undefined && { version }) } });
    expect([about().apiVersion, about("").apiVersion, about("v1").apiVersion]).toEqual(["*", "*", "v1"]);
  });

  it("may be a path", () => {
    const { isResourceRequest, path, verb } = reviewedAttributes(ann, {
      nonResourceAttributes: { path: "/metrics", verb: "get" },
    });
    expect({ isResourceRequest, path, verb }).toEqual({ isResourceRequest: false, path: "/metrics", verb: "get" });
  });

  it("narrows itself by selectors, as far as they can be read", () => {
    const { selectors } = reviewedAttributes(ann, {
      resourceAttributes: {
        verb: "list",
        resource: "pods",
        fieldSelector: {
          requirements: [
            { key: "spec.nodeName", operator: "In", values: ["n1"] },
            { key: "status.phase", operator: "In", values: ["a", "b"] },
          ],
        },
        labelSelector: { rawSelector: "app=web" },
      },
    });
    expect(selectors).toMatchObject({
      field: [{ field: "spec.nodeName", operator: "=", value: "n1" }],
      label: [{ key: "app", values: ["web"] }],
      unreadable: ["fieldSelector"],
    });
  });
});
