import { expect, it } from "vitest";
import { arpSenderScript, senderRules } from "./senders.ts";

it("checks what comes from the named links by the route back to it, and nothing else", () => {
  const rules = senderRules("cali*")
    .split("\n")
    .filter((line) => line.includes("drop"));
  expect(rules.map((line) => line.trim())).toEqual([
    'iifname "cali*" fib saddr . iif oif missing drop',
    'iifname "cali*" icmpv6 type { nd-router-advert, nd-redirect } drop',
  ]);
  expect(senderRules("cali*")).toContain("hook prerouting priority raw; policy accept;");
  expect(arpSenderScript("cali*")).toContain("for link in default cali*;");
});
