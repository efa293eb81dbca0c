/** Where in the program a record was logged. */
import { basename, dirname } from "node:path";
import { getCallSites } from "node:util";

export interface CallSite {
  readonly file: string;
  readonly line: number;
}

/** The caller that is `above` frames over the function that asks. */
export function callSite(above: number): CallSite | undefined {
  // This function and the one that asks come first.
  const found = getCallSites(above + 2)[above + 1];
  return found === undefined ? undefined : { file: found.scriptName, line: found.lineNumber };
}

/** Without folder and ending. */
export function fileOf(site: CallSite | undefined): string {
  return site === undefined ? "" : basename(site.file).replace(/\.[^.]*$/, "");
}

/** `file.ts:12`, or with its folder `folder/file.ts:12`. */
export function siteText(site: CallSite | undefined, withFolder: boolean): string {
  if (site === undefined) return "???:1";
  const folder = withFolder ? `${basename(dirname(site.file))}/` : "";
  return `${folder}${basename(site.file)}:${site.line}`;
}
