import { poly1305 } from "@noble/ciphers/_poly1305.js";
import { describe, expect, it } from "vitest";
import { openBox, sealBox, secretbox } from "./secretbox.ts";

const hex = (text: string) => Buffer.from(text, "hex");

describe("poly1305", () => {
  // RFC 8439: section 2.5.2 and appendix A.3.
  const vectors = [
    {
      name: "section 2.5.2",
      key: "85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b",
      message: Buffer.from("Cryptographic Forum Research Group").toString("hex"),
      tag: "a8061dc1305136c6c22b8baf0c0127a9",
    },
    { name: "A.3 #1: zeros", key: "00".repeat(32), message: "00".repeat(64), tag: "00".repeat(16) },
    {
      name: "A.3 #7: a sum of 2^130 - 5",
      key: `02${"00".repeat(31)}`,
      message: "ff".repeat(16),
      tag: `03${"00".repeat(15)}`,
    },
    {
      name: "A.3 #8: addition of s overflows",
      key: `02${"00".repeat(15)}${"ff".repeat(16)}`,
      message: `02${"00".repeat(15)}`,
      tag: `03${"00".repeat(15)}`,
    },
    {
      name: "A.3 #9: 2^130 - 4 after the last block",
      key: `01${"00".repeat(31)}`,
      message: `${"ff".repeat(16)}f0${"ff".repeat(15)}11${"00".repeat(15)}`,
      tag: `05${"00".repeat(15)}`,
    },
  ];
  for (const { name, key, message, tag } of vectors) {
    it(name, () => expect(Buffer.from(poly1305(hex(message), hex(key))).toString("hex")).toBe(tag));
  }
});

describe("secretbox", () => {
  // "Cryptography in NaCl", section 10.
  const key = hex("1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389");
  const nonce = hex("69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37");
  const message = hex(
    "be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f41db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f937763848645e0705",
  );
  const box = hex(
    "f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74e355a5",
  );

  it("seals as the published vector says", () => expect(sealBox(message, nonce, key).equals(box)).toBe(true));
  it("opens the published vector", () => expect(openBox(box, nonce, key).equals(message)).toBe(true));

  it("opens what it sealed, whatever its length", () => {
    const cipher = secretbox(key);
    for (const length of [0, 1, 15, 16, 31, 32, 33, 63, 64, 65, 5_000]) {
      const value = Buffer.alloc(length, length);
      expect(cipher.open(cipher.seal(value, ""), "").equals(value)).toBe(true);
    }
  });

  it("refuses what was changed in any byte, what is too short, and another key", () => {
    const cipher = secretbox(key);
    const kept = cipher.seal(Buffer.from("password"), "");
    for (let at = 0; at < kept.length; at++) {
      const changed = Buffer.from(kept);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => cipher.open(changed, "")).toThrow();
    }
    expect(() => cipher.open(kept.subarray(0, 39), "")).toThrow("shorter than the required size");
    expect(() => secretbox(Buffer.alloc(32)).open(kept, "")).toThrow();
  });
});
