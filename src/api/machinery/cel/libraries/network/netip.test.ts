import { describe, expect, it } from "vitest";
import { formatIp } from "../../../names/ip.ts";
import {
  isGlobalUnicast,
  isLinkLocalMulticast,
  isLinkLocalUnicast,
  isLoopback,
  isMapped,
  isUnspecified,
  masked,
  parseAddress,
  parsePrefix,
} from "./netip.ts";

describe("addresses that are read", () => {
  it.each([
    ["127.0.0.1", "127.0.0.1", ""],
    ["0.0.0.0", "0.0.0.0", ""],
    ["::", "::", ""],
    ["::1", "::1", ""],
    ["1::", "1::", ""],
    ["2001:DB8::0:0:abcd", "2001:db8::abcd", ""],
    ["1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8", ""],
    ["::1.2.3.4", "::102:304", ""],
    ["1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304", ""],
    ["fe80::1%eth0", "fe80::1", "eth0"],
  ])("%s is %s", (text, written, zone) => {
    const address = parseAddress(text);
    expect([formatIp(address), address.zone]).toEqual([written, zone]);
  });
});

describe("addresses that are refused", () => {
  it.each([
    ["", "unable to parse IP"],
    ["abc", "unable to parse IP"],
    ["%eth0", "missing IPv6 address"],
    ["1.2.3", "IPv4 address too short"],
    ["1.2.3.4.5", "IPv4 address too long"],
    ["1.2.3.256", "IPv4 field has value >255"],
    ["01.2.3.4", "IPv4 field has octet with leading zero"],
    ["1..3.4", 'IPv4 field must have at least one digit (at ".3.4")'],
    [".1.2.3", 'IPv4 field must have at least one digit (at ".1.2.3")'],
    ["1.2.3.", 'IPv4 field must have at least one digit (at ".")'],
    ["1.2.3.x", 'unexpected character (at "x")'],
    [":::1", 'each colon-separated field must have at least one digit (at ":1")'],
    ["1::2::3", 'multiple :: in address (at ":3")'],
    ["12345::", 'each group must have 4 or less digits (at "12345::")'],
    ["1:2:3", "address string too short"],
    ["1:2:3:4:5:6:7:8:9", 'trailing garbage after address (at "9")'],
    ["1:2:3:4:5:6:7:8::", "the :: must expand to at least one field of zeros"],
    ["1:2:3:4::5:6:7:8", "the :: must expand to at least one field of zeros"],
    ["1:", 'colon must be followed by more characters (at ":")'],
    ["1:g", 'each colon-separated field must have at least one digit (at "g")'],
    ["1g::", 'unexpected character, want colon (at "g::")'],
    ["1:1.2.3.4", 'embedded IPv4 address must replace the final 2 fields of the address (at "1.2.3.4")'],
    ["::1%", "zone must be a non-empty string"],
  ])("%s: %s", (text, why) => {
    expect(() => parseAddress(text)).toThrow(`ParseAddr(${JSON.stringify(text)}): ${why}`);
  });
});

describe("prefixes", () => {
  it.each([
    ["192.168.1.7/24", "192.168.1.0"],
    ["192.168.255.7/20", "192.168.240.0"],
    ["10.0.0.1/0", "0.0.0.0"],
    ["10.0.0.1/32", "10.0.0.1"],
    ["2001:db8:ffff::1/33", "2001:db8:8000::"],
  ])("%s masked is %s", (text, network) => {
    expect(formatIp(masked(parsePrefix(text)))).toBe(network);
  });

  it.each([
    ["10.0.0.1", "no '/'"],
    ["10.0.0/8", 'ParseAddr("10.0.0"): IPv4 address too short'],
    ["10.0.0.0/33", "prefix length out of range"],
    ["::/129", "prefix length out of range"],
    ["10.0.0.0/", 'bad bits after slash: ""'],
    ["10.0.0.0/08", 'bad bits after slash: "08"'],
    ["10.0.0.0/+8", 'bad bits after slash: "+8"'],
    ["fe80::%a/10", "IPv6 zones cannot be present in a prefix"],
  ])("%s: %s", (text, why) => {
    expect(() => parsePrefix(text)).toThrow(`netip.ParsePrefix(${JSON.stringify(text)}): ${why}`);
  });
});

describe("what an address is", () => {
  const traits = { isUnspecified, isLoopback, isLinkLocalMulticast, isLinkLocalUnicast, isGlobalUnicast, isMapped };
  it.each([
    ["0.0.0.0", ["isUnspecified"]],
    ["::", ["isUnspecified"]],
    ["127.8.8.8", ["isLoopback"]],
    ["::1", ["isLoopback"]],
    ["224.0.0.1", ["isLinkLocalMulticast"]],
    ["224.0.1.1", []],
    ["ff02::1", ["isLinkLocalMulticast"]],
    ["ff12::1", ["isLinkLocalMulticast"]],
    ["ff05::1", []],
    ["169.254.169.254", ["isLinkLocalUnicast"]],
    ["fe80::1", ["isLinkLocalUnicast"]],
    ["febf::1", ["isLinkLocalUnicast"]],
    ["255.255.255.255", []],
    ["10.0.0.1", ["isGlobalUnicast"]],
    ["fd80::1", ["isGlobalUnicast"]],
    ["::ffff:1.2.3.4", ["isGlobalUnicast", "isMapped"]],
  ])("%s: %j", (text, want) => {
    const address = parseAddress(text);
    expect(Object.entries(traits).flatMap(([name, has]) => (has(address) ? [name] : []))).toEqual(want);
  });
});
