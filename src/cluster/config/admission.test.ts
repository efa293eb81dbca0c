import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readAdmission } from "./admission.ts";

const dir = mkdtempSync(join(tmpdir(), "k8ts-admission-"));
afterAll(() => rmSync(dir, { recursive: true }));
const file = (name: string, text: string) => {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
};

describe("readAdmission", () => {
  const rows = [
    { flags: {}, enable: ["NodeRestriction"] },
    { flags: { enable: ["AlwaysPullImages"] }, enable: ["NodeRestriction", "AlwaysPullImages"] },
    { flags: { enable: ["NodeRestriction"] }, enable: ["NodeRestriction"] },
    { flags: { disable: ["NodeRestriction"] }, enable: [] },
  ];
  it.each(rows)("$flags", ({ flags, enable }) => {
    expect(readAdmission(flags).enable).toEqual(enable);
  });

  it("reads the configuration and the files that it names", () => {
    file("limits.yaml", "limits: []");
    const configFile = file(
      "admission.yaml",
      "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins: [{name: EventRateLimit, path: limits.yaml}]",
    );
    expect(readAdmission({ configFile }).configuration?.get("EventRateLimit")).toEqual({ limits: [] });
  });

  it("enforces a Pod Security level where nodes share the machine, unless the user's file says otherwise", () => {
    const level = (configFile?: string, asked?: "baseline") =>
      readAdmission({ configFile }, asked).configuration?.get("PodSecurity")?.defaults;
    const own = file(
      "own.yaml",
      "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins: [{name: PodSecurity, configuration: {defaults: {enforce: restricted}}}]",
    );
    const other = file(
      "other.yaml",
      "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins: [{name: X, configuration: {}}]",
    );
    expect(level()).toBeUndefined();
    expect(level(undefined, "baseline")).toMatchObject({ enforce: "baseline" });
    expect(level(other, "baseline")).toMatchObject({ enforce: "baseline" });
    expect(level(own, "baseline")).toEqual({ enforce: "restricted" });
  });

  it("tells in one sentence what is wrong with it", () => {
    expect(() => readAdmission({ configFile: join(dir, "none") })).toThrow(/^--admission-control-config-file: ENOENT/);
    expect(() => readAdmission({ configFile: file("x.yaml", "kind: X") })).toThrow(
      "it has to be an AdmissionConfiguration",
    );
  });
});
