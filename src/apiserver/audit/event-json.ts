/** The parts of an event as JSON, in the order of Kubernetes' fields. */
import type { UserInfo } from "../identity/user.ts";
import type { Level, Stage } from "./policy.ts";

const MAX_USER_AGENT = 1024;
const DECISION = "authorization.k8s.io/decision";
const REASON = "authorization.k8s.io/reason";

/** The id follows. */
export const startText = (level: Level) =>
  `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"${level}","auditID":"`;
/** The URI follows. */
export const stageText = (stage: Stage) => `","stage":"${stage}","requestURI":"`;
export const verbText = (verb: string) => `","verb":${quoted(verb)}`;

export function userText({ name, uid, groups, extra }: UserInfo): string {
  return JSON.stringify({
    username: name,
    ...(uid && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(extra !== undefined && Object.keys(extra).length > 0 && { extra }),
  });
}

export function sourceText(addresses: readonly string[], agent: string): string {
  const shown = agent.length > MAX_USER_AGENT ? `${agent.slice(0, MAX_USER_AGENT)}...TRUNCATED` : agent;
  return `,"sourceIPs":[${addresses.map(quoted).join(",")}]${shown === "" ? "" : `,"userAgent":${quoted(shown)}`}`;
}

export const codeText = (code: number) => `,"responseStatus":{"metadata":{},"code":${code}}`;
/** A time follows. */
export const receivedText = ',"requestReceivedTimestamp":"';
export const happenedText = '","stageTimestamp":"';

/** The end of an event, from the last time on: annotations, sorted by key. */
export function endText(annotations: ReadonlyMap<string, string>): string {
  if (annotations.size === 0) return '"}';
  const sorted = [...annotations].sort(([a], [b]) => (a < b ? -1 : 1));
  return `","annotations":{${sorted.map(([key, value]) => `${quoted(key)}:${quoted(value)}`).join(",")}}}`;
}

/**
 * The end of an event whose only annotations are that authorization allowed it, and why; undefined: authorization was
 * not asked.
 */
export function allowedText(reason: string | undefined): string {
  if (reason === undefined) return '"}';
  return `","annotations":{"${DECISION}":"allow","${REASON}":${quoted(reason)}}}`;
}

export function member(name: string, value: string | undefined): string {
  return value ? `,"${name}":${quoted(value)}` : "";
}

/** Characters of one byte that JSON does not escape. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

export function isPlain(text: string): boolean {
  return PLAIN.test(text);
}

/** Plain, and without percent-encoding: the name in the path is the name in objectRef. */
export function isPlainPath(path: string): boolean {
  return PLAIN.test(path) && !path.includes("%");
}

export function quoted(text: string): string {
  return JSON.stringify(text);
}

/** For between quotation marks. */
export function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
