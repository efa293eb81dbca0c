/** Parts of an event as JSON, in the order in which they stand. Only the fields between them are not always there. */
import type { UserInfo } from "../authn/user.ts";
import type { Level, Stage } from "./policy.ts";

const MAX_USER_AGENT = 1024;
const DECISION = "authorization.k8s.io/decision";
const REASON = "authorization.k8s.io/reason";

/** The id follows. */
export const startText = (level: Level) =>
  `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"${level}","auditID":"`;
/** The target follows. */
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

/** From the last time on: annotations, in the order of their keys. A text is the reason for which a request was allowed. */
export function endText(annotations: ReadonlyMap<string, string> | string): string {
  if (typeof annotations === "string")
    return annotations === "" ? '"}' : `","annotations":{"${DECISION}":"allow","${REASON}":${quoted(annotations)}}}`;
  if (annotations.size === 0) return '"}';
  const sorted = [...annotations].sort(([a], [b]) => (a < b ? -1 : 1));
  return `","annotations":{${sorted.map(([key, value]) => `${quoted(key)}:${quoted(value)}`).join(",")}}}`;
}

/** Why a request was allowed, if annotations say nothing else; empty if there are none. */
export function reasonIn(annotations: ReadonlyMap<string, string>): string | undefined {
  if (annotations.size === 0) return "";
  return annotations.size === 2 && annotations.get(DECISION) === "allow" ? annotations.get(REASON) : undefined;
}

export function member(name: string, value: string | undefined): string {
  return value ? `,"${name}":${quoted(value)}` : "";
}

/** Most texts have nothing that JSON writes in another way. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
/** As these, and nothing that stands for something else. */
const PLAIN_TARGET = /^[\x20\x21\x23\x24\x26-\x5b\x5d-\x7e]*$/;

export function isPlain(text: string): boolean {
  return PLAIN.test(text);
}

export function isPlainTarget(target: string): boolean {
  return PLAIN_TARGET.test(target);
}

export function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Between quotation marks. */
export function escaped(text: string): string {
  return PLAIN.test(text) ? text : JSON.stringify(text).slice(1, -1);
}
