/**
 * /statusz and /flagz: what a component is, and how it was started. As text for people, or as an object of
 * config.k8s.io for programs.
 *
 *     Accept: (none), text/plain, anything       ──► text
 *             application/json;g=…;v=…;as=KIND   ──► JSON, or YAML; the first clause that can be served counts
 *             something else                     ──► 406
 */
import { type Features, formatTime, instantOf, type JsonObject, writeJson, writeYaml } from "#api";
import { table } from "#base";
import { warningHeaders } from "../http/warning-headers.ts";
import { type VersionInfo, versionInfo } from "./version.ts";

const GROUP = "config.k8s.io";
const VERSION = "v1beta1";
const DEPRECATED_VERSION = "v1alpha1";
const NOTICE =
  "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.";
const TEXT_TYPE = "text/plain; charset=utf-8";
const NOT_ACCEPTABLE = 406;

export interface ZPageFacts {
  /** The component, such as `kube-scheduler`. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly startedMs: number;
  /** Values by the flags' names. */
  readonly flags: Readonly<Record<string, string>>;
  /** The paths that are served besides the API. */
  readonly paths: readonly string[];
  readonly version?: VersionInfo | undefined;
  /** Which pages are served: those whose feature gate is on. */
  readonly served: readonly ZPageName[];
}

export type ZPageName = "statusz" | "flagz";

export interface ZPageAnswer {
  readonly status: 200 | 406;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string;
}

/** The pages whose feature gates are on. */
export function servedZPages({ enabled }: Pick<Features, "enabled">): readonly ZPageName[] {
  return [
    ...(enabled("ComponentStatusz") ? (["statusz"] as const) : []),
    ...(enabled("ComponentFlagz") ? (["flagz"] as const) : []),
  ];
}

/** Undefined: there is no such page. */
export function answerZPage(
  path: string,
  accept: string | undefined,
  facts: ZPageFacts,
  nowMs: number,
): ZPageAnswer | undefined {
  const page = facts.served.find((name) => path === `/${name}`);
  if (page === undefined) return undefined;
  const { kind, text, fields } = PAGES[page];
  const wanted = wantedForm(accept, kind);
  if (wanted === undefined) {
    const body = `only the following media types are accepted: text/plain, application/json;g=${GROUP};v=${VERSION};as=${kind}\n`;
    return { status: NOT_ACCEPTABLE, headers: { "content-type": TEXT_TYPE }, body };
  }
  if (wanted === "text") {
    const body = `\n${facts.name} ${page}\n${NOTICE}\n${text(facts, nowMs)}`;
    return { status: 200, headers: { "content-type": TEXT_TYPE }, body };
  }
  const { type, version } = wanted;
  const apiVersion = `${GROUP}/${version}`;
  const object = { kind, apiVersion, metadata: { name: facts.name }, ...fields(facts, nowMs) };
  const deprecation = `${apiVersion} ${kind} is deprecated; use ${GROUP}/${VERSION} ${kind}`;
  return {
    status: 200,
    headers: {
      "content-type": type,
      ...(version === DEPRECATED_VERSION && { warning: warningHeaders([deprecation]) }),
    },
    body: WRITERS[type](object),
  };
}

interface Page {
  readonly kind: string;
  text(facts: ZPageFacts, nowMs: number): string;
  fields(facts: ZPageFacts, nowMs: number): JsonObject;
}

const PAGES: Readonly<Record<ZPageName, Page>> = {
  statusz: {
    kind: "Statusz",
    text: (facts, nowMs) => {
      const { goVersion, binaryVersion, emulationVersion } = versionsOf(facts);
      const lines = [
        ["Started", unixDate(facts.startedMs)],
        ["Up", upText(nowMs - facts.startedMs)],
        ["Go version", goVersion],
        ["Binary version", binaryVersion],
        ["Emulation version", emulationVersion],
        ["Paths", facts.paths.join(" ")],
      ];
      return `\n${lines.map(([name, value]) => `${name}: ${value}\n`).join("")}`;
    },
    fields: (facts, nowMs) => ({
      startTime: formatTime(instantOf(facts.startedMs)),
      uptimeSeconds: Math.floor((nowMs - facts.startedMs) / 1000),
      ...versionsOf(facts),
      paths: [...facts.paths],
    }),
  },
  flagz: {
    kind: "Flagz",
    text: ({ flags }) =>
      inOrder(flags)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(""),
    fields: ({ flags }) => ({ flags: Object.fromEntries(inOrder(flags)) }),
  },
};

type StructuredType = "application/json" | "application/yaml";

const WRITERS: Readonly<Record<StructuredType, (object: JsonObject) => string>> = {
  "application/json": (object) => `${writeJson(object)}\n`,
  "application/yaml": (object) => writeYaml(object),
};

interface Structured {
  readonly type: StructuredType;
  readonly version: string;
}

function wantedForm(accept: string | undefined, kind: string): "text" | Structured | undefined {
  if (accept === undefined || accept.trim() === "") return "text";
  for (const clause of accept.split(",")) {
    const [type = "", ...given] = clause.split(";").map((part) => part.trim());
    if (type === "*/*" || type === "text/*" || type === "text/plain") return "text";
    if (type !== "application/json" && type !== "application/yaml") continue;
    const { g, v, as } = table(Object.fromEntries(given.map(parameter)));
    if (g === GROUP && as === kind && (v === VERSION || v === DEPRECATED_VERSION)) return { type, version: v };
  }
  return undefined;
}

function parameter(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  return at === -1 ? [text, ""] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

/** There is no Go here: the field says what runs the program. */
function versionsOf({ version = versionInfo() }: ZPageFacts) {
  return {
    goVersion: version.compiler,
    binaryVersion: version.gitVersion.slice(1),
    emulationVersion: `${version.emulationMajor}.${version.emulationMinor}`,
  };
}

function inOrder(flags: ZPageFacts["flags"]): readonly (readonly [string, string])[] {
  return Object.entries(flags).sort(([a], [b]) => (a < b ? -1 : 1));
}

function upText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${Math.floor(seconds / 3600)} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`;
}

/** As `date` prints it: Mon Nov 16 17:28:05 UTC 2026. */
function unixDate(ms: number): string {
  const [day = "", date = "", month = "", year = "", time = ""] = new Date(ms).toUTCString().split(/,? /);
  return `${day} ${month} ${String(Number(date)).padStart(2, " ")} ${time} UTC ${year}`;
}
