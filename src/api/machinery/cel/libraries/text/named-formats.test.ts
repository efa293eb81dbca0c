import { describe, expect, it } from "vitest";
import { namedFormats } from "./named-formats.ts";

function faults(name: string, text: string): readonly string[] {
  return namedFormats.get(name)?.check(text) ?? ["no such format"];
}

describe("texts that fit", () => {
  it.each([
    ["dns1123Label", "my-label-name"],
    ["dns1123Subdomain", "apiextensions.k8s.io"],
    ["dns1035Label", "my-label-name"],
    ["qualifiedName", "apiextensions.k8s.io/v1beta1"],
    ["dns1123LabelPrefix", "my-label-prefix-"],
    ["dns1123SubdomainPrefix", "mysubdomain.prefix.-"],
    ["dns1035LabelPrefix", "my-label-prefix-"],
    ["labelValue", "my-cool-label-Value"],
    ["labelValue", ""],
    ["uri", "http://example.com"],
    ["uri", "/path"],
    ["uuid", "123e4567-e89b-12d3-a456-426614174000"],
    ["uuid", "123E4567E89B12D3A456426614174000"],
    ["byte", "aGVsbG8="],
    ["byte", "aaaa"],
    ["date", "2024-02-29"],
    ["datetime", "2021-01-01T00:00:00Z"],
    ["datetime", "2021-01-01t23:59:59.123+01:00"],
  ])("%s: %s", (name, text) => {
    expect(faults(name, text)).toEqual([]);
  });
});

describe("texts that do not fit", () => {
  it.each([
    ["dns1123Label", "contains a space", /^a lowercase RFC 1123 label must consist/],
    ["dns1123LabelPrefix", "contains a space-", /^a lowercase RFC 1123 label must consist/],
    ["dns1035Label", "1a", /^a DNS-1035 label must consist/],
    ["labelValue", "x!\n", /^a valid label must be an empty string/],
    ["uri", "../x", /^parse "..\/x": invalid URI for request$/],
    ["uuid", "123", /^does not match the UUID format$/],
    ["byte", "aGVsbG8", /^invalid base64$/],
    ["byte", "", /^invalid base64$/],
    ["byte", "a===", /^invalid base64$/],
    ["date", "2023-02-29", /^invalid date$/],
    ["date", "2023-2-1", /^invalid date$/],
    ["datetime", "2021-01-01", /^invalid datetime$/],
    ["datetime", "2021-01-01T24:00:00Z", /^invalid datetime$/],
    ["datetime", "2021-01-32T00:00:00Z", /^invalid datetime$/],
  ])("%s: %s", (name, text, why) => {
    expect(faults(name, text).join()).toMatch(why);
  });

  it.each([...namedFormats.keys()])("%s reads a huge text", (name) => {
    for (const huge of ["a", "-", ".", "=", "1:", "a.", "%41"]) faults(name, `${huge.repeat(200_000)}!`);
  });
});
