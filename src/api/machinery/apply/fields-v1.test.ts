import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decodeFields,
  encodeFields,
  equalSets,
  fieldSet,
  keyElement,
  parseFields,
  union,
  valueElement,
} from "./index.ts";

const name = fc.constantFrom("a", "b", "é", "x<y", "𝒳");
const element = fc.oneof(
  name.map((each) => `f:${each}`),
  fc
    .dictionary(fc.constantFrom("port", "protocol", "name"), fc.oneof(name, fc.integer()), { minKeys: 1 })
    .map((keys) => keyElement(Object.entries(keys))),
  name.map(valueElement),
  fc.nat({ max: 12 }).map((index) => `i:${index}`),
);
const anySet = fc
  .array(fc.array(element, { minLength: 1, maxLength: 4 }), { maxLength: 8 })
  .map((paths) => fieldSet(...paths));

describe("FieldsV1", () => {
  it.each([
    { name: "nothing", paths: [], want: "{}" },
    { name: "a field", paths: [["f:a"]], want: '{"f:a":{}}' },
    { name: "a field below one that is not owned", paths: [["f:a", "f:b"]], want: '{"f:a":{"f:b":{}}}' },
    { name: "a field below one that is", paths: [["f:a", "f:b"], ["f:a"]], want: '{"f:a":{".":{},"f:b":{}}}' },
    {
      name: "items by key, numbers by their value",
      paths: [
        [
          "f:l",
          keyElement([
            ["protocol", "TCP"],
            ["port", 8080],
          ]),
        ],
        [
          "f:l",
          keyElement([
            ["protocol", "TCP"],
            ["port", 80],
          ]),
        ],
      ],
      want: '{"f:l":{"k:{\\"port\\":80,\\"protocol\\":\\"TCP\\"}":{},"k:{\\"port\\":8080,\\"protocol\\":\\"TCP\\"}":{}}}',
    },
    {
      name: "members of a set",
      paths: [
        ["f:s", valueElement("b")],
        ["f:s", valueElement("a&b")],
      ],
      want: '{"f:s":{"v:\\"a\\\\u0026b\\"":{},"v:\\"b\\"":{}}}',
    },
    {
      name: "names in the order of code points",
      paths: [["f:𝒳"], ["f:\uffee"], ["f:Z"], ["f:a"]],
      want: '{"f:Z":{},"f:a":{},"f:\uffee":{},"f:𝒳":{}}',
    },
  ])("writes $name", ({ paths, want }) => {
    expect(JSON.stringify(encodeFields(fieldSet(...paths)))).toBe(want);
  });

  it("reads what it wrote, stored or sent, and writes it again", () => {
    fc.assert(
      fc.property(anySet, (set) => {
        const fields = JSON.parse(JSON.stringify(encodeFields(set)));
        expect(equalSets(decodeFields(fields), set)).toBe(true);
        expect(equalSets(parseFields(fields), set)).toBe(true);
        expect(JSON.stringify(encodeFields(parseFields(fields)))).toBe(JSON.stringify(fields));
        expect(encodeFields(decodeFields(fields))).toBe(fields);
      }),
    );
  });

  it("writes the parts that did not change as the values they were read from", () => {
    const fields = { "f:a": { "f:b": {} }, "f:c": { "f:d": {} } };
    const written = encodeFields(union(decodeFields(fields), fieldSet(["f:c", "f:e"])));
    expect(written).toEqual({ "f:a": { "f:b": {} }, "f:c": { "f:d": {}, "f:e": {} } });
    expect(written["f:a"]).toBe(fields["f:a"]);
  });

  it("brings what a client sends into its one spelling", () => {
    const sent = { "f:b": {}, "f:a": { 'k:{ "z": 1, "a": "x" }': {}, "x:future": {}, ".": {} } };
    expect(JSON.stringify(encodeFields(parseFields(sent)))).toBe(
      '{"f:a":{".":{},"k:{\\"a\\":\\"x\\",\\"z\\":1}":{}},"f:b":{}}',
    );
  });

  it.each([
    { fields: { a: {} }, want: "key must be 2 characters long:" },
    { fields: { abc: {} }, want: "missing colon: abc" },
    { fields: { "i:x": {} }, want: 'strconv.Atoi: parsing "x": invalid syntax' },
    { fields: { "f:a": 1 }, want: "expected an object, found 1" },
    { fields: { "k:[]": {} }, want: "expected an object of keys: []" },
  ])("refuses $fields", ({ fields, want }) => {
    expect(() => parseFields(fields)).toThrow(want);
  });
});
