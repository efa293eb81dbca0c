/** The table of feature gates in docs/guides/devices.md: every gate of devices and gangs, as v1.36 has it. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { actingIn } from "../../src/api/features/effects.ts";
import { gates, specAt } from "../../src/api/features/gates.ts";
import { root } from "../layers/imports.ts";
import { pathsIn, tablesIn } from "./markdown-tables.ts";

const GUIDES = join(root, "docs/guides");
const OURS = /^DRA|DynamicResource|^ResourceHealthStatus$|Workload|^GangScheduling$/;
const NOW = { major: 1, minor: 36 };
const STAGES = { ALPHA: "alpha", BETA: "beta", "": "GA", DEPRECATED: "deprecated" } as const;
const COMPONENTS = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet"] as const;

const rows = tablesIn(readFileSync(join(GUIDES, "devices.md"), "utf8"))
  .filter(({ subject }) => subject === "gate")
  .flatMap((table) => table.rows)
  .map(([gate = "", stage = "", here = "", test = ""]) => ({ gate: gate.replaceAll("`", ""), stage, here, test }));

describe("the gates of docs/guides/devices.md", () => {
  it("are all that there are", () => {
    const all = [...gates.keys()].filter((name) => OURS.test(name));
    expect(rows.map(({ gate }) => gate).sort()).toEqual(all.sort());
  });

  it.each(rows)("$gate is $stage, and what it does is tested", ({ gate, stage, here, test }) => {
    const found = gates.get(gate);
    const spec = found && specAt(found, NOW);
    expect(spec && `${STAGES[spec.stage]}, ${spec.default ? "on" : "off"}`).toBe(stage);
    for (const path of pathsIn(test)) expect(existsSync(join(GUIDES, path)), path).toBe(true);
    expect(pathsIn(test)).not.toEqual([]);
    const acts = COMPONENTS.some((component) => actingIn(component).has(gate));
    if (!here.startsWith("not carried out")) expect(acts, "the gate does something").toBe(true);
  });
});
