/**
 * The templates of an adapter's configuration: text with `<<.Field>>`, as Go's text/template has them with these
 * delimiters.
 *
 * 1. Fields, and entries of a map (`<<.Values.name>>`, `<<index .Values "name">>`), with spaces at will. What else Go's
 *    templates can do is refused when the configuration is read.
 */
export type TemplateValues = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

export type Template = (values: TemplateValues) => string;

type Part = string | { readonly field: string; readonly entry: string | undefined };

const ACTION = /^(?:\.(\w+)(?:\.(\w+))?|index\s+\.(\w+)\s+"([^"]*)")$/;

/** Throws Error. `fields`: those that it may use. */
export function compileTemplate(text: string, fields: readonly string[]): Template {
  const parts: Part[] = [];
  let rest = text;
  for (let at = rest.indexOf("<<"); at !== -1; at = rest.indexOf("<<")) {
    const end = rest.indexOf(">>", at);
    if (end === -1) throw new Error(`${JSON.stringify(text)}: "<<" is not closed`);
    parts.push(rest.slice(0, at), actionOf(rest.slice(at + 2, end).trim(), fields));
    rest = rest.slice(end + 2);
  }
  parts.push(rest);
  return (values) => parts.map((part) => (typeof part === "string" ? part : written(part, values))).join("");
}

function actionOf(text: string, fields: readonly string[]): Part {
  const match = ACTION.exec(text);
  if (match === null)
    throw new Error(`<<${text}>> is not supported: only fields such as <<.${fields[0]}>>, and <<index .Map "key">>`);
  const [, plain, plainEntry, indexed, indexedEntry] = match;
  const field = plain ?? indexed ?? "";
  if (!fields.includes(field)) throw new Error(`<<${text}>>: there is no field ${field}, only ${fields.join(", ")}`);
  return { field, entry: plainEntry ?? indexedEntry };
}

function written({ field, entry }: Exclude<Part, string>, values: TemplateValues): string {
  const value = values[field] ?? "";
  if (typeof value === "string") return entry === undefined ? value : "";
  return entry === undefined ? "" : Object.hasOwn(value, entry) ? (value[entry] ?? "") : "";
}
