import { describe, expect, it } from "vitest";
import { parseAdmissionConfiguration } from "./configuration.ts";

const header = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n";
const files: Record<string, string> = { "/etc/k8ts/limits.yaml": "limits: []", "/etc/k8ts/broken.yaml": "{" };
const parse = (text: string) =>
  parseAdmissionConfiguration(text, "/etc/k8ts/admission.yaml", (path) => {
    const found = files[path];
    if (found === undefined) throw new Error("no such file");
    return found;
  });

describe("the configuration of admission", () => {
  it("has sections of its own and in other files", () => {
    const text = `${header}plugins:\n- name: A\n  configuration: {kind: X}\n- name: B\n  path: limits.yaml\n- name: C\n`;
    expect([...parse(text)]).toEqual([
      ["A", { kind: "X" }],
      ["B", { limits: [] }],
    ]);
  });

  const wrong = [
    ["x", "/etc/k8ts/admission.yaml: it has to be an object."],
    ["kind: Other", "it has to be an AdmissionConfiguration of apiserver.config.k8s.io/v1"],
    [`${header}plugins: {}`, "`plugins` has to be a list"],
    [`${header}plugins: [{}]`, "each of `plugins` needs a `name`"],
    [`${header}plugins: [{name: A, path: none.yaml}]`, "/etc/k8ts/none.yaml: it cannot be read: no such file."],
    [`${header}plugins: [{name: A, path: broken.yaml}]`, "/etc/k8ts/broken.yaml: it is not YAML"],
  ] as const;
  it.each(wrong)("refuses %j", (text, says) => {
    expect(() => parse(text)).toThrow(says);
  });
});
