import { describe, expect, it } from "vitest";
import { Works } from "#flows";
import { RevisionSpans } from "#tracing";
import { RequestExchange } from "../pipeline/exchange.ts";
import { parentageOf } from "./parentage.ts";

const [T1, T2] = ["1".repeat(32), "2".repeat(32)];
const [S1, S2] = ["a".repeat(16), "b".repeat(16)];
const WRITE = { traceId: T1, spanId: S1, sampled: true };
const SENT = { traceId: T2, spanId: S2, sampled: true };

const facts = { about: "default/web", resource: "apps/deployments", startedAt: 1, decided: "create 1 ReplicaSet" };
const cause = (woken: readonly number[]) => new Works("deployment-controller").cause({ ...facts, woken });
const CONTROLLER = "system:serviceaccount:kube-system:deployment-controller";

describe("a request continues", () => {
  it.each([
    {
      name: "the trace that an admin sends",
      user: "admin",
      groups: ["system:masters"],
      traceparent: `00-${T2}-${S2}-01`,
      want: { parent: SENT },
    },
    {
      name: "no trace, if an admin says that it is not sampled",
      user: "admin",
      groups: ["system:masters"],
      traceparent: `00-${T2}-${S2}-00`,
      want: { parent: { ...SENT, sampled: false } },
    },
    {
      name: "no trace of a user, but is linked to it",
      user: "jane",
      groups: [],
      traceparent: `00-${T2}-${S2}-01`,
      want: { parent: undefined, link: SENT },
    },
    {
      name: "the trace of the write that woke a controller, which is told so",
      user: CONTROLLER,
      groups: [],
      traceparent: `00-${T2}-${S2}-00`,
      woken: [3, 7],
      want: { parent: { ...WRITE, spanId: S2 }, tell: { revision: 7, by: WRITE } },
    },
    {
      name: "the same trace without further words, once the controller knows it",
      user: CONTROLLER,
      groups: [],
      traceparent: `00-${T1}-${S2}-01`,
      woken: [7],
      want: { parent: { ...WRITE, spanId: S2 } },
    },
    {
      name: "the trace of the write, where the controller has no traces of its own",
      user: CONTROLLER,
      groups: [],
      woken: [7],
      want: { parent: WRITE },
    },
    {
      name: "nothing, where a user claims the work of a controller",
      user: "jane",
      groups: [],
      woken: [7],
      want: { parent: undefined },
    },
    {
      name: "nothing, where the write is not known",
      user: CONTROLLER,
      groups: [],
      woken: [8],
      want: { parent: undefined },
    },
    {
      name: "the trace of a component of this process",
      user: "system:kube-scheduler",
      groups: [],
      traceparent: `00-${T2}-${S2}-01`,
      local: true,
      want: { parent: SENT },
    },
  ])("$name", ({ user, groups, traceparent, woken, local = false, want }) => {
    const revisions = new RevisionSpans();
    revisions.wrote(7, WRITE);
    const exchange = new RequestExchange({
      method: "POST",
      path: "/",
      query: new URLSearchParams(),
      headers: { traceparent, ...(woken !== undefined && { "k8ts-cause": cause(woken) }) },
      remoteAddress: local ? undefined : "127.0.0.1",
      body: async () => Buffer.alloc(0),
      signal: new AbortController().signal,
    }).authenticated({ name: user, groups });
    expect(parentageOf(exchange, revisions)).toEqual(want);
  });
});
