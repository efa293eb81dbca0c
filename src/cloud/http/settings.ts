/**
 * The file of `--cloud-config` for the provider `http`, decoded strictly.
 *
 *     apiVersion: cloud.k8ts.dev/v1alpha1
 *     kind: HTTPCloudConfig
 *     server: https://cloud.example.com/api
 */

export const PARTS = ["instances", "routes", "loadBalancers"] as const;

export interface HttpCloudSettings {
  /** Without a slash at its end. */
  readonly server: string;
  /** Its calls are made for these parts only. */
  readonly parts: readonly (typeof PARTS)[number][];
  readonly token?: string | undefined;
  /** Read at each call: it may be replaced. */
  readonly tokenFile?: string | undefined;
  /** PEM. Default: the system's authorities. */
  readonly caFile?: string | undefined;
  /** Of one attempt. */
  readonly timeoutMs: number;
  /** After the first attempt. */
  readonly retries: number;
}

export class CloudConfigError extends Error {
  override readonly name = "CloudConfigError";
}

const API_VERSION = "cloud.k8ts.dev/v1alpha1";
const KIND = "HTTPCloudConfig";
const FIELDS = ["apiVersion", "kind", "server", "parts", "token", "tokenFile", "caFile", "timeoutSeconds", "retries"];

/** Throws CloudConfigError. */
export function httpCloudSettings(document: unknown): HttpCloudSettings {
  if (typeof document !== "object" || document === null || Array.isArray(document))
    throw new CloudConfigError("it must be an object");
  const fields = document as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(fields).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) throw new CloudConfigError(`unknown field ${JSON.stringify(unknown)}`);
  if (fields.apiVersion !== API_VERSION || fields.kind !== KIND)
    throw new CloudConfigError(`it must have apiVersion ${API_VERSION} and kind ${KIND}`);
  const text = (name: string) => textIn(fields, name);
  const [token, tokenFile, caFile] = [text("token"), text("tokenFile"), text("caFile")];
  if (token !== undefined && tokenFile !== undefined)
    throw new CloudConfigError("token and tokenFile exclude each other");
  return {
    server: serverOf(text("server"), token !== undefined || tokenFile !== undefined),
    parts: partsOf(fields.parts),
    ...(token !== undefined && { token }),
    ...(tokenFile !== undefined && { tokenFile }),
    ...(caFile !== undefined && { caFile }),
    timeoutMs: 1000 * numberIn(fields, "timeoutSeconds", 1, 300, 10),
    retries: numberIn(fields, "retries", 0, 10, 3),
  };
}

/** Tokens are sent in the clear to this machine only. */
function serverOf(server: string | undefined, hasToken: boolean): string {
  const url = server !== undefined && URL.canParse(server) ? new URL(server) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol) || url.search !== "" || url.hash !== "")
    throw new CloudConfigError("server: must be an http or https URL without a query");
  const isHere = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url.protocol === "http:" && hasToken && !isHere)
    throw new CloudConfigError("server: a token needs https, unless the server is on loopback");
  if (url.username !== "" || url.password !== "") throw new CloudConfigError("server: must not have credentials");
  return url.href.replace(/\/+$/, "");
}

function partsOf(value: unknown): HttpCloudSettings["parts"] {
  if (value === undefined) return PARTS;
  const known = Array.isArray(value) ? PARTS.filter((part) => value.includes(part)) : [];
  if (!Array.isArray(value) || known.length === 0 || known.length !== value.length)
    throw new CloudConfigError(`parts: must be a list of ${PARTS.join(", ")}`);
  return known;
}

function textIn(fields: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (typeof value !== "string" || value === "") throw new CloudConfigError(`${name}: must be a text`);
  return value;
}

function numberIn(fields: Readonly<Record<string, unknown>>, name: string, least: number, most: number, own: number) {
  const value = fields[name] ?? own;
  if (typeof value !== "number" || !Number.isInteger(value) || value < least || value > most)
    throw new CloudConfigError(`${name}: must be a whole number from ${least} to ${most}`);
  return value;
}
