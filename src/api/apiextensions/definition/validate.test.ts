import { describe, expect, it } from "vitest";
import type {
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceDefinition as Definition,
  JSONSchemaProps,
} from "../../types/apiextensions-v1.ts";
import {
  definition,
  definitionChangeFaults,
  definitionFaults,
  list,
  mapOf,
  object,
  preserving,
  version,
} from "../testing/definitions.ts";

const text: JSONSchemaProps = { type: "string" };
const whole: JSONSchemaProps = { type: "integer" };
const short: JSONSchemaProps = { type: "string", maxLength: 5 };
const at = "spec.validation.openAPIV3Schema";
const label =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

function spec(more: Partial<CustomResourceDefinitionSpec>): Definition {
  return definition(preserving, {}, more);
}

function part(more: Partial<CustomResourceDefinitionVersion>): Definition {
  return definition(object({ spec: object({ a: text, o: object({}), m: mapOf(text) }) }), more);
}

const shownVersion =
  '{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}';

describe("a definition", () => {
  it.each<readonly [string, Definition, readonly string[]]>([
    ["is fine", spec({}), []],
    [
      "has a group",
      spec({ group: "" }),
      [
        'metadata.name: Invalid value: "things.example.com": must be spec.names.plural+"."+spec.group',
        "spec.group: Required value",
      ],
    ],
    ["has a scope", spec({ scope: "" }), ["spec.scope: Required value"]],
    [
      "names kinds",
      spec({
        names: { plural: "things", kind: "A B", listKind: "A B", singular: "S", shortNames: ["X"], categories: ["Y"] },
      }),
      [
        `spec.names.singular: Invalid value: "S": ${label}`,
        `spec.names.kind: Invalid value: "A B": may have mixed case, but should otherwise match: ${label}`,
        `spec.names.listKind: Invalid value: "A B": may have mixed case, but should otherwise match: ${label}`,
        `spec.names.shortNames[0]: Invalid value: "X": ${label}`,
        'spec.names.listKind: Invalid value: "A B": kind and listKind may not be the same',
        `spec.names.categories[0]: Invalid value: "Y": ${label}`,
      ],
    ],
    [
      "has versions",
      spec({ versions: [] }),
      [
        "spec.versions: Invalid value: []: must have exactly one version marked as storage version",
        "status.storedVersions: Invalid value: null: must have at least one stored version",
      ],
    ],
    [
      "one of which is stored",
      spec({ versions: [version(preserving, { storage: false })] }),
      [
        `spec.versions: Invalid value: [${shownVersion}]: must have exactly one version marked as storage version`,
        "status.storedVersions: Invalid value: null: must have at least one stored version",
      ],
    ],
    [
      "with names of their own",
      spec({ versions: [version(preserving), version(preserving, { storage: false })] }),
      [
        `spec.versions: Invalid value: [${shownVersion.replace('"Storage":false', '"Storage":true')},${shownVersion}]: must contain unique version names`,
      ],
    ],
    [
      "that are words",
      spec({ versions: [version(preserving, { name: "V1" })] }),
      [`spec.versions[0].name: Invalid value: "V1": ${label}`, `spec.version: Invalid value: "V1": ${label}`],
    ],
    [
      "has schemas",
      spec({ versions: [{ name: "v1", served: true, storage: true }] }),
      ["spec.versions[0].schema.openAPIV3Schema: Required value"],
    ],
    [
      "tells of what versions do not share where it stands",
      spec({ versions: [version(preserving), version({ type: "string" }, { name: "v2", storage: false })] }),
      ['spec.versions[1].schema.openAPIV3Schema.type: Invalid value: "string": must be object at the root'],
    ],
    [
      "needs approval in a protected group",
      { ...spec({ group: "x.k8s.io" }), metadata: { name: "things.x.k8s.io" } },
      [
        'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
      ],
    ],
    [
      "or says that it does not",
      {
        ...spec({ group: "x.k8s.io" }),
        metadata: {
          name: "things.x.k8s.io",
          annotations: { "api-approved.kubernetes.io": "unapproved, experimental" },
        },
      },
      [],
    ],
    [
      "has a warning only for what is deprecated",
      part({ deprecated: true, deprecationWarning: "a\nb" }),
      [
        'spec.versions[0].deprecationWarning: Invalid value: "a\\nb": must only contain printable UTF-8 characters; non-printable character found at index 1',
      ],
    ],
    [
      "has columns",
      part({ additionalPrinterColumns: [{ name: "", type: "", format: "x", jsonPath: "" }] }),
      [
        "spec.additionalPrinterColumns[0].name: Required value",
        "spec.additionalPrinterColumns[0].type: Required value: must be one of boolean,date,integer,number,string",
        'spec.additionalPrinterColumns[0].format: Invalid value: "x": must be one of byte,date,date-time,double,float,int32,int64,password',
        "spec.additionalPrinterColumns[0].JSONPath: Required value",
      ],
    ],
    [
      "selects by scalars",
      part({
        selectableFields: [".spec.a", ".spec.a", ".spec.o", ".metadata.name", ".spec['a']", "spec", ".spec.m.k"].map(
          (jsonPath) => ({ jsonPath }),
        ),
      }),
      [
        'spec.selectableFields[1].jsonPath: Duplicate value: ".spec.a"',
        'spec.selectableFields[2].jsonPath: Invalid value: ".spec.o": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
        'spec.selectableFields[3].jsonPath: Invalid value: ".metadata.name": is an invalid path: does not refer to a valid field',
        "spec.selectableFields[4].jsonPath: Invalid value: \".spec['a']\": is an invalid path: array notation is not allowed",
        'spec.selectableFields[5].jsonPath: Invalid value: "spec": is an invalid path: expected [ or . but got: spec',
      ],
    ],
    [
      "by eight at most",
      definition(object(Object.fromEntries("abcdefghi".split("").map((name) => [name, text]))), {
        selectableFields: "abcdefghi".split("").map((name) => ({ jsonPath: `.${name}` })),
      }),
      ["spec.selectableFields: Too many: 9: must have at most 8 items"],
    ],
    [
      "converts by one way",
      spec({
        conversion: { strategy: "Webhook", webhook: { clientConfig: {}, conversionReviewVersions: ["v1", "v1"] } },
      }),
      [
        "spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required",
        'spec.conversion.conversionReviewVersions[1]: Invalid value: "v1": duplicate version',
      ],
    ],
    [
      "that is known",
      spec({
        conversion: {
          strategy: "Webhook",
          webhook: { clientConfig: { url: "http://x" }, conversionReviewVersions: ["v3"] },
        },
      }),
      [
        "spec.conversion.webhookClientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[/path]",
        'spec.conversion.conversionReviewVersions: Invalid value: ["v3"]: must include at least one of v1, v1beta1',
      ],
    ],
    [
      "needs no webhook otherwise",
      spec({
        conversion: {
          strategy: "None",
          webhook: { clientConfig: { url: "https://x" }, conversionReviewVersions: ["v1"] },
        },
      }),
      [
        "spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook",
        "spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook",
      ],
    ],
  ])("%s", (_, made, want) => {
    expect(definitionFaults(made)).toEqual(want);
  });
});

const keys = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"] };

describe("a schema", () => {
  const rows: readonly (readonly [string, JSONSchemaProps, readonly string[]])[] = [
    ["has a type", { properties: {} }, [`${at}.type: Required value: must not be empty at the root`]],
    [
      "at every field",
      object({ a: {} }),
      [`${at}.properties[a].type: Required value: must not be empty for specified object fields`],
    ],
    [
      "and item",
      object({ a: list({}) }),
      [`${at}.properties[a].items.type: Required value: must not be empty for specified array items`],
    ],
    [
      "lists have items",
      object({ a: { type: "array" } }),
      [`${at}.properties[a].items: Required value: must be specified`],
    ],
    ["is no map", mapOf(text), [`${at}.additionalProperties: Forbidden: must not be used at the root`]],
    [
      "says what narrows it apart",
      object({ a: { ...whole, anyOf: [{ type: "integer", description: "x", minimum: 1 }] } }),
      [
        `${at}.properties[a].anyOf[0].description: Forbidden: must be empty to be structural`,
        `${at}.properties[a].anyOf[0].type: Forbidden: must be empty to be structural`,
      ],
    ],
    [
      "narrows what is there",
      object({}, { oneOf: [{ properties: { b: { minimum: 1 } } }] }),
      [`${at}.properties[b]: Required value: because it is defined in ${at}.oneOf[0].properties[b]`],
    ],
    [
      "may spell out int-or-string",
      object({
        a: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
        b: {
          "x-kubernetes-int-or-string": true,
          allOf: [{ anyOf: [{ type: "integer" }, { type: "string" }] }, { maximum: 1 }],
        },
      }),
      [],
    ],
    [
      "leaves metadata alone",
      object({ metadata: object({ labels: mapOf(text) }) }),
      [
        `${at}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`,
      ],
    ],
    ["but for names", object({ metadata: object({ name: { ...text, maxLength: 5 } }) }), []],
    [
      "knows what an object is",
      object({ kind: whole, apiVersion: whole }),
      [
        `${at}.properties[apiVersion].type: Invalid value: "integer": must be string`,
        `${at}.properties[kind].type: Invalid value: "integer": must be string`,
      ],
    ],
    [
      "has no defaults there",
      object({ kind: { ...text, default: "x" } }),
      [`${at}.properties[kind].default: Forbidden: must not be set in top-level kind`],
    ],
    [
      "has valid defaults",
      object({ a: { ...whole, maximum: 1, default: 2 } }),
      [`${at}.properties[a].default: Invalid value: 2:  in body should be less than or equal to 1`],
    ],
    [
      "with nothing unknown in them",
      object({ a: object({}, { default: { b: 1 } }) }),
      [`${at}.properties[a].default: Invalid value: {"b":1}: must not have unknown fields`],
    ],
    [
      "that keep its rules",
      object({ a: { ...whole, default: 2, "x-kubernetes-validations": [{ rule: "self < 1", message: "no" }] } }),
      [`${at}.properties[a].default: Invalid value: 2: no`],
    ],
    [
      "and make embedded objects",
      object({ a: { ...object({ kind: { ...text, default: "" } }), "x-kubernetes-embedded-resource": true } }),
      [
        `${at}.properties[a].properties[kind].default: Invalid value: "": must result in valid metadata: kind: Invalid value: "": must not be empty`,
      ],
    ],
    [
      "embeds objects",
      object({ a: { type: "array", items: {}, "x-kubernetes-embedded-resource": true } }),
      [
        `${at}.properties[a].items.type: Required value: must not be empty for specified array items`,
        `${at}.properties[a].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields`,
        `${at}.properties[a].type: Invalid value: "array": must be object if x-kubernetes-embedded-resource is true`,
      ],
    ],
    [
      "supports what it supports",
      object({
        a: {
          ...text,
          id: "x",
          patternProperties: { x: text },
          definitions: { y: text },
          dependencies: { z: ["a"] },
          additionalItems: true,
        },
      }),
      [
        `${at}.properties[a].id: Forbidden: id is not supported`,
        `${at}.properties[a].additionalItems: Forbidden: additionalItems is not supported`,
        `${at}.properties[a].patternProperties: Forbidden: patternProperties is not supported`,
        `${at}.properties[a].definitions: Forbidden: definitions is not supported`,
        `${at}.properties[a].dependencies: Forbidden: dependencies is not supported`,
      ],
    ],
    [
      "is a structure or a map",
      object({ a: mapOf(text, { properties: { b: text } }) }),
      [`${at}.properties[a].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`],
    ],
    [
      "has atomic items in sets",
      object({ a: list(object({}), { "x-kubernetes-list-type": "set" }) }),
      [
        `${at}.properties[a].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set`,
      ],
    ],
    [
      "has keys in map lists",
      object({
        a: list(object({ k: object({}) }), keys),
        b: list(object({ k: text }), keys),
        c: list(object({}), keys),
        d: list(text, keys),
      }),
      [
        `${at}.properties[a].items.properties[k].type: Invalid value: "object": must be a scalar type if parent array's x-kubernetes-list-type is map`,
        `${at}.properties[a].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
        `${at}.properties[b].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
        `${at}.properties[c].x-kubernetes-list-map-keys: Invalid value: ["k"]: entries must all be names of item properties`,
        `${at}.properties[d].items.type: Invalid value: "string": must be object if parent array's x-kubernetes-list-type is map`,
      ],
    ],
    [
      "has keys that are never null",
      object({ a: list(object({ k: { ...text, nullable: true } }, { required: ["k"], nullable: true }), keys) }),
      [
        `${at}.properties[a].items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is map`,
        `${at}.properties[a].items.properties[k].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable`,
      ],
    ],
    [
      "has extensions where they belong",
      object({ a: { ...text, "x-kubernetes-list-type": "atomic", "x-kubernetes-map-type": "x" } }),
      [
        `${at}.properties[a].type: Invalid value: "string": must be object if x-kubernetes-map-type is specified`,
        `${at}.properties[a].x-kubernetes-map-type: Unsupported value: "x": supported values: "atomic", "granular"`,
        `${at}.properties[a].type: Invalid value: "string": must be array if x-kubernetes-list-type is specified`,
      ],
    ],
    [
      "is never null",
      { ...preserving, nullable: true },
      ["spec.validation.openAPIV3Schema.nullable: Forbidden: nullable cannot be true at the root"],
    ],
  ];
  it.each(rows)("%s", (_, schema, want) => {
    expect(definitionFaults(definition(schema))).toEqual(want);
  });

  it("says little at its root if the status is written apart", () => {
    const [fault = ""] = definitionFaults(
      definition({ ...preserving, maxProperties: 3 }, { subresources: { status: {} } }),
    );
    expect(fault).toMatch(
      /^spec\.validation\.openAPIV3Schema: Invalid value: \{"ID":"","Schema":"","Ref":null,.*"MaxProperties":3,.*\}: only \[Description Type Format Title/,
    );
  });
});

describe("rules of a schema", () => {
  const rule = (said: object, type: JSONSchemaProps = text) =>
    definition(object({ a: { ...type, "x-kubernetes-validations": [{ rule: "true", ...said }] } }));
  const where = `${at}.properties[a].x-kubernetes-validations[0]`;
  const shown = (expression: string, more = "") =>
    `{"Rule":"${expression}","Message":"","MessageExpression":"${more}","Reason":null,"FieldPath":"","OptionalOldSelf":null}`;
  it.each<readonly [string, Definition, readonly string[]]>([
    ["are there", rule({ rule: " " }), [`${where}.rule: Required value: rule is not specified`]],
    ["have words", rule({ message: " " }), [`${where}.message: Invalid value: " ": must be non-empty if specified`]],
    [
      "in one line",
      rule({ message: "a\nb" }),
      [`${where}.message: Invalid value: "a\\nb": must not contain line breaks`],
    ],
    [
      "if they have more lines themselves",
      rule({ rule: "true\n&& true" }),
      [`${where}.message: Required value: message must be specified if rule contains line breaks`],
    ],
    [
      "have reasons",
      rule({ reason: "X" }),
      [
        `${where}.reason: Unsupported value: "X": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
      ],
    ],
    [
      "lead somewhere",
      rule({ fieldPath: ".x" }, object({ y: text })),
      [`${where}.fieldPath: Invalid value: ".x": must be a valid path`],
    ],
    [
      "compile",
      rule({ rule: "self.x" }),
      [
        `${where}.rule: Invalid value: ${shown("self.x")}: compilation failed: ERROR: <input>:1:5: type 'string' does not support field selection\n | self.x\n | ....^`,
      ],
    ],
    [
      "say yes or no",
      rule({ rule: "self" }),
      [`${where}.rule: Invalid value: ${shown("self")}: cel expression must evaluate to a bool`],
    ],
    [
      "have messages that are text",
      rule({ messageExpression: "1" }),
      [`${where}.messageExpression: Invalid value: ${shown("true", "1")}: messageExpression must evaluate to a string`],
    ],
    [
      "ask for the old value if they may do without",
      rule({ optionalOldSelf: true }),
      [`${where}.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule`],
    ],
    [
      "ask for it where there is one",
      definition(
        object({ a: list({ ...short, "x-kubernetes-validations": [{ rule: "self == oldSelf" }] }, { maxItems: 5 }) }),
      ),
      [
        `${at}.properties[a].items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${at}.properties[a]`,
      ],
    ],
    [
      "may compare in map lists",
      definition(
        object({
          a: list(
            {
              ...object({ k: short }, { required: ["k"] }),
              "x-kubernetes-validations": [{ rule: "self.k == oldSelf.k" }],
            },
            { ...keys, maxItems: 5 },
          ),
        }),
      ),
      [],
    ],
  ])("%s", (_, made, want) => {
    expect(definitionFaults(made)).toEqual(want);
  });

  it("cannot cost too much, alone or together", () => {
    const lists = object({
      a: list(list(whole), {
        "x-kubernetes-validations": [{ rule: "self.all(x, x.all(y, self.all(z, z.all(w, y + w > 0))))" }],
      }),
    });
    expect(definitionFaults(definition(lists))).toEqual([
      `${where}.rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`,
      `${where}.rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
      `${at}: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`,
    ]);
  });
});

describe("a change of a definition", () => {
  it.each<readonly [string, Definition, Definition, readonly string[]]>([
    [
      "keeps names",
      spec({}),
      spec({ names: { plural: "others", kind: "Other" }, scope: "Cluster", group: "other.com" }),
      [
        'spec.scope: Invalid value: "Cluster": field is immutable',
        'spec.names.kind: Invalid value: "Other": field is immutable',
        'spec.group: Invalid value: "other.com": field is immutable',
        'spec.names.plural: Invalid value: "others": field is immutable',
      ],
    ],
    [
      "keeps versions that are stored",
      spec({}),
      spec({ versions: [version(preserving, { name: "v2" })] }),
      [
        'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions',
      ],
    ],
    [
      "may keep types that are none",
      definition(object({ a: { type: "x" } })),
      definition(object({ a: { type: "x" }, b: text })),
      [],
    ],
    [
      "may keep sets that are none",
      definition(object({ a: list(object({}), { "x-kubernetes-list-type": "set" }) })),
      definition(object({ a: list(object({}), { "x-kubernetes-list-type": "set" }), b: text })),
      [],
    ],
    [
      "may keep defaults that are not pruned",
      definition(object({ a: object({}, { default: { x: 1 } }) })),
      definition(object({ a: object({}, { default: { x: 1 } }), b: text })),
      [],
    ],
    [
      "may not begin to keep everything",
      spec({}),
      spec({ preserveUnknownFields: true }),
      [
        "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
      ],
    ],
    [
      "may keep what a single rule costs",
      expensive(),
      { ...expensive(), metadata: { name: "things.example.com", labels: { a: "b" } } },
      [],
    ],
  ])("%s", (_, before, after, want) => {
    const faults = definitionChangeFaults(before, after);
    expect(faults).toEqual(want);
  });

  function expensive(): Definition {
    const rule = { rule: "self.all(x, x.contains('abcdefghij'))" };
    return definition(object({ a: list(text, { maxItems: 60, "x-kubernetes-validations": [rule] }) }));
  }
});
