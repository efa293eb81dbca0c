import { createPrivateKey, X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { realClock } from "#base";
import { createAuthority } from "./authority.ts";
import { readSigningRequest, signRequest } from "./signing-request.ts";
import { makeRequest } from "./testing/request.ts";

const HOUR_MS = 3_600_000;
const clock = realClock();
const now = Math.floor(clock.now() / 1000) * 1000;
const times = { notBefore: now, notAfter: now + HOUR_MS };

describe("a signing request", () => {
  const content = {
    commonName: "system:node:a",
    organizations: ["system:nodes"],
    dnsNames: ["a.example.com"],
    ipv4: ["10.0.0.1"],
    emailAddresses: ["a@example.com"],
  };

  it("is read with all its names", () => {
    expect(readSigningRequest(makeRequest(content).der)).toEqual({
      commonName: "system:node:a",
      organizations: ["system:nodes"],
      dnsNames: ["a.example.com"],
      ipAddresses: ["10.0.0.1"],
      emailAddresses: ["a@example.com"],
      uris: [],
    });
  });

  it("is signed with its names and the signer's usages and times", async () => {
    const ca = await createAuthority({ commonName: "kubernetes", clock });
    const request = makeRequest(content);
    const usages = ["digital signature", "client auth", "server auth"];
    const certificate = new X509Certificate(signRequest(ca, request.der, { usages, ...times }));
    expect(certificate.checkIssued(ca.certificate) && certificate.verify(ca.certificate.publicKey)).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(request.keyPem))).toBe(true);
    expect(certificate.ca).toBe(false);
    expect(certificate.subject).toBe("O=system:nodes\nCN=system:node:a");
    expect(certificate.subjectAltName).toContain("DNS:a.example.com");
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"]);
    expect([certificate.validFromDate.getTime(), certificate.validToDate.getTime()]).toEqual([now, now + HOUR_MS]);
  });

  it("gets no certificate that outlives its authority", async () => {
    const ca = await createAuthority({ commonName: "kubernetes", clock, validityDays: 1 });
    const options = { usages: ["client auth"], notBefore: now, notAfter: now + 48 * HOUR_MS };
    const certificate = new X509Certificate(signRequest(ca, makeRequest(content).der, options));
    expect(certificate.validTo).toBe(ca.certificate.validTo);
  });

  it("that was changed anywhere is refused", () => {
    const { der } = makeRequest({ commonName: "system:node:a" });
    for (let at = 0; at < der.length; at++) {
      const changed = Buffer.from(der);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => readSigningRequest(changed), `byte ${at}`).toThrow();
    }
    expect(() => readSigningRequest(der.subarray(0, 40))).toThrow("damaged");
    expect(() => readSigningRequest(Buffer.alloc(0))).toThrow("no certificate request");
  });

  it("for an unknown usage is refused", async () => {
    const ca = await createAuthority({ commonName: "kubernetes", clock });
    const options = { usages: ["world domination"], ...times };
    expect(() => signRequest(ca, makeRequest(content).der, options)).toThrow("unrecognized usage values");
  });
});
