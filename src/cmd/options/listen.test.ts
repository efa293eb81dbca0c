import { expect, it } from "vitest";
import { listenFlag, listenFrom } from "./listen.ts";

it.each([
  { given: "192.0.2.1", want: { address: "192.0.2.1", port: undefined } },
  { given: "192.0.2.1:7443", want: { address: "192.0.2.1", port: 7443 } },
  { given: "2001:db8::1", want: { address: "2001:db8::1", port: undefined } },
  { given: "[2001:db8::1]", want: { address: "2001:db8::1", port: undefined } },
  { given: "[2001:db8::1]:7443", want: { address: "2001:db8::1", port: 7443 } },
])("--listen $given", ({ given, want }) => expect(listenFlag(given)).toEqual(want));

it.each(["", "host", "192.0.2.1:", "192.0.2.1:0", "192.0.2.1:70000", "0.0.0.0", "127.0.0.1", "::1", "192.0.2"])(
  "--listen %j is refused",
  (given) => expect(() => listenFlag(given)).toThrow(/^(It must be an IP address|Other machines must reach it)/),
);

it("a later start listens where the last one did", () => {
  const before = { address: "192.0.2.1" };
  expect(listenFrom({}, before)).toEqual(before);
  expect(listenFrom({ listen: { address: "192.0.2.2", port: undefined } }, before)).toEqual({ address: "192.0.2.2" });
  expect(listenFrom({}, undefined)).toBeUndefined();
  const ranges = { clusterCidr: ["10.1.0.0/16"], proxyMode: "iptables" as const };
  const wanted = { ...before, podRanges: ranges.clusterCidr, proxyMode: ranges.proxyMode };
  expect(listenFrom(ranges, before)).toEqual(wanted);
  expect(listenFrom({}, wanted)).toEqual(wanted);
});

it("a virtual address is kept by later starts, until it is dropped", () => {
  const before = { address: "192.0.2.1", virtualAddress: "192.0.2.100" };
  expect(listenFrom({}, before)).toEqual(before);
  expect(listenFrom({ virtualAddress: "192.0.2.101" }, before)).toEqual({ ...before, virtualAddress: "192.0.2.101" });
  expect(listenFrom({ virtualAddress: "" }, before)).toEqual({ address: "192.0.2.1" });
  expect(() => listenFrom({ virtualAddress: "192.0.2.1" }, before)).toThrow("another address than that of --listen");
});
