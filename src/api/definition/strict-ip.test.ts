import { describe, expect, it } from "vitest";
import { at, fieldErrorBody } from "../machinery/errors/field-error.ts";
import { checkReachableIp, checkStrictCidr, checkStrictIp } from "./strict-ip.ts";

const where = at("ip");

describe("strict addresses", () => {
  it.each([
    ["10.0.0.1", undefined],
    ["fd00::1", undefined],
    ["x", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"],
    ["010.0.0.1", "must not have leading 0s"],
    ["::ffff:10.0.0.1", "must not be an IPv4-mapped IPv6 address"],
  ])("%s", (ip, want) =>
    expect(checkStrictIp(where, ip).map(({ detail }) => detail)).toEqual(want === undefined ? [] : [want]),
  );

  it("lets stay what was there", () => {
    expect(checkStrictIp(where, "010.0.0.1", ["010.0.0.1"])).toEqual([]);
  });

  it.each([
    ["10.0.0.0/8", undefined],
    ["fd00::/64", undefined],
    ["10.0.0.0", "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"],
    ["10.0.0.0/08", "must not have leading 0s in IP or prefix length"],
  ])("%s", (cidr, want) =>
    expect(checkStrictCidr(where, cidr).map(({ detail }) => detail)).toEqual(want === undefined ? [] : [want]),
  );

  it("refuses host bits", () => {
    expect(checkStrictCidr(where, "10.0.0.1/8")).toHaveLength(1);
    expect(checkStrictCidr(where, "10.128.0.0/9")).toEqual([]);
  });

  it.each([
    ["10.0.0.1", 0],
    ["0.0.0.0", 1],
    ["127.0.0.1", 1],
    ["::1", 1],
    ["169.254.1.1", 1],
    ["fe80::1", 1],
    ["224.0.0.1", 1],
    ["2001:db8::1", 0],
  ])("%s can be reached: %d faults", (ip, count) =>
    expect(checkReachableIp(where, ip).map(fieldErrorBody)).toHaveLength(count),
  );
});
