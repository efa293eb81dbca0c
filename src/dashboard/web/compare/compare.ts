/**
 * What changed in a namespace, or in the whole cluster, between two moments, by the rules of `k8ts diff`.
 *
 *     discovery ──► resourcesToCompare ──► /k8ts/at/<revision>/… twice, as the user ──► objectChanges ──► rows
 *
 * 1. Resources that the user may not read are named, not taken for unchanged.
 * 2. Values of Secrets are never shown: only their sizes.
 */
import { type FieldChange, NOISE, type ObjectChange, objectChanges } from "#api/differences";
import type { Discovered } from "../api/discovery.ts";
import { Refused, wordsOf } from "../api/request.ts";
import type { Resource } from "../api/resources.ts";
import type { KubeObject } from "../api/watched.ts";
import type { ObjectPlace } from "../route.ts";
import { listAt, type Moment } from "./moments.ts";

export interface Changed {
  readonly kind: string;
  readonly place: ObjectPlace;
  readonly change: ObjectChange["change"];
  readonly fields: readonly FieldChange[];
}

export interface Comparison {
  readonly moments: readonly [Moment, Moment];
  readonly changed: readonly Changed[];
  /** Why parts are not among them. */
  readonly refused: readonly string[];
}

/** So many resources at once. */
const AT_ONCE = 6;

/** As `k8ts diff` without resources: what somebody can write, but for what changes all the time. */
export function resourcesToCompare({ resources, accessible }: Discovered, namespace: string): readonly Resource[] {
  const verbs = new Map(accessible.map((each) => [each.name, each.verbs]));
  return resources.filter(({ group, plural, namespaced }) => {
    const own = verbs.get(group === "" ? plural : `${plural}.${group}`) ?? [];
    // Events are in two groups; those of metrics.k8s.io and the like have no past.
    return own.includes("create") && !NOISE.has(plural) && (namespaced || namespace === "");
  });
}

export interface ToCompare {
  readonly moments: readonly [Moment, Moment];
  readonly resources: readonly Resource[];
  /** Empty: all of them. */
  readonly namespace: string;
}

export async function comparison(
  { moments, resources, namespace }: ToCompare,
  onProgress: (done: number) => void,
  signal: AbortSignal,
): Promise<Comparison> {
  const changed = new Map<Resource, readonly Changed[]>();
  const refused = new Map<Resource, string>();
  const left = [...resources];
  const work = async () => {
    for (let resource = left.shift(); resource !== undefined && !signal.aborted; resource = left.shift()) {
      try {
        const [before, after] = moments;
        const asked = [before, after].map(({ revision }) => listAt(resource, namespace, revision, signal));
        const [old = [], young = []] = await Promise.all(asked);
        changed.set(resource, changesOf(resource, old, young));
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        refused.set(resource, wordsOf(error));
      }
      onProgress(resources.length - left.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return {
    moments,
    changed: resources.flatMap((resource) => changed.get(resource) ?? []),
    refused: resources.flatMap((resource) => refused.get(resource) ?? []),
  };
}

export function changesOf(
  { group, version, plural, kind }: Resource,
  before: readonly KubeObject[],
  after: readonly KubeObject[],
): readonly Changed[] {
  const isSecret = group === "" && plural === "secrets";
  return objectChanges(before, after).map(({ name: path, change, fields }) => {
    const [namespace, name] = path.includes("/") ? path.split("/", 2) : ["", path];
    return {
      kind,
      place: { group, version, plural, namespace: namespace ?? "", name: name ?? "" },
      change,
      fields: isSecret ? fields.map(withoutSecret) : fields,
    };
  });
}

function withoutSecret(field: FieldChange): FieldChange {
  const size = (value: unknown) => (typeof value === "string" ? `${Math.floor((value.length * 3) / 4)} bytes` : value);
  if (!/^(data|stringData)\b/.test(field.path)) return field;
  if (field.path === "data" || field.path === "stringData") return { ...field, from: "…", to: "…" };
  return { ...field, from: size(field.from), to: size(field.to) };
}

/** A value of a field in a line. */
export function valueText(value: unknown): string {
  return value === undefined ? "∅" : typeof value === "string" ? value : JSON.stringify(value);
}

/** What a row says of the fields. */
export function fieldsText(fields: readonly FieldChange[]): string {
  const [first] = fields;
  if (first === undefined) return "";
  const more = fields.length === 1 ? "" : ` and ${fields.length - 1} more`;
  return `${first.path}: ${valueText(first.from)} → ${valueText(first.to)}${more}`;
}
