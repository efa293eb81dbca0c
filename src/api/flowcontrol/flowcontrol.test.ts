import { describe, expect, it } from "vitest";
import { create, faults } from "../testing/pure-server.ts";
import { FlowSchema } from "./flow-schema.ts";
import { PriorityLevelConfiguration } from "./priority-level-configuration.ts";

const metadata = { name: "one" };

describe("FlowSchema", () => {
  const rule = {
    subjects: [{ kind: "User", user: { name: "u" } }],
    nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
  };
  const spec = (rules: object) => ({ priorityLevelConfiguration: { name: "p" }, rules: [{ ...rule, ...rules }] });

  it.each<[object, readonly string[]]>([
    [{}, []],
    [
      { subjects: [{ kind: "User" }] },
      ["spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'"],
    ],
    [
      { subjects: [{ kind: "Group", group: { name: "g" }, user: { name: "u" } }] },
      ["spec.rules[0].subjects[0].user: Forbidden: user is forbidden when subject kind is not 'User'"],
    ],
    [
      { resourceRules: [{ verbs: ["get"], apiGroups: ["*"], resources: ["*"] }] },
      [
        "spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace",
      ],
    ],
    [
      { nonResourceRules: [{ verbs: ["get", "*"], nonResourceURLs: ["/a"] }] },
      [
        'spec.rules[0].nonResourceRules[0].verbs: Invalid value: ["get","*"]: if \'*\' is present, must not specify other verbs',
      ],
    ],
  ])("%j", (rules, want) => expect(faults(FlowSchema, { spec: spec(rules) } as never)).toEqual(want));

  it("comes after a thousand others", () => {
    expect(create(FlowSchema, { metadata, spec: spec({}) }).object).toMatchObject({
      spec: { matchingPrecedence: 1000 },
    });
  });
});

describe("PriorityLevelConfiguration", () => {
  it("has shares and queues", () => {
    const limited = { limitResponse: { type: "Queue", queuing: {} } };
    expect(create(PriorityLevelConfiguration, { metadata, spec: { type: "Limited", limited } }).object).toMatchObject({
      spec: {
        limited: {
          nominalConcurrencyShares: 30,
          lendablePercent: 0,
          limitResponse: { queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
        },
      },
    });
  });

  it.each<[object, readonly string[]]>([
    [
      { type: "Exempt", exempt: {} },
      ["spec.type: Invalid value: \"Exempt\": type must be 'Exempt' if and only if name is 'exempt'"],
    ],
    [{ type: "Limited" }, ["spec.limited: Required value: must not be empty when type is Limited"]],
    [
      { type: "Limited", limited: { limitResponse: { type: "Queue" } } },
      [
        "spec.limited.limitResponse.queuing: Required value: must not be empty if limited.limitResponse.type is Limited",
      ],
    ],
    [
      { type: "Limited", limited: { limitResponse: { type: "Queue", queuing: { queues: 4 } } } },
      ["spec.limited.limitResponse.queuing.handSize: Invalid value: 8: should not be greater than queues (4)"],
    ],
    [
      { type: "Limited", limited: { limitResponse: { type: "Queue", queuing: { queues: 512 } } } },
      [
        "spec.limited.limitResponse.queuing.handSize: Invalid value: 8: required entropy bits of deckSize 512 and handSize 8 should not be greater than 60",
      ],
    ],
  ])("%j", (spec, want) => expect(faults(PriorityLevelConfiguration, { spec } as never)).toEqual(want));
});
