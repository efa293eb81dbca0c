import { describe, expect, it } from "vitest";
import { alwaysAllow, alwaysDeny } from "./always.ts";
import { type Authorizer, annotate, demand, denied } from "./authorizer.ts";
import { allRules, chain } from "./chain.ts";
import { type Mode, NO_RULES } from "./mode.ts";
import { answer, asking, user } from "./testing/questions.ts";
import { ALLOW, NO_OPINION, noOpinion, type Verdict } from "./verdict.ts";

const ann = user("ann");

describe("what a refusal says", () => {
  it.each([
    { request: "GET /metrics", want: 'forbidden: User "ann" cannot get path "/metrics"' },
    {
      request: "GET /api/v1/namespaces/ns/pods/web/log",
      want: 'pods "web" is forbidden: User "ann" cannot get resource "pods/log" in API group "" in the namespace "ns"',
    },
    {
      request: "POST /apis/apps/v1/namespaces/ns/deployments",
      want: 'deployments.apps is forbidden: User "ann" cannot create resource "deployments" in API group "apps" in the namespace "ns"',
    },
    {
      request: "GET /api/v1/nodes",
      want: 'nodes is forbidden: User "ann" cannot list resource "nodes" in API group "" at the cluster scope',
    },
    {
      request: "GET /<script>&",
      want: 'forbidden: User "ann" cannot get path "/&lt;script&gt;&amp;"',
    },
  ])("$request", ({ request, want }) => {
    expect(denied(asking(ann, request))).toMatchObject({ code: 403, reason: "Forbidden", message: want });
  });

  it("ends with the reason, as it was given", () => {
    expect(denied(asking(ann, "GET /x"), "because <it> is so").message).toMatch(/"\/x": because <it> is so$/);
  });

  it("is a fault of the server where an authorizer failed", async () => {
    const failing: Authorizer = () => ({ decision: "deny", reason: "", error: "out of reach" });
    expect(() => demand(failing, asking(ann, "GET /x"))).toThrow("Internal error occurred: out of reach");
    const later: Authorizer = async () => ({ decision: "noOpinion", reason: "no" });
    await expect(demand(later, asking(ann, "GET /x"))).rejects.toMatchObject({ code: 403 });
  });
});

describe("what the audit log keeps", () => {
  const decision = "authorization.k8s.io/decision";
  const reason = "authorization.k8s.io/reason";
  it.each<[Verdict, object]>([
    [
      { decision: "allow", reason: "r" },
      { [decision]: "allow", [reason]: "r" },
    ],
    [
      { decision: "allow", reason: "", error: "e" },
      { [decision]: "allow", [reason]: "" },
    ],
    [
      { decision: "deny", reason: "r" },
      { [decision]: "forbid", [reason]: "r" },
    ],
    [
      { decision: "noOpinion", reason: "" },
      { [decision]: "forbid", [reason]: "" },
    ],
    [{ decision: "noOpinion", reason: "r", error: "e" }, { [reason]: "internal error" }],
  ])("%j", (verdict, want) => {
    const annotations = new Map<string, string>();
    annotate(verdict, annotations);
    expect(Object.fromEntries(annotations)).toEqual(want);
  });
});

describe("a chain of modes", () => {
  const mode = (name: string, verdict: Verdict | Promise<Verdict>): Mode => ({
    type: "Webhook",
    name,
    authorize: () => verdict,
    rulesFor: () => NO_RULES,
  });
  const yes = mode("yes", { decision: "allow", reason: "yes" });
  const no = mode("no", { decision: "deny", reason: "no" });
  const later = (verdict: Verdict) => mode("later", Promise.resolve(verdict));
  const silent = mode("silent", NO_OPINION);
  const hint = mode("hint", noOpinion("a hint"));
  const broken = mode("broken", { decision: "noOpinion", reason: "", error: "broken" });

  it.each<[string, readonly Mode[], string]>([
    ["nobody", [], "noOpinion"],
    ["one allows", [silent, yes], "allow: yes"],
    ["one denies before", [silent, no, yes], "deny: no"],
    ["one allows before", [yes, no], "allow: yes"],
    ["reasons add up", [hint, silent, mode("other", noOpinion("another"))], "noOpinion: a hint\nanother"],
    ["a late answer", [silent, later({ decision: "allow", reason: "late" }), no], "allow: late"],
    ["a late no opinion", [hint, later(noOpinion("late")), no], "deny: no"],
    ["late hints add up", [hint, later(noOpinion("late")), hint], "noOpinion: a hint\nlate\na hint"],
    ["faults are told", [broken, hint], "noOpinion: a hint: broken"],
    ["faults are forgotten when somebody allows", [broken, yes], "allow: yes"],
    ["AlwaysAllow", [alwaysAllow()], "allow"],
    ["AlwaysDeny", [alwaysDeny()], "noOpinion: Everything is forbidden."],
    ["AlwaysDeny has no last word", [alwaysDeny(), yes], "allow: yes"],
  ])("%s", async (_, modes, want) => {
    expect(await answer(chain(modes), asking(ann, "GET /api/v1/pods"))).toBe(want);
  });

  it("lets system:masters pass whatever the modes say", async () => {
    expect(chain([no])(asking(user("admin", "system:masters"), "DELETE /api/v1/nodes"))).toBe(ALLOW);
    expect(await answer(chain([no]), asking(user("admin", "System:Masters"), "DELETE /api/v1/nodes"))).toBe("deny: no");
  });

  it("answers at once when every mode does", () => {
    expect(chain([silent, hint, yes])(asking(ann, "GET /x"))).not.toBeInstanceOf(Promise);
  });

  it("tells which mode decided", async () => {
    const decided: string[] = [];
    const ask = (modes: readonly Mode[]) =>
      chain(modes, ({ name }, { decision }) => decided.push(`${name} ${decision}`))(asking(ann, "GET /x"));
    await ask([silent, yes]);
    await ask([later(ALLOW)]);
    await ask([silent, hint]);
    expect(decided).toEqual(["yes allow", "later allow"]);
  });

  it("knows all rules of its modes, and what it cannot know", () => {
    const unknown: Mode = {
      ...silent,
      rulesFor: () => ({ ...NO_RULES, incomplete: true, evaluationError: "cannot say" }),
    };
    expect(allRules([alwaysAllow(), unknown, unknown], ann, "ns")).toEqual({
      resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
      nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
      incomplete: true,
      evaluationError: "cannot say",
    });
  });
});
