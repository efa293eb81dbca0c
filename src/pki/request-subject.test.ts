import { describe, expect, it } from "vitest";

import { requestSubject } from "./request-subject.ts";

const bytes = (text: string) => [...new TextEncoder().encode(text)];
const der = (tag: number, ...parts: readonly number[][]): number[] => {
  const content = parts.flat();
  const length = content.length < 128 ? [content.length] : [0x82, content.length >> 8, content.length & 0xff];
  return [tag, ...length, ...content];
};
const attribute = (id: number, text: string) =>
  der(0x31, der(0x30, der(0x06, [0x55, 0x04, id]), der(0x0c, bytes(text))));
const request = (...names: number[][]) =>
  der(0x30, der(0x30, der(0x02, [0]), der(0x30, ...names), der(0x30)), der(0x30));
const pem = (content: readonly number[], type = "CERTIFICATE REQUEST") => {
  const body = Buffer.from(content)
    .toString("base64")
    .replace(/(.{64})/g, "$1\n");
  return Buffer.from(`-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`).toString("base64");
};

const rows = [
  {
    name: "a name and two organizations",
    request: pem(request(attribute(3, "jane"), attribute(10, "a"), attribute(10, "system:masters"))),
    subject: { commonName: "jane", organizations: ["a", "system:masters"] },
  },
  { name: "no name at all", request: pem(request()), subject: { commonName: "", organizations: [] } },
  {
    name: "a long name",
    request: pem(request(attribute(3, "x".repeat(300)))),
    subject: { commonName: "x".repeat(300), organizations: [] },
  },
  { name: "a certificate", request: pem(request(), "CERTIFICATE"), subject: undefined },
  { name: "a request that is cut off", request: pem(request(attribute(3, "jane")).slice(0, 20)), subject: undefined },
  { name: "no DER", request: pem([1, 2, 3]), subject: undefined },
  { name: "no base64", request: "!", subject: undefined },
];

describe("requestSubject", () => {
  it.each(rows)("reads $name", ({ request, subject }) => {
    expect(requestSubject(request)).toEqual(subject);
  });
});
