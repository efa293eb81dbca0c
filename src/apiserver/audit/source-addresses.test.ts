import { describe, expect, it } from "vitest";
import type { ApiRequest } from "../http/exchange.ts";
import { sourceAddresses } from "./source-addresses.ts";

describe("where a request came from", () => {
  it.each<[string, Record<string, string>, string | undefined, readonly string[]]>([
    ["the connection", {}, "10.0.0.1", ["10.0.0.1"]],
    ["an address of IPv4 in IPv6's clothes", {}, "::ffff:10.0.0.1", ["10.0.0.1"]],
    ["this process", {}, undefined, ["127.0.0.1"]],
    ["proxies", { "x-forwarded-for": "1.1.1.1, 2.2.2.2" }, "10.0.0.1", ["1.1.1.1", "2.2.2.2", "10.0.0.1"]],
    ["proxies that say nonsense", { "x-forwarded-for": "unknown, 2.2.2.2,,x" }, "10.0.0.1", ["2.2.2.2", "10.0.0.1"]],
    ["a proxy that has told it", { "x-forwarded-for": "1.1.1.1, 10.0.0.1" }, "10.0.0.1", ["1.1.1.1", "10.0.0.1"]],
    ["another header", { "x-real-ip": "3.3.3.3" }, "10.0.0.1", ["3.3.3.3", "10.0.0.1"]],
    ["both", { "x-forwarded-for": "3.3.3.3, 4.4.4.4", "x-real-ip": "3.3.3.3" }, "::1", ["3.3.3.3", "4.4.4.4", "::1"]],
  ])("%s", (_, headers, remoteAddress, want) => {
    expect(sourceAddresses({ headers, remoteAddress } as ApiRequest)).toEqual(want);
  });
});
