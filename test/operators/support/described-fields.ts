/** The texts of fields, from a package's declarations: lines of a regular form, each property below its comment. */

/**
 * By the path of the field, names with dots between; the whole object's text has the path "". Lists and maps add
 * nothing to a path.
 */
export function describedFields(declarations: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  const path: string[] = [];
  let comment: string[] = [];
  const open: boolean[] = [];
  for (const line of declarations.split("\n")) {
    const text = line.trim();
    if (text.startsWith("/**")) comment = [];
    else if (text.startsWith("*") && !text.startsWith("*/")) comment.push(text.replace(/^\*\s?/, ""));
    else if (open.length === 0) {
      if (!/^export interface I\w+ \{$/.test(text)) continue;
      if (comment.length > 0) texts.set("", comment.join("\n"));
      comment = [];
      open.push(false);
    } else {
      const name = /^"([^"]+)"\??:/.exec(text)?.[1];
      if (name !== undefined && comment.length > 0) texts.set([...path, name].join("."), comment.join("\n"));
      if (!text.startsWith("*/")) comment = [];
      if (text.startsWith("}")) {
        if (open.pop()) path.pop();
        if (open.length === 0) return texts;
      }
      if (text.endsWith("{")) {
        open.push(name !== undefined);
        if (name !== undefined) path.push(name);
      }
    }
  }
  return texts;
}
