/**
 * `jsonpatch.escapeKey`, and the type of the patch operations of mutating policies: `JSONPatch{op: "add", path: …}`.
 */

import { walk } from "../functions/call-costs.ts";
import { fn, global, type Library } from "../functions/function.ts";
import { dyn, type Field, object, string } from "../values/type.ts";

export const jsonPatchType = object(
  "JSONPatch",
  new Map<string, Field>([
    ["op", { json: "op", type: string }],
    ["from", { json: "from", type: string }],
    ["path", { json: "path", type: string }],
    ["value", { json: "value", type: dyn }],
  ]),
);

export const jsonPatch: Library = {
  name: "kubernetes.jsonpatch",
  types: [{ type: jsonPatchType }],
  functions: [
    fn(
      "jsonpatch.escapeKey",
      global("string_jsonpatch_escapeKey_string", [string], string, escapeKey, walk({ size: (key) => key })),
    ),
  ],
};

/** A key as it stands in a JSON pointer. */
function escapeKey(key: string): string {
  return key.replace(/[~/]/g, (char) => (char === "~" ? "~0" : "~1"));
}
