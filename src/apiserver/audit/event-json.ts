/** Parts of an event as JSON, in the order in which they stand. Only the fields between them are not always there. */
import type { UserInfo } from "../identity/user.ts";
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

/** From the last time on: annotations, in the order of their keys. */
export function endText(annotations: ReadonlyMap<string, string>): string {
  if (annotations.size === 0) return '"}';
  const sorted = [...annotations].sort(([a], [b]) => (a < b ? -1 : 1));
  return `","annotations":{${sorted.map(([key, value]) => `${quoted(key)}:${quoted(value)}`).join(",")}}}`;
}

/** Of a request that was allowed for this reason, with nothing else to note; undefined if that was not asked. */
export function allowedText(reason: string | undefined): string {
  if (reason === undefined) return '"}';
  return `","annotations":{"${DECISION}":"allow","${REASON}":${quoted(reason)}}}`;
}

export function member(name: string, value: string | undefined): string {
  return value ? `,"${name}":${quoted(value)}` : "";
}

/** Most texts have nothing that JSON writes in another way. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const PERCENT = 0x25;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export function isPlain(text: string): boolean {
  return PLAIN.test(text);
}

/** As these, and nothing that stands for something else. Every request is asked, and names are short: a loop is faster than an expression. */
export function isPlainTarget(target: string): boolean {
  for (let i = 0; i < target.length; i++) {
    const code = target.charCodeAt(i);
    if (code < 0x20 || code > 0x7e || code === PERCENT || code === QUOTE || code === BACKSLASH) return false;
  }
  return true;
}

export function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Between quotation marks. */
export function escaped(text: string): string {
  return PLAIN.test(text) ? text : JSON.stringify(text).slice(1, -1);
}
