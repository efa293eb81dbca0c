import { describe, expect, it } from "vitest";
import { type core, StatusError } from "#api";
import { podWith } from "../testing/index.ts";
import { addressesOf, failureText, hostnameFor, isReachable, mattersToServices } from "./index.ts";
import { earliestTrigger, TRIGGER_TIME, withTriggerTime } from "./trigger-time.ts";

const at = (pod: core.Pod, ...ips: string[]): core.Pod => ({
  ...pod,
  status: { ...pod.status, ...(ips[0] !== undefined && { podIP: ips[0] }), podIPs: ips.map((ip) => ({ ip })) },
});

describe("a Pod behind a Service", () => {
  it.each([
    { name: "with an address", pod: at(podWith("a"), "10.0.0.1"), want: [true, true] },
    { name: "without one", pod: podWith("a"), want: [false, false] },
    { name: "that has ended", pod: at(podWith("a", { phase: "Succeeded" }), "10.0.0.1"), want: [false, false] },
    { name: "that is to end", pod: at(podWith("a", { ending: true }), "10.0.0.1"), want: [false, true] },
  ])("$name can be reached, also if those that end count: $want", ({ pod, want }) => {
    expect([isReachable(pod, false), isReachable(pod, true)]).toEqual(want);
  });

  it("has its addresses by family, old reports included", () => {
    const both = at(podWith("a"), "10.0.0.1", "fd00::1");
    expect([addressesOf(both, "IPv4"), addressesOf(both, "IPv6")]).toEqual([["10.0.0.1"], ["fd00::1"]]);
    const old = podWith("a");
    expect(addressesOf({ ...old, status: { ...old.status, podIP: "10.0.0.2" } }, "IPv4")).toEqual(["10.0.0.2"]);
  });

  it("has a host name only in the Service that is its subdomain", () => {
    const pod = { metadata: {}, spec: { containers: [], hostname: "h", subdomain: "web" } };
    expect(hostnameFor(pod, { metadata: { name: "web" } })).toBe("h");
    expect(hostnameFor(pod, { metadata: { name: "other" } })).toBeUndefined();
  });

  it.each([
    { name: "its address", next: at(podWith("a"), "10.0.0.9"), want: true },
    { name: "its readiness", next: at(podWith("a", { ready: false }), "10.0.0.1"), want: true },
    { name: "its end", next: at(podWith("a", { ending: true }), "10.0.0.1"), want: true },
    { name: "its labels", next: at(podWith("a", { labels: { a: "b" } }), "10.0.0.1"), want: true },
    { name: "its restarts", next: at(podWith("a", { restarts: 4 }), "10.0.0.1"), want: false },
  ])("matters by $name: $want", ({ next, want }) => {
    const old = at(podWith("a"), "10.0.0.1");
    expect(mattersToServices({ type: "updated", object: next, old })).toBe(want);
  });

  it("matters when it is gone, whatever it looked like while it ended", () => {
    const ending = at(podWith("a", { ending: true }), "10.0.0.1");
    expect(mattersToServices({ type: "deleted", object: ending, old: ending })).toBe(true);
  });
});

describe("the time of a change", () => {
  const service: core.Service = { metadata: { name: "s", creationTimestamp: "2030-01-05T00:00:00Z" } };
  it("is the earliest of the Pods that changed, and of a Service that is new", () => {
    const pods = [podWith("a", { since: "2030-01-07T00:00:00Z" }), podWith("b", { since: "2030-01-06T00:00:00Z" })];
    expect(earliestTrigger(service, false, pods)).toBe("2030-01-06T00:00:00Z");
    expect(earliestTrigger(service, true, pods)).toBe("2030-01-05T00:00:00Z");
    expect(earliestTrigger(service, false, [])).toBeUndefined();
  });

  it("is written, or what was written before is removed", () => {
    expect(withTriggerTime({ a: "b" }, "t")).toEqual({ a: "b", [TRIGGER_TIME]: "t" });
    expect(withTriggerTime({ a: "b", [TRIGGER_TIME]: "t" }, undefined)).toEqual({ a: "b" });
  });
});

describe("a failure", () => {
  it("in a namespace that ends is not told", () => {
    const causes = [{ reason: "NamespaceTerminating", message: "m", field: "f" }];
    expect(failureText(new StatusError("Forbidden", "ends", { details: { causes } }))).toBeUndefined();
    expect(failureText(new StatusError("Forbidden", "no room"))).toBe("no room");
  });
});
