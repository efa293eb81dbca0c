import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "#base";
import { createAuthority } from "./authority.ts";
import { issuerNameOf } from "./certificate.ts";
import * as der from "./der.ts";
import { PkiError } from "./errors.ts";

const { certPem } = await createAuthority({ commonName: "kubernetes", clock: new VirtualClock() });
const { raw } = new X509Certificate(certPem);

describe("issuerNameOf", () => {
  it("has the bytes of the subject", () => {
    const { name, keyId } = issuerNameOf(new X509Certificate(raw));
    expect(name.toString("latin1")).toContain("kubernetes");
    expect(keyId).toHaveLength(20);
  });

  it("refuses a key identifier that is none: OpenSSL reads extensions only when it needs them", () => {
    const damaged = Buffer.from(raw);
    const at = damaged.indexOf(der.oid("2.5.29.14")) + der.oid("2.5.29.14").length;
    // The length of the element inside of the extension's value.
    damaged[at + 3] = 0x80;
    expect(() => issuerNameOf(new X509Certificate(damaged))).toThrow(PkiError);
  });
});
