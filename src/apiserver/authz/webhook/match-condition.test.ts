import { describe, expect, it } from "vitest";
import { asking, user } from "../testing/questions.ts";
import { matchCondition } from "./match-condition.ts";
import { reviewSpec } from "./review.ts";

const ann = user("ann", "dev");
const secrets = "GET /api/v1/namespaces/ns/secrets/s";

describe("conditions of authorization webhooks", () => {
  it.each<[expression: string, request: string, want: boolean]>([
    ["has(request.resourceAttributes)", secrets, true],
    ["has(request.resourceAttributes)", "GET /metrics", false],
    ["request.resourceAttributes.namespace == 'ns' && request.resourceAttributes.subresource == ''", secrets, true],
    [
      "request.user == 'ann' && 'dev' in request.groups && request.uid == '' && size(request.extra) == 0",
      secrets,
      true,
    ],
    ["!('system:masters' in request.groups) && request.resourceAttributes.verb == 'list'", secrets, false],
    ["request.nonResourceAttributes.path == '/metrics'", "GET /metrics", true],
    ["has(request.resourceAttributes.fieldSelector)", secrets, false],
    [
      "request.resourceAttributes.fieldSelector.requirements[0].values == ['n'] && request.resourceAttributes.labelSelector.requirements.exists(r, r.key == 'a' && r.operator == 'In')",
      "GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn&labelSelector=a%3Db",
      true,
    ],
  ])("%s of %s: %s", (expression, request, want) => {
    expect(matchCondition(expression)(reviewSpec(asking(ann, request)))).toBe(want);
  });

  it.each([
    ["request.nope == 1", "undefined field 'nope'"],
    ["request.user", "must evaluate to bool but got string"],
    ["request.", "Syntax error"],
  ])("%s is refused: %s", (expression, why) => {
    expect(() => matchCondition(expression)).toThrow(why);
  });

  it("say why they cannot be evaluated", () => {
    const condition = matchCondition("request.resourceAttributes.name == 'x'");
    expect(() => condition(reviewSpec(asking(ann, "GET /metrics")))).toThrow(
      "cel evaluation error: expression 'request.resourceAttributes.name == 'x'' resulted in error: no such key: resourceAttributes",
    );
  });
});
