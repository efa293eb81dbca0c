import { describe, expect, it } from "vitest";
import { isCertificateKey, newCertificateKey, open, seal } from "./certificate-key.ts";

describe("a certificate key", () => {
  const key = newCertificateKey();

  it("opens what it sealed, and nothing is sealed the same way twice", () => {
    expect(isCertificateKey(key)).toBe(true);
    expect(open(seal("a key", key), key, "ca.key")).toBe("a key");
    expect(seal("a key", key).equals(seal("a key", key))).toBe(false);
  });

  it.each([
    { name: "another key", given: () => seal("a key", newCertificateKey()) },
    { name: "a bit turned over", given: () => flipped(seal("a key", key)) },
    { name: "something cut off", given: () => seal("a key", key).subarray(0, 20) },
  ])("says so for $name", ({ given }) => {
    expect(() => open(given(), key, "ca.key")).toThrow("ca.key does not open with this certificate key");
  });

  it("is 64 hexadecimal digits", () => {
    expect(() => seal("x", "abc")).toThrow("64 hexadecimal digits");
  });

  /** Opened as kubeadm's format says: nonce, ciphertext, tag. */
  it("has kubeadm's layout", () => {
    const sealed = seal("12345", key);
    expect(sealed.length).toBe(12 + 5 + 16);
  });
});

function flipped(sealed: Buffer): Buffer {
  const copy = Buffer.from(sealed);
  copy[14] = (copy[14] ?? 0) ^ 1;
  return copy;
}
