/** docs/pod-fields.md: every field of a Pod has an outcome, and a test that exists or a reason. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { typeSchema } from "../../src/api/facts/index.ts";
import { root } from "../layers/imports.ts";
import { tablesIn } from "./markdown-tables.ts";
import { literals, namedTest } from "./test-titles.ts";

const page = readFileSync(join(root, "docs/pod-fields.md"), "utf8");

const TYPES = page.split(/^## /m).flatMap((section) => {
  const [, type] = /^[^\n]*: (\w+)\n/.exec(section) ?? [];
  if (type === undefined) return [];
  const rows = tablesIn(section)
    .filter(({ subject }) => subject === "field")
    .flatMap((table) => table.rows)
    .map(([field = "", outcome = "", how = "", test = ""]) => ({
      type,
      field: field.replaceAll("`", ""),
      outcome,
      how,
      test,
    }));
  return [{ type, rows }];
});

const REQUIRED = [
  ...["PodSpec", "Container", "EphemeralContainer", "PodSecurityContext", "SecurityContext", "VolumeMount"],
  ...["VolumeDevice", "Volume", "Lifecycle", "LifecycleHandler", "Probe"],
];

const fieldsOf = (type: string) => [...typeSchema(`io.k8s.api.core.v1.${type}`).fields.keys()];

describe("docs/pod-fields.md", () => {
  it("has a table for each type", () => {
    expect(TYPES.map(({ type }) => type)).toEqual(REQUIRED);
  });

  it.each(TYPES)("has every field of $type, each once", ({ type, rows }) => {
    const common = type === "EphemeralContainer" ? fieldsOf("Container") : [];
    const wanted = fieldsOf(type).filter((field) => !common.includes(field));
    expect(rows.map(({ field }) => field).sort()).toEqual(wanted.sort());
  });

  it.each(TYPES.flatMap(({ rows }) => rows))("$type.$field: $outcome", ({ outcome, how, test }) => {
    expect(["carried out", "refused", "nothing here"]).toContain(outcome);
    if (outcome !== "carried out") expect(how).not.toBe("");
    if (outcome === "nothing here") {
      expect(test).toBe("");
      return;
    }
    const { file, title } = namedTest(test);
    expect([file, existsSync(join(root, file || "none"))]).toEqual([file, true]);
    expect([...literals(readFileSync(join(root, file), "utf8"))]).toContain(title);
  });
});
