import { getCiphers } from "node:tls";
import { describe, expect, it } from "vitest";
import { insecureSuites, type TlsFlags, tlsSettings } from "./tls-settings.ts";

const ALWAYS = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
const GCM = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256";

describe("TLS flags", () => {
  const cases: readonly { given: TlsFlags; http2?: boolean; want: object }[] = [
    { given: {}, want: {} },
    { given: { minVersion: "" }, want: {} },
    { given: { minVersion: "VersionTLS13" }, want: { minVersion: "TLSv1.3" } },
    { given: { cipherSuites: [GCM] }, want: { ciphers: `${ALWAYS}:ECDHE-RSA-AES128-GCM-SHA256` } },
    {
      given: { cipherSuites: ["TLS_AES_128_GCM_SHA256"], minVersion: "VersionTLS13" },
      want: { minVersion: "TLSv1.3", ciphers: ALWAYS },
    },
    {
      given: { cipherSuites: ["TLS_RSA_WITH_AES_128_CBC_SHA"] },
      http2: false,
      want: { ciphers: `${ALWAYS}:AES128-SHA` },
    },
    { given: { curves: [4588, 29] }, want: { groups: "X25519MLKEM768:X25519" } },
  ];
  it.each(cases)("$given", ({ given, http2, want }) => expect(tlsSettings(given, http2)).toEqual(want));

  const refused: readonly { given: TlsFlags; problem: string }[] = [
    { given: { minVersion: "TLS1.2" }, problem: 'unknown tls version "TLS1.2"' },
    { given: { cipherSuites: ["AES"] }, problem: "Cipher suite AES not supported or doesn't exist" },
    { given: { cipherSuites: ["TLS_RSA_WITH_RC4_128_SHA"] }, problem: "TLS_RSA_WITH_RC4_128_SHA is insecure" },
    {
      given: { cipherSuites: ["TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"] },
      problem: "http2: TLSConfig.CipherSuites is missing an HTTP/2-required AES_128_GCM_SHA256 cipher",
    },
    { given: { curves: [0] }, problem: "curve preference 0 is out of range (must be 1-65535)" },
    { given: { curves: [29, 29] }, problem: "duplicate curve preference 29" },
    { given: { curves: [30] }, problem: "curve preference 30 is not supported by the current Go version" },
  ];
  it.each(refused)("$given is refused", ({ given, problem }) => expect(() => tlsSettings(given)).toThrow(problem));

  it("insecure suites are named", () => {
    expect(insecureSuites({ cipherSuites: [GCM, "TLS_RSA_WITH_AES_128_CBC_SHA"] })).toEqual([
      "TLS_RSA_WITH_AES_128_CBC_SHA",
    ]);
  });

  it("every suite is one that OpenSSL has", () => {
    const suites = ["ECDHE_ECDSA", "ECDHE_RSA", "RSA"].flatMap((exchange) =>
      ["AES_128_CBC_SHA", "AES_256_CBC_SHA", "AES_128_GCM_SHA256", "AES_256_GCM_SHA384"].map(
        (rest) => `TLS_${exchange}_WITH_${rest}`,
      ),
    );
    const { ciphers = "" } = tlsSettings({ cipherSuites: suites });
    const known = getCiphers().map((name) => name.toLowerCase());
    for (const each of ciphers.split(":")) expect(known).toContain(each.toLowerCase());
    expect(ciphers.split(":")).toHaveLength(3 + suites.length);
  });
});
