import { describe, expect, it } from "vitest";
import type { core, discovery } from "#api";
import { faultOf, LOCAL, PASSED, withAvailable } from "./availability-plan.ts";

const at = { namespace: "ns", name: "api", port: 443 };
const service = (spec: core.ServiceSpec = {}): core.Service => ({
  metadata: {},
  spec: { type: "ClusterIP", ports: [{ name: "https", port: 443 }], ...spec },
});
const slice = (ready: boolean | undefined, ports: readonly discovery.EndpointPort[]): discovery.EndpointSlice => ({
  metadata: {},
  addressType: "IPv4",
  endpoints: [{ addresses: ["10.0.0.1"], ...(ready !== undefined && { conditions: { ready } }) }],
  ports,
});
const https = [{ name: "https", port: 8443 }];

describe("faultOf", () => {
  it.each([
    {
      name: "no Service",
      given: { service: undefined, slices: [] },
      want: ["ServiceNotFound", 'service/api in "ns" is not present'],
    },
    {
      name: "another port",
      given: { service: service({ ports: [{ port: 80 }] }), slices: [] },
      want: ["ServicePortError", 'service/api in "ns" is not listening on port 443'],
    },
    {
      name: "no slices",
      given: { service: service(), slices: [] },
      want: ["EndpointsNotFound", 'cannot find endpointslices for service/api in "ns"'],
    },
    {
      name: "nothing ready",
      given: { service: service(), slices: [slice(false, https)] },
      want: ["MissingEndpoints", 'endpointslices for service/api in "ns" have no addresses with port name "https"'],
    },
    {
      name: "ready elsewhere",
      given: { service: service(), slices: [slice(true, [{ name: "http", port: 80 }])] },
      want: ["MissingEndpoints", 'endpointslices for service/api in "ns" have no addresses with port name "https"'],
    },
    { name: "ready", given: { service: service(), slices: [slice(undefined, https)] }, want: undefined },
    {
      name: "a port without a name",
      given: { service: service({ ports: [{ port: 443 }] }), slices: [slice(true, [{ port: 8443 }])] },
      want: undefined,
    },
    { name: "a name outside", given: { service: service({ type: "ExternalName" }), slices: [] }, want: undefined },
  ])("$name", ({ given, want }) => {
    const fault = faultOf(at, given);
    expect(fault && [fault.reason, fault.message]).toEqual(want);
    if (fault !== undefined) expect(fault.status).toBe("False");
  });
});

describe("withAvailable", () => {
  const start = Date.UTC(2030, 0, 1);
  const base = { metadata: {}, spec: { groupPriorityMinimum: 1, versionPriority: 1 } };

  it("dates the change of the status, and only that", () => {
    const passed = withAvailable(base, PASSED, start);
    expect(passed.conditions).toEqual([{ type: "Available", ...PASSED, lastTransitionTime: "2030-01-01T00:00:00Z" }]);
    const local = withAvailable({ ...base, status: passed }, LOCAL, start + 60_000);
    expect(local.conditions).toEqual([{ type: "Available", ...LOCAL, lastTransitionTime: "2030-01-01T00:00:00Z" }]);
    const failed = { status: "False", reason: "MissingEndpoints", message: "m" } as const;
    const gone = withAvailable({ ...base, status: local }, failed, start + 120_000);
    expect(gone.conditions).toEqual([{ type: "Available", ...failed, lastTransitionTime: "2030-01-01T00:02:00Z" }]);
  });

  it("is the same if nothing differs", () => {
    const status = withAvailable(base, PASSED, start);
    expect(withAvailable({ ...base, status }, PASSED, start + 1000)).toBe(status);
  });
});
