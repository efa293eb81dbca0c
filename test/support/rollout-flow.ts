/**
 * What every flow of a Deployment shows, wherever its parts run: who took part, in which order, each write with its
 * revision and its cause.
 */
import { expect } from "vitest";
import { diagramOf, type FlowRecord, type RequestRecord } from "#flows";
import { findSteps, step } from "../../scripts/flow-catalogue/scenario.ts";

const STEPS = [
  step("kubectl ──► apiserver", /^POST deployments$/, "the user asks for it"),
  step("apiserver ══► store", /^web @/, "it is persisted"),
  step("apiserver --► deployment-controller", /^ADDED web @/, "the Deployment's controller sees it"),
  step("deployment-controller ──► apiserver", /^POST replicasets$/, "it makes a ReplicaSet"),
  step("apiserver ══► store", /^web-/, "which is persisted"),
  step("apiserver --► replicaset-controller", /^ADDED web-/, "the ReplicaSet's controller sees it"),
  step("replicaset-controller ──► apiserver", /^POST pods$/, "it makes Pods"),
  step("apiserver ══► store", /^web-/, "which are persisted"),
  step("apiserver --► scheduler", /^ADDED web-/, "the scheduler sees them"),
  step("scheduler ──► apiserver", /\/binding$/, "and binds them"),
  step("apiserver ══► store", /^web-/, "which is persisted"),
  step("apiserver --► kubelet/*", /^MODIFIED web-/, "kubelets see them"),
  step("kubelet/* ──► apiserver", /\/status$/, "and report"),
  step("apiserver ══► store", /^web-/, "which is persisted"),
];

export function expectRollout(records: readonly FlowRecord[]): void {
  const diagram = diagramOf(records);
  const { missing } = findSteps(diagram, STEPS);
  const seen = diagram.lines.map(({ from, arrow, to, text }) => `${from} ${arrow} ${to}: ${text}`).join("\n");
  expect(missing?.says, seen).toBeUndefined();
  const works = new Map(records.flatMap((record) => (record.type === "work" ? [[record.id, record]] : [])));
  const writes = records.filter(
    (record): record is RequestRecord => record.type === "request" && record.written !== undefined,
  );
  const revisions = new Set(writes.map(({ written }) => written?.revision));
  for (const { cause, actor, name } of writes) {
    if (actor === "kubectl") continue;
    const work = works.get(cause ?? "");
    expect(work?.claimed, `${actor} of ${name}`).toBe(false);
    expect(
      work?.woken.some((revision) => revisions.has(revision)),
      `${actor} of ${name}`,
    ).toBe(true);
  }
}
