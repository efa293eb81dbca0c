import { describe, expect, it } from "vitest";
import { at } from "../machinery/errors/field-error.ts";
import { cidrWarnings, ipWarnings } from "./ip-warnings.ts";

const future = "will be considered invalid in a future Kubernetes release";

describe("warnings about addresses", () => {
  it.each([
    { text: "10.0.0.1", want: [] },
    { text: "fd00::1", want: [] },
    { text: "nonsense", want: [] },
    { text: "010.0.0.1", want: [`f: non-standard IP address "010.0.0.1" ${future}: use "10.0.0.1"`] },
    { text: "::ffff:1.2.3.4", want: [`f: non-standard IP address "::ffff:1.2.3.4" ${future}: use "1.2.3.4"`] },
    { text: "FD00::1", want: ['f: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")'] },
  ])("$text", ({ text, want }) => expect(ipWarnings(text, at("f"))).toEqual(want));
});

describe("warnings about CIDRs", () => {
  it.each([
    { text: "10.0.0.0/8", want: [] },
    {
      text: "10.1.2.3/8",
      want: ['f: CIDR value "10.1.2.3/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.1.2.3/32"?)'],
    },
    { text: "010.0.0.0/8", want: [`f: non-standard CIDR value "010.0.0.0/8" ${future}: use "10.0.0.0/8"`] },
    { text: "10.0.0.0/08", want: [`f: non-standard CIDR value "10.0.0.0/08" ${future}: use "10.0.0.0/8"`] },
    { text: "FD00::/8", want: ['f: IPv6 CIDR value "FD00::/8" should be in RFC 5952 canonical format ("fd00::/8")'] },
  ])("$text", ({ text, want }) => expect(cidrWarnings(text, at("f"))).toEqual(want));
});
