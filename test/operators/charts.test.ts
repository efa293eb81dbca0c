/** A chart that brings a kind in crds/ and an object of it in templates/: both in one installation. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { CommandLine, clusterForFile, tool } from "../support/tools.ts";

const program = tool("helm");
const home = clusterForFile();
const helm = new CommandLine(program, home);
const kubectl = new CommandLine(tool("kubectl"), home);

beforeAll(() => {
  const chart = join(home().dir, "tanks");
  for (const folder of ["crds", "templates"]) mkdirSync(join(chart, folder), { recursive: true });
  const files = {
    "Chart.yaml": "apiVersion: v2\nname: tanks\nversion: 1.0.0\n",
    "values.yaml": "litres: 40\n",
    "crds/tanks.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tanks.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: tanks, singular: tank, kind: Tank}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties: {litres: {type: integer, minimum: 1}, lid: {type: boolean, default: true}}
`,
    "templates/tank.yaml":
      "apiVersion: example.com/v1\nkind: Tank\nmetadata: {name: '{{ .Release.Name }}'}\nspec: {litres: {{ .Values.litres }}}\n",
    "templates/note.yaml":
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}-note'}\ndata: {served: '{{ .Capabilities.APIVersions.Has \"example.com/v1/Tank\" }}'}\n",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(chart, name), text);
});

describe.skipIf(program === undefined)("helm with a chart that defines a kind", () => {
  const spec = () => kubectl.ok("get", "tank", "fish", "-o", "jsonpath={.spec}");

  it("installs the kind and its object at once, and knows the kind in templates", async () => {
    expect(await helm.ok("install", "fish", "tanks")).toContain("STATUS: deployed");
    expect(JSON.parse(await spec())).toEqual({ litres: 40, lid: true });
    expect(await kubectl.ok("get", "cm", "fish-note", "-o", "jsonpath={.data.served}")).toBe("true");
  });

  it("upgrades the object, and is told what the schema does not allow", async () => {
    await helm.ok("upgrade", "fish", "tanks", "--set", "litres=60");
    expect(JSON.parse(await spec())).toEqual({ litres: 60, lid: true });
    expect(await helm.fails("upgrade", "fish", "tanks", "--set", "litres=0")).toContain(
      "spec.litres: Invalid value: 0: spec.litres in body should be greater than or equal to 1",
    );
    await helm.ok("rollback", "fish", "1");
    expect(JSON.parse(await spec())).toEqual({ litres: 40, lid: true });
  });

  it("takes the object away and leaves the kind", async () => {
    await helm.ok("uninstall", "fish");
    expect(await kubectl.ok("get", "tanks", "-o", "name")).toBe("");
    expect(await kubectl.ok("get", "crd", "tanks.example.com", "-o", "name")).toContain("tanks.example.com");
    expect(await helm.ok("install", "again", "tanks")).toContain("STATUS: deployed");
  });
});
