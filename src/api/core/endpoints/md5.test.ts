import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { md5 } from "./md5.ts";

it("knows the digests of RFC 1321", () => {
  expect(md5("")).toBe("d41d8cd98f00b204e9800998ecf8427e");
  expect(md5("abc")).toBe("900150983cd24fb0d6963f7d28e17f72");
});

it.each([1, 55, 56, 63, 64, 65, 119, 120, 1000])("agrees with another implementation on %d bytes", (length) => {
  const text = "é".repeat(length).slice(0, length);
  expect(md5(text)).toBe(createHash("md5").update(text).digest("hex"));
});
