/** What a CNI plugin prints: its result, or its error. Whatever it prints, only CniError is thrown. */
import { isObject, type Json, type JsonObject, parseCidr } from "#api";
import { CniError, FAILED_DECODING, GENERIC } from "./cni-error.ts";

/** Undefined if the plugin has printed nothing. */
export function pluginResult(type: string, stdout: string): JsonObject | undefined {
  if (stdout.trim() === "") return undefined;
  const value = jsonOf(stdout);
  if (value !== undefined && isObject(value)) return value;
  throw new CniError(FAILED_DECODING, `the result of plugin "${type}" is not an object: ${stdout.slice(0, 200)}`);
}

/** The addresses of a result, without prefix lengths. */
export function addressesOf({ ips }: JsonObject): readonly string[] {
  if (ips === undefined || ips === null) return [];
  if (!Array.isArray(ips)) throw new CniError(FAILED_DECODING, "the ips of a result are not a list");
  return ips.map((ip) => {
    const address = isObject(ip) ? ip.address : undefined;
    if (typeof address !== "string" || parseCidr(address) === undefined)
      throw new CniError(FAILED_DECODING, `invalid CIDR address: ${String(address).slice(0, 200)}`);
    return address.slice(0, address.indexOf("/"));
  });
}

export interface FailedCall {
  readonly type: string;
  readonly verb: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
}

/** Plugins report errors as JSON on standard output; a crashed plugin prints something else, or nothing. */
export function pluginFailure({ type, verb, stdout, stderr, exitCode }: FailedCall): CniError {
  const about = `plugin type="${type}" failed (${verb})`;
  const error = jsonOf(stdout);
  if (error !== undefined && isObject(error) && typeof error.msg === "string") {
    const { code, msg, details } = error;
    return new CniError(typeof code === "number" ? code : GENERIC, `${about}: ${msg}`, {
      details: typeof details === "string" ? details : "",
    });
  }
  const details = (stderr.trim() || stdout.trim()).slice(0, 500);
  return new CniError(GENERIC, `${about}: exit code ${exitCode}`, { details });
}

function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
