/**
 * Reads the declarations of a gofmt'ed Go package: structs with their tags and markers, named types, string constants.
 *
 * 1. Only what API types use is understood; anything else inside a struct that is asked for is an error, never skipped.
 * 2. Of comments only the markers (`+name=value`) are kept.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export type Markers = ReadonlyMap<string, readonly string[]>;

export interface GoField {
  /** The type's own name where the field is embedded. */
  readonly name: string;
  readonly embedded: boolean;
  readonly type: string;
  readonly tags: ReadonlyMap<string, string>;
  readonly markers: Markers;
}

export interface GoType {
  readonly name: string;
  /** The path of the package that declares it. */
  readonly path: string;
  readonly markers: Markers;
  /** Import name → path, of the file that declares it. */
  readonly imports: ReadonlyMap<string, string>;
  /** What it is, unless a struct. */
  readonly underlying?: string;
  /** `type X = Y`: not a type of its own. */
  readonly sameType?: boolean;
  readonly fields?: () => readonly GoField[];
}

export interface GoPackage {
  readonly path: string;
  readonly types: ReadonlyMap<string, GoType>;
  /** Those that are declared with a type and are strings. */
  readonly constants: readonly GoConstant[];
}

export interface GoConstant {
  readonly name: string;
  readonly type: string;
  readonly value: string | { readonly path: string; readonly constant: string };
}

const STRUCT = /^type (\w+) struct ?\{(\})?$/;
const NAMED = /^type (\w+) (= )?([^\s{]+(?:\{\})?)$/;
const FIELD = /^\t(\w+)\s+([^\s`]+)\s*(?:`(.*)`)?(?:\s*\/\/.*)?$/;
const EMBEDDED = /^\t(\*?[\w.]+)\s+`(.*)`$/;
const CONSTANT = /^(?:const |\t)(\w+)\s+([\w.]+)\s*=\s*"(.*)"(?:\s*\/\/.*)?$/;
const CONVERTED = /^(?:const |\t)(\w+)\s*=\s*(\w+)\((?:"(.*)"|(\w+)\.(\w+))\)(?:\s*\/\/.*)?$/;

const BLOCK_COMMENT = /^\s*\/\*[\s\S]*?\*\/$/gm;

export function readGoPackage(root: string, path: string): GoPackage {
  const types = new Map<string, GoType>();
  const constants: GoConstant[] = [];
  const folder = join(root, path);
  for (const file of readdirSync(folder).sort()) {
    if (!file.endsWith(".go") || /_test\.go$|^zz_generated|^generated|_swagger_doc_generated/.test(file)) continue;
    const text = readFileSync(join(folder, file), "utf8");
    // Variants behind build tags describe the same type twice; the default build wins.
    if (/^\/\/go:build (?!!)/m.test(text)) continue;
    readFile(text, path, types, constants);
  }
  return { path, types, constants };
}

function readFile(text: string, path: string, types: Map<string, GoType>, constants: GoConstant[]) {
  const imports = readImports(text);
  let comment: string[] = [];
  let open: { name: string; markers: Markers; lines: { line: string; markers: Markers }[] } | undefined;
  for (const line of text.replace(BLOCK_COMMENT, "").split("\n")) {
    const said = /^\s*\/\/\s?(.*)$/.exec(line)?.[1];
    if (said !== undefined) {
      comment.push(said.trim());
      continue;
    }
    const markers = readMarkers(comment);
    comment = [];
    if (open !== undefined) {
      if (line === "}") {
        const { name, lines } = open;
        const fields = () => lines.map((it) => readField(it.line, it.markers, `${path}.${name}`));
        types.set(name, { name, path, markers: open.markers, imports, fields });
        open = undefined;
      } else if (line !== "") open.lines.push({ line, markers });
      continue;
    }
    const [, struct, empty] = STRUCT.exec(line) ?? [];
    const [, name, equals, underlying] = NAMED.exec(line) ?? [];
    const constant = readConstant(line, imports);
    if (struct !== undefined) {
      if (empty === undefined) open = { name: struct, markers, lines: [] };
      else types.set(struct, { name: struct, path, markers, imports, fields: () => [] });
    } else if (name !== undefined && underlying !== undefined)
      types.set(name, { name, path, markers, imports, underlying, sameType: equals !== undefined });
    else if (constant !== undefined) constants.push(constant);
  }
}

function readField(line: string, markers: Markers, where: string): GoField {
  const [, embedded, embeddedTags = ""] = EMBEDDED.exec(line) ?? [];
  if (embedded !== undefined) {
    const name = embedded.replace(/^.*[*.]/, "");
    return { name, embedded: true, type: embedded, tags: readTags(embeddedTags), markers };
  }
  const [, name, type, tags = ""] = FIELD.exec(line) ?? [];
  if (name !== undefined && type !== undefined) {
    return { name, embedded: false, type, tags: readTags(tags), markers };
  }
  const bare = /^\t([\w.]+)$/.exec(line)?.[1];
  if (bare !== undefined) return { name: bare, embedded: true, type: bare, tags: new Map(), markers };
  throw new Error(`${where}: a field is not understood: ${line.trim()}`);
}

/** `X T = "v"`, `X = T("v")`, or `X = T(other.Y)`. */
function readConstant(line: string, imports: ReadonlyMap<string, string>): GoConstant | undefined {
  const [, name, type = "", value, from = "", constant = ""] = CONSTANT.exec(line) ?? CONVERTED.exec(line) ?? [];
  if (name === undefined) return undefined;
  return { name, type, value: value ?? { path: imports.get(from) ?? from, constant } };
}

function readTags(text: string): Map<string, string> {
  return new Map([...text.matchAll(/(\w+):"([^"]*)"/g)].map(([, key = "", value = ""]) => [key, value]));
}

function readMarkers(comment: readonly string[]): Markers {
  const markers = new Map<string, string[]>();
  for (const line of comment) {
    const [, name = "", value = ""] = /^\+([\w:]+)(?:=(.*))?$/.exec(line) ?? [];
    if (name !== "") markers.set(name, [...(markers.get(name) ?? []), value.trim()]);
  }
  return markers;
}

function readImports(text: string): Map<string, string> {
  const block = /^import \(\n([\s\S]*?)^\)/m.exec(text)?.[1] ?? /^import (.*)$/m.exec(text)?.[1] ?? "";
  return new Map(
    [...block.matchAll(/(?:(\w+) )?"([^"]+)"/g)].map(([, alias, path = ""]) => [
      alias ?? path.slice(path.lastIndexOf("/") + 1),
      path,
    ]),
  );
}
