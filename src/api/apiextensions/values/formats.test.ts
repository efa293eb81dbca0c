import { describe, expect, it } from "vitest";
import { formatTest, isKnownFormat } from "./formats.ts";

const table: Readonly<Record<string, { readonly yes: readonly string[]; readonly no: readonly string[] }>> = {
  "date-time": {
    yes: ["2024-02-29T12:00:00Z", "2024-01-01t00:00:00.123+01:00"],
    no: ["2023-02-29T12:00:00Z", "2024-01-01", "2024-01-01T24:00:00Z", "yesterday", ""],
  },
  date: { yes: ["2024-02-29"], no: ["2024-13-01", "2024-1-1", "2024-04-31"] },
  duration: { yes: ["1h30m", "22 ns", "3 weeks", "-1s", "2 hours 3 min"], no: ["", "x", "5", "3 fortnights"] },
  ipv4: { yes: ["1.2.3.4", "001.002.003.004"], no: ["1.2.3", "::1", "1.2.3.256"] },
  ipv6: { yes: ["::1", "2001:db8::ffff"], no: ["1.2.3.4", ":::"] },
  cidr: { yes: ["10.0.0.0/8", "::/0"], no: ["10.0.0.0", "10.0.0.0/33"] },
  mac: {
    yes: ["01:23:45:67:89:ab", "01-23-45-67-89-ab", "0123.4567.89ab"],
    no: ["01:23:45:67:89", "01:23-45:67:89:ab"],
  },
  uuid: { yes: ["A8098C1A-F86E-11DA-BD1A-00112444BE1E", "a8098c1af86e11dabd1a00112444be1e"], no: ["a8098c1a"] },
  uuid4: { yes: ["025b0d74-00a2-4048-bf57-227c5111bb34"], no: ["025b0d74-00a2-3048-bf57-227c5111bb34"] },
  hostname: {
    yes: ["example.com", "a", "foo-bar.baz", "1.example.com"],
    no: ["-a", "a..b", "a_b.com", `${"a".repeat(64)}.com`],
  },
  email: { yes: ["a@b.c", "A B <a@b>", '"a b"@c'], no: ["a", "@b", "a@", "a b@c"] },
  uri: { yes: ["http://a/b", "/a", "urn:x"], no: ["", "a b", "a", "http://a/%zz"] },
  byte: { yes: ["YQ==", "YWJj"], no: ["", "YQ", "Y Q="] },
  isbn10: { yes: ["0321751043", "3836221195"], no: ["0321751044"] },
  isbn13: { yes: ["978-0321751041"], no: ["978-0321751042"] },
  creditcard: { yes: ["4111-1111-1111-1111"], no: ["4111-1111-1111-1112"] },
  ssn: { yes: ["111-11-1111", "111 11 1111"], no: ["1111-11-111"] },
  hexcolor: { yes: ["#fff", "FFFFFF"], no: ["#ffff"] },
  rgbcolor: { yes: ["rgb(0, 100, 255)"], no: ["rgb(256,0,0)"] },
  bsonobjectid: { yes: ["507f1f77bcf86cd799439011"], no: ["507f"] },
  password: { yes: ["", "x"], no: [] },
  "k8s-short-name": { yes: ["a", "a-b"], no: ["A", "-a", "a.b", "a".repeat(64)] },
  "k8s-long-name": { yes: ["a.b-c"], no: ["a..b", "A"] },
};

describe("formats", () => {
  it.each(Object.entries(table))("%s", (format, { yes, no }) => {
    const test = formatTest(format);
    expect(yes.filter((text) => test?.(text) !== true)).toEqual([]);
    expect(no.filter((text) => test?.(text) !== false)).toEqual([]);
  });

  it.each([
    ["date-time", "string", true],
    ["datetime", "", true],
    ["int32", "integer", true],
    ["int32", "string", false],
    ["double", "number", true],
    ["date", "object", false],
    ["constructor", "string", false],
  ])("%s of %s", (format, type, want) => {
    expect(isKnownFormat(format, type)).toBe(want);
  });
});
