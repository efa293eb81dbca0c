/** Reads the table of gated fields: see README.md for its lines. */
import { gatedFieldsTable } from "./gated-fields-table.ts";

export interface GatedField {
  readonly gate: string;
  readonly path: readonly PathStep[];
  /** Instead of being removed, the field is set to this value; a field that has it does not use the feature. */
  readonly fallback?: string | undefined;
}

export interface PathStep {
  /** A field; `[]` for each item of a list, `{}` for each value of a map. */
  readonly name: string;
  /** The field is removed with its last field. */
  readonly prunes: boolean;
}

const CHOICE = /\(([^()]*)\)/;
const STEP = /^(\w+)(\??)(\[\]|\{\})?$/;

/** By `apiVersion/Kind`, such as apps/v1/Deployment. */
export const gatedFields: ReadonlyMap<string, readonly GatedField[]> = readTable(gatedFieldsTable);

function readTable(text: string): ReadonlyMap<string, readonly GatedField[]> {
  const sections = new Map<string, GatedField[]>();
  let fields: GatedField[] = [];
  for (const line of text.split("\n").filter((line) => line !== "")) {
    if (!line.startsWith(" ")) {
      fields = [];
      sections.set(line, fields);
      continue;
    }
    const [gate = "", ...paths] = line.trim().split(" ");
    if (paths[0] === "at") fields.push(...placed(sections.get(gate) ?? [], steps(paths[1] ?? "")));
    else fields.push(...paths.flatMap((path) => readPaths(gate, path)));
  }
  return new Map([...sections].filter(([name]) => name.includes("/")));
}

function placed(fields: readonly GatedField[], at: readonly PathStep[]): GatedField[] {
  return fields.map((field) => ({ ...field, path: [...at, ...field.path] }));
}

function readPaths(gate: string, text: string): GatedField[] {
  const [path = "", fallback] = text.split("=");
  return alternatives(path).map((one) => ({ gate, path: steps(one), fallback }));
}

/** `a.(b|c).d` is `a.b.d` and `a.c.d`. */
function alternatives(path: string): readonly string[] {
  const found = CHOICE.exec(path);
  if (found === null) return [path];
  return (found[1] ?? "").split("|").flatMap((choice) => alternatives(path.replace(CHOICE, choice)));
}

function steps(path: string): readonly PathStep[] {
  return path.split(".").flatMap((word) => {
    const [, name, prunes, each] = STEP.exec(word) ?? [];
    if (name === undefined) throw new Error(`a path of the table of gated fields is not understood: ${path}`);
    const step = { name, prunes: prunes === "?" };
    return each === undefined ? [step] : [step, { name: each, prunes: false }];
  });
}
