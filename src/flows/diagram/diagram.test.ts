import { describe, expect, it } from "vitest";
import { ascii } from "../render/ascii.ts";
import { mermaid } from "../render/mermaid.ts";
import { rollout, Story } from "../testing/records.ts";
import { trace } from "../trace/trace.ts";
import { diagramOf } from "./diagram.ts";

const WEB = { resource: "apps/deployments", namespace: "default", name: "web" };

function drawn(fold = true) {
  return diagramOf(trace(rollout().records, { object: WEB }).records, { fold });
}

describe("a diagram", () => {
  it("names who took part in order of appearance", () => {
    expect(drawn().participants).toEqual([
      "kubectl",
      "apiserver",
      "store",
      "deployment-controller",
      "replicaset-controller",
      "scheduler",
    ]);
  });

  it("folds what is alike, over whole branches", () => {
    const times = (text: RegExp) =>
      drawn()
        .lines.filter((line) => text.test(line.text))
        .map((line) => line.times);
    expect(times(/^POST pods$/)).toEqual([2]);
    expect(times(/^n1 of 3 nodes$/)).toEqual([2]);
    expect(times(/^POST deployments$/)).toEqual([1]);
    expect(drawn().lines.every((line) => line.records.length === line.times)).toBe(true);
    expect(drawn(false).lines.every((line) => line.times === 1)).toBe(true);
  });

  /** A controller makes three Pods on as many nodes, each once the one before it runs, and says so at the end. */
  function rounds(): Story {
    const story = new Story().request({ resource: "apps/deployments", name: "web", revision: 1 });
    const controller = { actor: "c", user: "system:serviceaccount:kube-system:c" };
    const report = { verb: "update", subresource: "status", status: 200, change: "MODIFIED" } as const;
    let woken = 1;
    for (const [round, pod] of ["web-bcdfg", "web-hjklm", "web-npqrs"].entries()) {
      const [made, runs] = [10 * round + 11, 10 * round + 12];
      const node = { actor: `kubelet/n${round}`, user: `system:node:n${round}` };
      story
        .work({ id: `make-${round}`, actor: "c", about: "default/web", woken: [woken], decided: `create Pod ${pod}` })
        .request({ ...controller, name: pod, cause: `make-${round}`, revision: made })
        .work({ id: `run-${round}`, actor: node.actor, about: `default/${pod}`, woken: [made], decided: "Running" })
        .request({ ...report, ...node, name: pod, cause: `run-${round}`, revision: runs });
      woken = runs;
    }
    return story
      .work({ id: "say", actor: "c", about: "default/web", woken: [woken] })
      .request({ ...report, ...controller, resource: "apps/deployments", name: "web", cause: "say", revision: 40 });
  }

  it("folds rounds, but not a report that led to something with one that did not", () => {
    expect(diagramOf(rounds().records).lines.map(({ text, times }) => `${text} ×${times}`)).toEqual([
      "POST deployments ×1",
      "alice ✓ ×1",
      "web @1 ×1",
      "ADDED web @1 ×3",
      "201 ×1",
      "create Pod web-bcdfg ×3",
      "POST pods ×3",
      "web-bcdfg @11…31 ×3",
      "ADDED web-bcdfg @11 ×2",
      "Running ×2",
      "PUT pods/web-bcdfg/status ×2",
      "web-bcdfg @12…22 ×2",
      "ADDED web-npqrs @31 ×1",
      "Running (n2) ×1",
      "PUT pods/web-npqrs/status ×1",
      "web-npqrs @32 ×1",
      "MODIFIED web-npqrs @32 ×1",
      "PUT deployments/web/status ×1",
      "web @40 ×1",
    ]);
  });

  it("draws kubelets of several nodes as one where they did the same, unless somebody asks for one of them", () => {
    const names = (options = {}) =>
      diagramOf(rounds().records, options).participants.filter((each) => /kubelet/.test(each));
    expect(names()).toEqual(["kubelet/n0 +2"]);
    expect(names({ nodesApart: true })).toEqual(["kubelet/n0", "kubelet/n1", "kubelet/n2"]);
    expect(names({ only: ["kubelet/n1"] })).toEqual(["kubelet/n1"]);
    expect(names({ fold: false })).toEqual(["kubelet/n0", "kubelet/n1", "kubelet/n2"]);
  });

  it("says of a component's write that it went well only where it did not", () => {
    const answers = (status: number) =>
      diagramOf(
        new Story()
          .work({ id: "w", actor: "scheduler" })
          .request({ actor: "scheduler", user: "system:kube-scheduler", cause: "w", revision: 3, status }).records,
      ).lines.filter(({ arrow }) => arrow === "answer");
    expect(answers(201)).toEqual([]);
    expect(answers(409)).toHaveLength(1);
  });

  it("does not fold what took another turn", () => {
    const { records } = new Story()
      .work({ id: "r" })
      .request({ name: "a-bcdfg", cause: "r", revision: 2 })
      .request({ name: "a-hjklm", cause: "r", status: 403, reason: "Forbidden" });
    expect(diagramOf(records).lines.filter(({ text }) => text === "POST pods")).toHaveLength(2);
  });

  it("puts nothing above what caused it, whatever the clocks say", () => {
    const { records } = new Story()
      .work({ id: "w", actor: "late", woken: [1], decided: "something", at: 3 })
      .request({ name: "b", actor: "late", revision: 2, cause: "w", at: 3 })
      .request({ name: "a", revision: 1, at: 5 });
    expect(diagramOf(records).lines.map(({ text }) => text)).toEqual([
      "POST pods",
      "alice ✓",
      "a @1",
      "ADDED a @1",
      "something",
      "POST pods",
      "alice ✓",
      "b @2",
      "201",
      "201",
    ]);
  });

  it("shows only those asked for", () => {
    const { records } = trace(rollout().records, { object: WEB });
    expect(diagramOf(records, { only: ["scheduler"] }).participants).toEqual(["apiserver", "scheduler"]);
  });

  it("says so where a work is only claimed", () => {
    const { records } = new Story().work({ decided: "nothing bad", claimed: true });
    expect(diagramOf(records).lines.map(({ text }) => text)).toEqual(["says: nothing bad"]);
  });
});

describe("on a terminal", () => {
  it("looks like this", () => {
    const { records } = new Story()
      .request({ resource: "apps/deployments", name: "web", revision: 10, authorization: "RBAC" })
      .work({ actor: "deployment", woken: [10], decided: "new ReplicaSet", at: 1500 });
    expect(`\n${ascii(diagramOf(records), { columnWidth: 24 })}`).toBe(`
          kubectl                apiserver                 store                deployment
    0 ms     │── POST deployments ──►│                       │                       │
             │                       │ alice ✓ RBAC ✓        │                       │
    1 ms     │                       │═══════ web @10 ══════►│                       │
             │                       │---------------- ADDED web @10 ---------------►│
             │◄──────── 201 ─────────│                       │                       │
  1.50 s     │                       │                       │                       │ new ReplicaSet
`);
  });

  it("says again who is who, where there are pages", () => {
    const { records } = trace(rollout().records, { object: WEB });
    const rows = ascii(diagramOf(records), { headsEvery: 5 }).split("\n");
    const heads = rows.flatMap((row, at) => (row.includes("kubectl") ? [at] : []));
    expect(heads.slice(0, 3)).toEqual([0, 5, 10]);
    expect(ascii(diagramOf(records)).match(/kubectl/g)).toHaveLength(1);
  });

  it("puts words above an arrow that has no room for them", () => {
    const { records } = new Story().request({
      resource: "a/long-resource-names",
      name: "web",
      status: 403,
      reason: "Forbidden",
    });
    const rows = ascii(diagramOf(records), { columnWidth: 12 }).split("\n");
    expect(rows[1]).toContain("POST long-resource-names");
    expect(rows[2]).toContain("│──────────►│");
  });
});

describe("in Mermaid", () => {
  it("has a line for each arrow", () => {
    const { records } = new Story().request({ name: "x", revision: 3 });
    expect(mermaid(diagramOf(records))).toBe(
      [
        "sequenceDiagram",
        "  participant p0 as kubectl",
        "  participant p1 as apiserver",
        "  participant p2 as store",
        "  p0->>p1: POST pods",
        "  Note over p1: alice ✓",
        "  p1->>p2: x @3",
        "  p1-->>p0: 201",
        "",
      ].join("\n"),
    );
  });
});
