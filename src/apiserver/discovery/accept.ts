/**
 * Which form of a discovery document a client wants.
 *
 * 1. Clauses of Accept are tried by their q, then in the order written, wildcards last; the first that can be met wins.
 * 2. A clause that asks for a conversion (`as`) is met by the aggregated list only, and only in the version served: v2.
 */

export type Encoding = "json" | "yaml" | "protobuf";

export interface Wanted {
  readonly encoding: Encoding;
  readonly aggregated: boolean;
  readonly contentType: string;
}

/** The message of a 406. */
export const NOT_ACCEPTABLE =
  "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf";

const ENCODINGS: readonly (readonly [subtype: string, Encoding])[] = [
  ["json", "json"],
  ["yaml", "yaml"],
  ["vnd.kubernetes.protobuf", "protobuf"],
];
const AGGREGATED = "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

export interface AcceptClause {
  readonly type: string;
  readonly subtype: string;
  readonly q: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/** `aggregatable`: only /api and /apis have the aggregated form. Undefined: no clause can be met. */
export function negotiate(accept: string | undefined, aggregatable: boolean): Wanted | undefined {
  const clauses = parseAccept(accept === undefined || accept.trim() === "" ? "*/*" : accept);
  for (const { type, subtype, parameters } of clauses) {
    if (type !== "*" && type !== "application") continue;
    const found = ENCODINGS.find(([name]) => subtype === "*" || subtype === name);
    if (found === undefined) continue;
    const [name, encoding] = found;
    const as = parameters.get("as");
    if (as === undefined) return { encoding, aggregated: false, contentType: `application/${name}` };
    const asked = `g=${parameters.get("g")};v=${parameters.get("v")};as=${as}`;
    if (aggregatable && asked === AGGREGATED) {
      return { encoding, aggregated: true, contentType: `application/${name};${AGGREGATED}` };
    }
  }
  return undefined;
}

export function parseAccept(header: string): AcceptClause[] {
  const clauses = header.split(",").map(readClause);
  return clauses.sort((a, b) => b.q - a.q || wildcards(a) - wildcards(b));
}

function readClause(text: string): AcceptClause {
  const [range = "", ...rest] = text.split(";").map((part) => part.trim());
  const [type = "", subtype = ""] = range.split("/");
  const parameters = new Map(
    rest.map((part): [string, string] => {
      const at = part.indexOf("=");
      return at < 0 ? [part, ""] : [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    }),
  );
  const q = Number(parameters.get("q") ?? 1);
  return { type, subtype: type === "*" && subtype === "" ? "*" : subtype, q: Number.isNaN(q) ? 1 : q, parameters };
}

function wildcards({ type, subtype }: AcceptClause): number {
  return (type === "*" ? 2 : 0) + (subtype === "*" ? 1 : 0);
}
