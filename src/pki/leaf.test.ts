import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "#base";
import { createAuthority, DAY_MS } from "./authority.ts";
import { renewalTime, whyIssue } from "./leaf.ts";

const clock = new VirtualClock();
const start = clock.now();
const ca = await createAuthority({ commonName: "ca", clock });
const otherCa = await createAuthority({ commonName: "ca", clock });
const shortCa = await createAuthority({ commonName: "ca", clock, validityDays: 300 });
const request = {
  commonName: "server",
  dnsNames: ["localhost", "kubernetes.default.svc"],
  ipAddresses: ["127.0.0.1", "::1"],
  usages: ["server"],
} as const;
const good = await ca.issue(request);
const other = await ca.issue(request);
const capped = await shortCa.issue(request);

describe("whether a certificate has to be made", () => {
  it.each([
    { name: "a good one", found: good, want: undefined },
    { name: "no certificate", found: { ...good, certPem: undefined }, want: "is missing" },
    { name: "no key", found: { ...good, keyPem: undefined }, want: "is missing" },
    {
      name: "a damaged certificate",
      found: { ...good, certPem: good.certPem.replace("M", "?") },
      want: "cannot be read",
    },
    { name: "an empty certificate", found: { ...good, certPem: "" }, want: "cannot be read" },
    { name: "a damaged key", found: { ...good, keyPem: "x" }, want: "cannot be read" },
    { name: "another's key", found: { ...good, keyPem: other.keyPem }, want: "does not belong to its key" },
    { name: "another CA of the same name", found: good, ca: otherCa, want: "was signed by another CA" },
    {
      name: "fewer names than there are",
      found: good,
      names: { dnsNames: ["localhost"], ipAddresses: [] },
      want: undefined,
    },
    {
      name: "more names than there are",
      found: good,
      names: { dnsNames: ["localhost", "node-1"], ipAddresses: ["::1", "10.0.0.1"] },
      want: "is not valid for node-1, 10.0.0.1",
    },
    { name: "its common name alone", found: good, names: { dnsNames: ["server"] }, want: "is not valid for server" },
    {
      name: "an IPv6 address, spelled otherwise",
      found: good,
      names: { ipAddresses: ["0:0:0:0:0:0:0:1"] },
      want: undefined,
    },
    { name: "just over a third left", found: good, days: 243, want: undefined },
    { name: "less than a third left", found: good, days: 244, want: "expires on Jan  1 00:00:00 2031 GMT" },
    { name: "expired", found: good, days: 400, want: "expires on Jan  1 00:00:00 2031 GMT" },
    { name: "a clock that went back", found: good, days: -1, want: "is not valid yet" },
    { name: "one that lasts as long as its CA", found: capped, ca: shortCa, days: 299, want: undefined },
  ])("$name", ({ found, ca: signer = ca, names = {}, days = 0, want }) => {
    expect(whyIssue(found, { ...request, ...names }, signer.certificate, start + days * DAY_MS)).toBe(want);
  });

  it("is due exactly when the answer changes", () => {
    const due = renewalTime(new X509Certificate(good.certPem), ca.certificate);
    expect(whyIssue(good, request, ca.certificate, due - 1)).toBeUndefined();
    expect(whyIssue(good, request, ca.certificate, due)).toMatch(/^expires/);
  });
});
