import { describe, expect, it } from "vitest";
import { alwaysAllow } from "./always.ts";
import type { ModeSpec } from "./config.ts";
import { CurrentModes } from "./current-modes.ts";
import { type Mode, NO_RULES } from "./mode.ts";
import { answer, asking, user } from "./testing/questions.ts";
import type { Verdict } from "./verdict.ts";

const ann = user("ann");
const hook = (name: string) => ({ type: "Webhook", name }) as ModeSpec;
const NODE: ModeSpec = { type: "Node", name: "node" };
const RBAC: ModeSpec = { type: "RBAC", name: "rbac" };
const DENY: ModeSpec = { type: "AlwaysDeny", name: "alwaysdeny" };

/** Webhooks answer when the test says so; others have a reason with the number of their making. */
function started(specs: readonly ModeSpec[]) {
  const [made, retired]: [string[], string[]] = [[], []];
  const answers = new Map<string, (verdict: Verdict) => void>();
  const modes = new CurrentModes(
    specs,
    {
      lasting: ({ type, name }) => {
        made.push(name);
        const verdict: Verdict = { decision: "noOpinion", reason: name };
        return { type, name, authorize: () => verdict, rulesFor: () => NO_RULES } satisfies Mode;
      },
      webhook: ({ name }) => ({
        mode: {
          ...alwaysAllow(name),
          type: "Webhook",
          authorize: () => new Promise((resolve) => answers.set(name, resolve)),
        },
        retire: () => void retired.push(name),
      }),
    },
    () => {},
  );
  return { modes, made, retired, answers, ask: () => answer(modes.authorize, asking(ann, "GET /metrics")) };
}

describe("a replacement of the modes", () => {
  it("applies to the requests that come after it, in its order", async () => {
    const { modes, ask, made } = started([NODE, RBAC]);
    expect(await ask()).toBe("noOpinion: node\nrbac");
    modes.replace([RBAC, NODE]);
    expect(await ask()).toBe("noOpinion: rbac\nnode");
    expect(made).toEqual(["node", "rbac"]);
  });

  it("lets a request end with the webhook with which it began", async () => {
    const { modes, ask, answers, retired } = started([NODE, hook("old")]);
    const before = ask();
    modes.replace([hook("new"), NODE]);
    expect(retired).toEqual(["old"]);
    const after = ask();
    answers.get("new")?.({ decision: "deny", reason: "by the new one" });
    answers.get("old")?.({ decision: "allow", reason: "by the old one" });
    expect(await before).toBe("allow: by the old one");
    expect(await after).toBe("deny: by the new one");
  });

  it.each([
    { name: "leaves one out", next: [NODE], want: "missing required types: [RBAC]" },
    { name: "leaves all out", next: [hook("h")], want: "missing required types: [Node RBAC]" },
    {
      name: "adds one with state",
      next: [NODE, RBAC, { type: "ABAC", name: "abac", policies: [] } as ModeSpec],
      want: "authorizer type ABAC is not allowed if it was not enabled at initial server startup",
    },
  ])("is refused if it $name, and changes nothing", async ({ next, want }) => {
    const { modes, ask, retired } = started([NODE, RBAC]);
    expect(() => modes.replace(next)).toThrow(want);
    expect(await ask()).toBe("noOpinion: node\nrbac");
    expect(retired).toEqual([]);
  });

  it("may add one without state", async () => {
    const { modes, ask } = started([RBAC]);
    modes.replace([RBAC, DENY]);
    expect(await ask()).toBe("noOpinion: rbac\nalwaysdeny");
  });
});
