import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clientDescriptions, type Descriptions } from "./index.ts";

const HEAD = "/**\n * Generated\n */\nimport { X } from '../models/X.js';\n";
const FILES: Readonly<Record<string, string>> = {
  "package.json": '{ "name": "@kubernetes/client-node", "main": "dist/index.js" }',
  "dist/index.js": "",
  "dist/gen/models/V1Gadget.d.ts": `${HEAD}/**
* A gadget\\'s \\"words\\".
*/
export declare class V1Gadget {
    'plain'?: V1Other;
    /**
    * Matches \\\\d, or \\'pods/_*\\'.
    */
    '_default'?: any;
    /**
    * Two
    * lines.
    */
    'x_kubernetes_thing': string;
    static readonly discriminator: string | undefined;
}
`,
  "dist/gen/models/CoreV1Event.d.ts": `${HEAD}/**
* The core one.
*/
export declare class CoreV1Event {
}
`,
  "dist/gen/models/V1Event.d.ts": `${HEAD}/**
* Not this one.
*/
export declare class V1Event {
}
`,
  "dist/gen/apis/CoreV1Api.d.ts": `export declare class CoreV1ApiRequestFactory {
    /**
     * @param limit of another method
     */
    listNamespacedThing(limit?: number): Promise<RequestContext>;
    /**
     * list things
     * @param pretty If \\&#39;true\\&#39;, &lt;then&gt;.
     * @param _continue Where to go on.
     */
    listThing(pretty?: string, _continue?: string): Promise<RequestContext>;
}
`,
};

describe("descriptions from the Node client", () => {
  let folder = "";
  let descriptions: Descriptions;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "k8ts-descriptions-"));
    for (const [path, text] of Object.entries(FILES)) {
      const file = join(folder, "node_modules/@kubernetes/client-node", path);
      mkdirSync(join(file, ".."), { recursive: true });
      writeFileSync(file, text);
    }
    descriptions = clientDescriptions(pathToFileURL(join(folder, "main.js")));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    { type: "io.k8s.api.things.v1.Gadget", field: undefined, want: `A gadget's "words".` },
    { type: "io.k8s.api.things.v1.Gadget", field: "default", want: "Matches \\d, or 'pods/*'." },
    { type: "io.k8s.api.things.v1.Gadget", field: "x-kubernetes-thing", want: "Two\nlines." },
    { type: "io.k8s.api.things.v1.Gadget", field: "plain", want: undefined },
    { type: "io.k8s.api.things.v1.Gadget", field: "constructor", want: undefined },
    { type: "io.k8s.api.things.v1.Missing", field: undefined, want: undefined },
    { type: "io.k8s.api.core.v1.Event", field: undefined, want: "The core one." },
  ])("of $type $field: $want", ({ type, field, want }) => {
    expect(descriptions.type(type, field)).toBe(want);
  });

  it.each([
    { method: "listThing", name: "pretty", want: "If 'true', <then>." },
    { method: "listThing", name: "continue", want: "Where to go on." },
    { method: "listThing", name: "limit", want: undefined },
    { method: "listNothing", name: "limit", want: undefined },
  ])("of the parameter $name of $method: $want", ({ method, name, want }) => {
    expect(descriptions.parameter(method, name)).toBe(want);
  });

  it("are simply not there where the package is not", () => {
    const none = clientDescriptions(pathToFileURL(join(tmpdir(), "k8ts-nowhere", "main.js")));
    expect(none.type("io.k8s.api.core.v1.Pod")).toBeUndefined();
    expect(none.parameter("listNamespacedPod", "limit")).toBeUndefined();
  });
});
