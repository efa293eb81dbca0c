/**
 * The error for a conflict: one cause for each path, and all of them in one message, up to a length (see `printed.ts`).
 */

import type { StatusError } from "../errors/status.ts";
import { applyConflict } from "../errors/status-errors.ts";
import { goQuote } from "../json/go-text.ts";
import { MAX_PRINTED } from "../json/printed.ts";
import { difference, type FieldSet, isEmpty, memberCount, pathsOf } from "./field-set.ts";
import { identifier, type Owner } from "./owners.ts";
import { compareText, printPath } from "./path-element.ts";

export interface Conflict {
  readonly owner: Owner;
  readonly fields: FieldSet;
}

export function conflictError(conflicts: readonly Conflict[]): StatusError {
  const sorted = [...conflicts].sort((a, b) => compareText(identifier(a.owner), identifier(b.owner)));
  let printed = 0;
  const groups = sorted.map(({ owner, fields }) => {
    const paths: string[] = [];
    for (const path of pathsOf(fields)) {
      if (printed > MAX_PRINTED) break;
      const text = printPath(path);
      printed += text.length;
      paths.push(text);
    }
    return { who: printOwner(owner), paths };
  });
  const count = sorted.reduce((sum, { fields }) => sum + memberCount(fields), 0);
  const causes = groups.flatMap(({ who, paths }) =>
    paths.map((field) => ({ reason: "FieldManagerConflict", message: `conflict with ${who}`, field })),
  );
  if (count === 1) {
    return applyConflict(causes, `Apply failed with 1 conflict: ${causes[0]?.message}: ${causes[0]?.field}`);
  }
  const lines = groups.flatMap(({ who, paths }) => [`conflicts with ${who}:`, ...paths.map((path) => `- ${path}`)]);
  return applyConflict(causes, `Apply failed with ${count} conflicts: ${lines.join("\n")}`);
}

function printOwner({ manager, operation, apiVersion, subresource }: Owner): string {
  const through = subresource === "" ? "" : ` with subresource ${goQuote(subresource)}`;
  const using = operation === "Update" ? ` using ${apiVersion}` : "";
  return `${goQuote(manager)}${through}${using}`;
}

/** The conflicts about other fields than these. */
export function conflictsBeyond(conflicts: readonly Conflict[], allowed: FieldSet): readonly Conflict[] {
  return conflicts
    .map(({ owner, fields }) => ({ owner, fields: difference(fields, allowed) }))
    .filter(({ fields }) => !isEmpty(fields));
}
