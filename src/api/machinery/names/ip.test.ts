import { describe, expect, it } from "vitest";
import { fieldErrorText } from "../errors/field-error.ts";
import { checkCidr, checkIp, checkIpv4, checkIpv6, contains, formatIp, parseCidr, parseIp } from "./ip.ts";

describe("IP addresses", () => {
  it.each([
    ["10.9.8.7", "10.9.8.7"],
    ["010.09.8.7", "10.9.8.7"],
    ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["::", "::"],
    ["::1", "::1"],
    ["1::", "1::"],
    ["1:0:0:2:0:0:0:3", "1:0:0:2::3"],
    ["1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"],
    ["::ffff:1.2.3.4", "1.2.3.4"],
    ["64:ff9b::1.2.3.4", "64:ff9b::102:304"],
    ["10:0:0:0:20:0:0:30", "10::20:0:0:30"],
  ])("%s is %s", (text, want) => {
    const ip = parseIp(text);
    expect(ip && formatIp(ip)).toBe(want);
  });

  it.each([
    "",
    "1.2.3",
    "1.2.3.256",
    "1.2.3.4.5",
    ":::",
    "1::2::3",
    "12345::",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1.2.3.4::",
    "::g",
    "fe80::1%eth0",
  ])("%j is none", (text) => expect(parseIp(text)).toBeUndefined());

  it.each([
    ["10.0.0.0/8", "10.1.2.3", true],
    ["10.0.0.0/8", "11.1.2.3", false],
    ["10.0.0.0/9", "10.128.0.0", false],
    ["0.0.0.0/0", "1.2.3.4", true],
    ["2001:db8::/33", "2001:db8:7fff::1", true],
    ["2001:db8::/33", "2001:db8:8000::1", false],
    ["10.0.0.0/8", "::1", false],
  ])("%s and %s", (range, ip, want) => {
    const [cidr, address] = [parseCidr(range), parseIp(ip)];
    expect(cidr && address && contains(cidr, address)).toBe(want);
  });

  it.each(["10.0.0.0", "10.0.0.0/33", "10.0.0.0/-1", "x/8", "::/129", "::ffff:1.2.3.4/80"])("%j is no CIDR", (text) =>
    expect(parseCidr(text)).toBeUndefined(),
  );

  it("are checked in the words users know", () => {
    const texts = [checkIp("ip", "x"), checkIpv4("ip", "::1"), checkIpv6("ip", "1.2.3.4"), checkCidr("cidr", "nope")]
      .flat()
      .map(fieldErrorText);
    expect(texts).toEqual([
      'ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'ip: Invalid value: "::1": must be a valid IPv4 address',
      'ip: Invalid value: "1.2.3.4": must be a valid IPv6 address',
      'cidr: Invalid value: "nope": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    ]);
    expect(
      [checkIp("ip", "1.2.3.4"), checkIpv4("ip", "1.2.3.4"), checkIpv6("ip", "::1"), checkCidr("c", "::/0")].flat(),
    ).toEqual([]);
  });
});
