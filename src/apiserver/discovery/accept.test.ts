import { describe, expect, it } from "vitest";
import { negotiate } from "./accept.ts";

const V2 = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const V2BETA1 = ";g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

describe("the form of /apis", () => {
  it.each([
    { accept: undefined, want: "application/json" },
    { accept: "", want: "application/json" },
    { accept: "*/*", want: "application/json" },
    { accept: "application/*", want: "application/json" },
    { accept: "application/yaml", want: "application/yaml" },
    { accept: "application/vnd.kubernetes.protobuf, */*", want: "application/vnd.kubernetes.protobuf" },
    { accept: `application/json${V2}`, want: `application/json${V2}` },
    // Parameters may come in any order and with spaces.
    {
      accept: "application/json; as=APIGroupDiscoveryList; v=v2; g=apidiscovery.k8s.io",
      want: `application/json${V2}`,
    },
    // kubectl 1.36, client-go.
    { accept: `application/json${V2},application/json${V2BETA1},application/json`, want: `application/json${V2}` },
    {
      accept: `application/vnd.kubernetes.protobuf${V2},application/json`,
      want: `application/vnd.kubernetes.protobuf${V2}`,
    },
    // An old client falls back to what it knows besides the beta form, which is gone.
    { accept: `application/json${V2BETA1},application/json`, want: "application/json" },
    { accept: `application/json;q=0.2, application/yaml;q=0.9`, want: "application/yaml" },
    { accept: "*/*, application/yaml", want: "application/yaml" },
    { accept: "text/html, application/json;q=0.5", want: "application/json" },
    { accept: `application/json${V2BETA1}`, want: undefined },
    { accept: "application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList", want: undefined },
    { accept: "application/json;g=meta.k8s.io;v=v1;as=Table", want: undefined },
    { accept: "text/html", want: undefined },
  ])("$accept → $want", ({ accept, want }) => {
    expect(negotiate(accept, true)?.contentType).toBe(want);
  });

  it("is never the aggregated one below a group", () => {
    expect(negotiate(`application/json${V2}`, false)).toBeUndefined();
    expect(negotiate(`application/json${V2},application/json`, false)).toMatchObject({ aggregated: false });
  });
});
