/** Runs a credential provider: CredentialProviderRequest on its standard input, the answer on its standard output. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { isObject } from "#api";
import { durationMs } from "./provider-config.ts";

const TIMEOUT_MS = 60_000;
const CACHE_KEY_TYPES = ["Image", "Registry", "Global"] as const;

export interface ProviderAnswer {
  readonly cacheKeyType: (typeof CACHE_KEY_TYPES)[number];
  /** Undefined: as the provider's configuration says. */
  readonly cacheMs: number | undefined;
  readonly auth: Readonly<Record<string, { readonly username?: string; readonly password?: string }>>;
}

export interface ProgramCall {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly apiVersion: string;
  readonly request: object;
}

/** Throws Error with what the program wrote to its standard error. */
export async function askProgram(call: ProgramCall, signal: AbortSignal): Promise<ProviderAnswer> {
  const { program, args, request, apiVersion } = call;
  const env = { ...process.env, ...Object.fromEntries(call.env.map(({ name, value }) => [name, value])) };
  const child = spawn(program, args, { env, stdio: "pipe", signal, timeout: TIMEOUT_MS, killSignal: "SIGKILL" });
  // It may end without reading.
  child.stdin.on("error", () => {});
  child.stdin.end(JSON.stringify(request));
  const closed = once(child, "close") as Promise<[number | null, string | null]>;
  const [[code, killedBy], stdout, stderr] = await Promise.all([closed, text(child.stdout), text(child.stderr)]);
  if (code !== 0) {
    const ended = killedBy === null ? `exit code ${code}` : killedBy;
    throw new Error(`error execing credential provider plugin ${program}: ${ended}: ${stderr.trim()}`);
  }
  return parseAnswer(stdout, apiVersion);
}

export function parseAnswer(output: string, apiVersion: string): ProviderAnswer {
  const answer: unknown = JSON.parse(output);
  if (!isObject(answer as never)) throw new Error("the answer of the credential provider is no object");
  const { kind, apiVersion: given, cacheKeyType, cacheDuration, auth } = answer as Readonly<Record<string, unknown>>;
  if (kind !== "CredentialProviderResponse")
    throw new Error(`failed to decode response from plugin: kind ${JSON.stringify(kind)}`);
  if (given !== apiVersion)
    throw new Error(
      `apiVersion from credential plugin response did not match expected apiVersion:${apiVersion}, actual apiVersion:${given}`,
    );
  const type = CACHE_KEY_TYPES.find((each) => each === cacheKeyType);
  if (type === undefined)
    throw new Error(`credential provider plugin did not return a valid cacheKeyType: ${JSON.stringify(cacheKeyType)}`);
  const cacheMs = cacheDuration === undefined || cacheDuration === null ? undefined : durationMs(cacheDuration);
  if (cacheDuration !== undefined && cacheDuration !== null && cacheMs === undefined)
    throw new Error(`cacheDuration ${JSON.stringify(cacheDuration)} is not a duration`);
  return { cacheKeyType: type, cacheMs, auth: isObject(auth as never) ? (auth as ProviderAnswer["auth"]) : {} };
}
