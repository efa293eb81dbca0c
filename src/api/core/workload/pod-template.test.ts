import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { at, fieldErrorText } from "../../machinery/errors/field-error.ts";
import type { Draft } from "../../machinery/schema/object.ts";
import { recordings } from "../../testing/recordings.ts";
import type { PodTemplate as PodTemplateObject } from "../../types/core-v1.ts";
import { PodTemplate } from "./pod-template.ts";

const table = recordings("reference/tables/podtemplates.json");

describe("PodTemplate", () => {
  it("gets the defaults of a template", () => {
    const draft: Draft<PodTemplateObject> = {
      metadata: {},
      template: { spec: { containers: [{ name: "c", image: "nginx:1" }] } },
    };
    PodTemplate.defaults?.(draft);
    expect(draft.template?.spec).toMatchObject({
      dnsPolicy: "ClusterFirst",
      containers: [{ imagePullPolicy: "IfNotPresent" }],
    });
  });

  it("tells faults at its template", () => {
    const draft: Draft<PodTemplateObject> = { metadata: {}, template: { spec: { containers: [] } } };
    PodTemplate.defaults?.(draft);
    expect(PodTemplate.create?.validate?.(draft, at()).map(fieldErrorText)).toEqual([
      "template.spec.containers: Required value",
    ]);
  });

  it.skipIf(!existsSync(table))("shows what a real server shows", () => {
    const { rows } = JSON.parse(readFileSync(table, "utf8")) as {
      rows: { cells: unknown[]; object: PodTemplateObject }[];
    };
    expect(rows.length).toBeGreaterThan(0);
    for (const { cells, object } of rows)
      expect(PodTemplate.columns?.map((column) => column.cell(object, 0))).toEqual(cells.slice(1));
  });
});
