/**
 * Splits the text of a fact table into its lines: the outer grammar, without the meaning of the types. README.md
 * explains it.
 */
export interface PackageLines {
  readonly name: string;
  /** Short name → full name of the packages that the types refer to. */
  readonly uses: ReadonlyMap<string, string>;
  /** Strings with documented values: their values. */
  readonly enums: ReadonlyMap<string, readonly string[]>;
  /** Other names for scalars, lists and maps: what they are. */
  readonly aliases: ReadonlyMap<string, string>;
  readonly types: ReadonlyMap<string, TypeLines>;
}

export interface TypeLines {
  /** What follows the type's name: nothing, `atomic`, `either`, `list …` or `same …`. */
  readonly words: readonly string[];
  readonly lines: readonly string[];
}

export interface FieldLine {
  readonly number: number;
  readonly name: string;
  readonly omit: "empty" | "zero" | "never";
  readonly required: boolean;
  readonly pointer: boolean;
  readonly type: string;
  readonly list?: string;
  readonly map?: string;
  readonly patch?: string;
  /** The field's name in Go, where it is not the name in JSON with a capital letter. */
  readonly go?: string;
  /** As JSON. */
  readonly default?: string;
}

const FIELD = /^ (\d+) ([^?~! ]+)([?~]?)(!?) (\*?)(\S+)(?: (.+))?$/;
const EMBEDDED = /^ (\d+) \.\.\. (\S+)$/;
const FORM = /^ (\d+) (\S+)$/;
const OMIT = { "?": "empty", "~": "zero", "": "never" } as const;

export function packageName(text: string): string {
  return /^\s*package (\S+)$/m.exec(text)?.[1] ?? "";
}

export function readPackage(text: string): PackageLines {
  const uses = new Map<string, string>();
  const enums = new Map<string, readonly string[]>();
  const aliases = new Map<string, string>();
  const types = new Map<string, TypeLines>();
  let lines: string[] = [];
  for (const line of text.split("\n")) {
    const [first = "", second = "", ...rest] = line.split(" ");
    if (line.startsWith(" ")) lines.push(line);
    else if (first === "use") uses.set(second, rest.join(" "));
    else if (first === "enum") enums.set(second, Object.freeze(rest.join(" ").split("|")));
    else if (first === "alias") aliases.set(second, rest.join(" "));
    else if (first !== "package" && first !== "") {
      lines = [];
      types.set(first, { words: second === "" ? [] : [second, ...rest], lines });
    }
  }
  return { name: packageName(text), uses, enums, aliases, types };
}

export function readField(line: string): FieldLine {
  const [, number, name = "", omit = "", required, pointer, type = "", words = ""] = matched(FIELD, line);
  const flags = Object.fromEntries(
    words
      .split(" ")
      .filter((word) => word !== "")
      .map((word) => {
        const at = word.indexOf("=");
        return [at === 0 ? "default" : word.slice(0, at), word.slice(at + 1)];
      }),
  ) as Pick<FieldLine, "list" | "map" | "patch" | "go" | "default">;
  return {
    number: Number(number),
    name,
    omit: OMIT[omit as keyof typeof OMIT],
    required: required === "!",
    pointer: pointer === "*",
    type,
    ...flags,
  };
}

/** A struct that Go embeds: JSON writes its fields inline. */
export function readEmbedded(line: string): { readonly number: number; readonly type: string } | undefined {
  const found = EMBEDDED.exec(line);
  return found === null ? undefined : { number: Number(found[1]), type: found[2] ?? "" };
}

/** One of the forms of an `either`. */
export function readForm(line: string): { readonly number: number; readonly type: string } {
  const [, number, type = ""] = matched(FORM, line);
  return { number: Number(number), type };
}

function matched(pattern: RegExp, line: string): RegExpExecArray {
  const found = pattern.exec(line);
  if (found === null) throw new Error(`a line of a fact table is not understood: ${line}`);
  return found;
}
