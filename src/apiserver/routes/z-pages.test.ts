import { describe, expect, it } from "vitest";
import { answerZPage, type ZPageFacts } from "./z-pages.ts";

const facts: ZPageFacts = {
  name: "kube-scheduler",
  startedMs: Date.UTC(2026, 10, 6, 17, 28, 5),
  flags: { "secure-port": "10259", "leader-elect": "true" },
  paths: ["/healthz", "/metrics"],
  served: ["statusz", "flagz"],
};
const nowMs = facts.startedMs + 3_723_000;
const BETA = "application/json;v=v1beta1;g=config.k8s.io;as=Statusz";
const ALPHA = BETA.replace("v1beta1", "v1alpha1");

describe("the text", () => {
  it("of statusz tells what runs, and since when", () => {
    expect(answerZPage("/statusz", undefined, facts, nowMs)?.body.split("\n")).toEqual([
      "",
      "kube-scheduler statusz",
      expect.stringMatching(/^Warning: This endpoint is not meant to be machine parseable/),
      "",
      "Started: Fri Nov  6 17:28:05 UTC 2026",
      "Up: 1 hr 02 min 03 sec",
      expect.stringMatching(/^Go version: node v/),
      expect.stringMatching(/^Binary version: 1\.36\.\d+\+k8ts/),
      "Emulation version: 1.36",
      "Paths: /healthz /metrics",
      "",
    ]);
  });

  it("of flagz has all flags in order", () => {
    const lines = answerZPage("/flagz", "*/*", facts, nowMs)?.body.split("\n").slice(3);
    expect(lines).toEqual(["leader-elect=true", "secure-port=10259", ""]);
  });
});

describe("the form", () => {
  it.each<{ accept: string; want: string | 406 }>([
    { accept: "", want: "text/plain; charset=utf-8" },
    { accept: "text/plain", want: "text/plain; charset=utf-8" },
    { accept: "*/*", want: "text/plain; charset=utf-8" },
    { accept: BETA, want: "application/json" },
    { accept: BETA.replace("json", "yaml"), want: "application/yaml" },
    { accept: `${BETA.replace("v1beta1", "foo")},*/*`, want: "text/plain; charset=utf-8" },
    { accept: "application/json", want: 406 },
    { accept: "application/json;v=v1beta1;g=config.k8s.io", want: 406 },
    { accept: BETA.replace("Statusz", "Flagz"), want: 406 },
    { accept: "application/xml", want: 406 },
  ])("is what $accept asks for: $want", ({ accept, want }) => {
    const answer = answerZPage("/statusz", accept, facts, nowMs);
    if (want === 406) expect(answer?.status).toBe(406);
    else expect([answer?.status, answer?.headers["content-type"]]).toEqual([200, want]);
  });

  it.each([
    { accept: `${ALPHA},${BETA}`, version: "v1alpha1", warns: true },
    { accept: `${BETA},${ALPHA}`, version: "v1beta1", warns: false },
  ])("is the first version that is asked for: $version", ({ accept, version, warns }) => {
    const answer = answerZPage("/statusz", accept, facts, nowMs);
    expect(JSON.parse(answer?.body ?? "")).toMatchObject({
      kind: "Statusz",
      apiVersion: `config.k8s.io/${version}`,
      metadata: { name: "kube-scheduler" },
      startTime: "2026-11-06T17:28:05Z",
      uptimeSeconds: 3723,
      emulationVersion: "1.36",
      paths: ["/healthz", "/metrics"],
    });
    expect(answer?.headers.warning !== undefined).toBe(warns);
  });

  it("of flags is a map", () => {
    const answer = answerZPage("/flagz", BETA.replace("Statusz", "Flagz"), facts, nowMs);
    expect(JSON.parse(answer?.body ?? "")).toMatchObject({
      kind: "Flagz",
      flags: { "leader-elect": "true", "secure-port": "10259" },
    });
  });
});

it("a page whose gate is off is not there", () => {
  expect(answerZPage("/flagz", undefined, { ...facts, served: ["statusz"] }, nowMs)).toBeUndefined();
  expect(answerZPage("/configz", undefined, facts, nowMs)).toBeUndefined();
});
