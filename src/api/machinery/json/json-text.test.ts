import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json } from "./json.ts";
import { JsonScanner } from "./json-scanner.ts";
import { hasDuplicateKeys, parseDocument, parseJson, strictFieldErrors, textFacts } from "./json-text.ts";
import { writeJson } from "./write-json.ts";

describe("malformed JSON", () => {
  it.each([
    ["", "unexpected end of JSON input"],
    ['{"apiVersion":"v1",', "unexpected end of JSON input"],
    ['{"x":', "unexpected end of JSON input"],
    ['[{"op":"add"', "unexpected end of JSON input"],
    ["not json at all", "invalid character 'o' in literal null (expecting 'u')"],
    ["trx", "invalid character 'x' in literal true (expecting 'u')"],
    ["falze", "invalid character 'z' in literal false (expecting 's')"],
    ["{a:1}", "invalid character 'a' looking for beginning of object key string"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b"}', "invalid character '\"' after object key:value pair"],
    ["[1 2]", "invalid character '2' after array element"],
    ["[1,]", "invalid character ']' looking for beginning of value"],
    ["{} x", "invalid character 'x' after top-level value"],
    ['"a\nb"', "invalid character '\\n' in string literal"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
    ["-x", "invalid character 'x' in numeric literal"],
    ["01", "invalid character '1' after top-level value"],
    ["1.x", "invalid character 'x' after decimal point in numeric literal"],
    ["1ex", "invalid character 'x' in exponent of numeric literal"],
    ["'a'", "invalid character '\\'' looking for beginning of value"],
    ["é", "invalid character 'Ã' looking for beginning of value"],
    ["\u{9e}", "invalid character 'Â' looking for beginning of value"],
  ])("%j", (text, message) => expect(() => parseJson(text)).toThrow(message));

  it.each([
    ["[".repeat(1_000_000), "invalid character '[' exceeded max depth"],
    [`${"[".repeat(1001)}${"]".repeat(1001)}`, "invalid character '[' exceeded max depth"],
    [`${'{"a":'.repeat(10_001)}1${"}".repeat(10_001)}`, "invalid character '{' exceeded max depth"],
  ])("may be nested too deeply", (text, message) => expect(() => parseDocument(text)).toThrow(message));

  it("is not what is nested as deeply as all walks can go", () => {
    const strings = JSON.stringify(["[[[[\\", '{"{{{'.repeat(5000)]);
    expect(parseDocument(`${"[".repeat(999)}${strings}${"]".repeat(999)}`).facts.depth).toBe(1000);
  });

  it("is what JSON.parse takes it for", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0123ae-.tfn l') }), (text) => {
        let fits = true;
        try {
          JSON.parse(text);
        } catch {
          fits = false;
        }
        expect(new JsonScanner(text).scan() === undefined).toBe(fits);
      }),
      { numRuns: 500 },
    );
  });
});

describe("numbers", () => {
  it.each<[string, Json]>([
    ["9007199254740991", 9007199254740991],
    ["9007199254740993", 9007199254740993n],
    ["-9223372036854775808", -9223372036854775808n],
    ["9223372036854775807", 9223372036854775807n],
    // As in Go, what does not fit 64 bits is floating, and so is what has an exponent or a fraction.
    ["9223372036854775808", 2 ** 63],
    ["9007199254740993.0", 9007199254740992],
    ["1e18", 1e18],
    ["0.12345678901234567890", 0.12345678901234568],
    ['"9007199254740993"', "9007199254740993"],
    ["1e-400", 0],
  ])("%s", (text, want) => expect(parseJson(`{"a":[${text}]}`)).toEqual({ a: [want] }));

  it.each(["1e400", "-1.5E+999", "9".repeat(400)])("refuses %s", (text) => {
    const why = `json: cannot unmarshal number ${text} into Go value of type float64`;
    expect(() => parseJson(`{"a":${text}}`)).toThrow(why);
  });

  it("keep all their digits from text to text", () => {
    const integer = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    fc.assert(
      fc.property(
        fc.array(fc.record({ a: integer, b: fc.double({ noNaN: true, noDefaultInfinity: true }) })),
        (list) => {
          const text = `[${list.map(({ a, b }) => `{"a":${a},"b":${JSON.stringify(b)}}`).join()}]`;
          expect(writeJson(parseJson(text))).toBe(text);
        },
      ),
    );
  });

  it.each([
    ['{"a":1,"b":"1.5","c":[true]}', false],
    ["[1,1.5]", true],
    ['{"a":1.5}', true],
    ['{"a" : -1e3}', true],
    ['{"a":12,"b":{"c":1E3}}', true],
  ])("with a fraction or an exponent in %s: %s", (text, want) => expect(textFacts(text).fractions).toBe(want));
});

describe("strings with half a pair of surrogates", () => {
  it.each([
    ['"\\ud83d\\ude42"', "🙂"],
    ['"\\ud83d"', "\ufffd"],
    ['"\\uDE42\\ud83dx"', "\ufffd\ufffdx"],
    ['"\\\\ud83d"', "\\ud83d"],
    ['{"\\ud800":1}', { "\ufffd": 1 }],
  ])("%s", (text, want) => expect(parseJson(text)).toEqual(want));
});

describe("strict decoding", () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['{"a":1,"b":{"c":2}}', [], []],
    ['{"a":1,"b":{"c":2}}', ["b.c"], ['unknown field "b.c"']],
    ['{"a":1,"a":2}', [], ['duplicate field "a"']],
    ['{"a":1,"a":2,"a":3}', [], ['duplicate field "a"']],
    ['{"a":1,"\\u0061":2}', [], ['duplicate field "a"']],
    [
      '{"metadata":{"name":"a","nosuch":1},"data":{"a":"1","a":"2"},"extra":{"x":1,"x":2}}',
      ["metadata.nosuch", "extra"],
      ['unknown field "metadata.nosuch"', 'duplicate field "data.a"', 'unknown field "extra"'],
    ],
    [
      '{"spec":{"restartPolicy":"Never","restartPolicy":"Always","containers":[{"image":"x","image":"y","Image":"z"}]}}',
      ["spec.containers[0].Image"],
      [
        'duplicate field "spec.restartPolicy"',
        'duplicate field "spec.containers[0].image"',
        'unknown field "spec.containers[0].Image"',
      ],
    ],
  ])("of %s", (text, unknown, want) => expect(strictFieldErrors(text, parseJson(text), unknown)).toEqual(want));

  it("sees a duplicate wherever there is one, and nowhere else", () => {
    const value = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 2), (given, indent) => {
        const text = JSON.stringify(given, null, indent);
        expect(hasDuplicateKeys(text, JSON.parse(text) as Json)).toBe(false);
        const twice = `{"a\\"":${text},"a\\"" : ${text}}`;
        expect(hasDuplicateKeys(twice, JSON.parse(twice) as Json)).toBe(true);
      }),
    );
  });
});
