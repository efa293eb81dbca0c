/**
 * Publishes custom kinds in discovery and OpenAPI.
 *
 * 1. Only established definitions are published; while they are deleted, with fewer verbs.
 * 2. A version is published again only if something of it has changed. Built-in versions are never replaced.
 */
import { customKindNames, isConditionTrue, type JsonObject, type Kind, type Verb } from "#api";
import type { ServedVersion } from "../discovery/index.ts";
import { type Definition, isTerminating, storageVersionOf } from "./definition.ts";

/** Discovery or OpenAPI. */
export interface Documents {
  set(...versions: readonly ServedVersion[]): void;
  remove(group: string, version: string): void;
}

const VERBS_WHILE_TERMINATING: readonly Verb[] = ["delete", "deletecollection", "get", "list", "watch"];

export class Publication {
  readonly #documents: readonly Documents[];
  readonly #isBuiltIn: (group: string, version: string) => boolean;
  /** By group, then version: the state that was published last. */
  readonly #published = new Map<string, Map<string, string>>();

  constructor(documents: readonly Documents[], isBuiltIn: (group: string, version: string) => boolean) {
    this.#documents = documents;
    this.#isBuiltIn = isBuiltIn;
  }

  /** `definitions`: all of the group that are served. */
  publish(group: string, definitions: readonly Definition[]): void {
    const versions = servedVersions(group, definitions).filter(({ served }) => !this.#isBuiltIn(group, served.version));
    const published = this.#published.get(group) ?? new Map<string, string>();
    const changed = versions.filter(({ served, state }) => published.get(served.version) !== state);
    const gone = [...published.keys()].filter((version) => !versions.some(({ served }) => served.version === version));
    for (const documents of this.#documents) {
      for (const version of gone) documents.remove(group, version);
      if (changed.length > 0) documents.set(...changed.map(({ served }) => served));
    }
    if (versions.length === 0) this.#published.delete(group);
    else this.#published.set(group, new Map(versions.map(({ served, state }) => [served.version, state])));
  }
}

interface Stated {
  readonly served: ServedVersion;
  /** Differs if anything that is published differs. */
  readonly state: string;
}

function servedVersions(group: string, definitions: readonly Definition[]): readonly Stated[] {
  const established = definitions.filter((definition) => isConditionTrue(definition, "Established"));
  const byVersion = Map.groupBy(established.flatMap(kindsOf), ({ kind }) => kind.version);
  return [...byVersion].map(([version, all]) => {
    const sorted = all.sort((a, b) => (a.kind.names.plural < b.kind.names.plural ? -1 : 1));
    return {
      served: {
        group,
        version,
        custom: true,
        kinds: sorted.map(({ kind }) => kind),
        keptIn: new Map(sorted.map(({ definition, kind }) => [kind.kind, storageVersionOf(definition) ?? version])),
        schemas: new Map(sorted.flatMap(({ definition, kind }) => schemaEntry(definition, kind))),
      },
      state: sorted.map(({ definition }) => stateOf(definition)).join(),
    };
  });
}

/** Without schemas: those would have to be compiled first. */
function kindsOf(definition: Definition): readonly { readonly definition: Definition; readonly kind: Kind }[] {
  const verbs = isTerminating(definition) ? { verbs: VERBS_WHILE_TERMINATING } : {};
  return definition.spec.versions
    .filter(({ served }) => served)
    .map(({ name }) => ({ definition, kind: { ...customKindNames(definition, name), schema: NO_SCHEMA, ...verbs } }));
}

const NO_SCHEMA: Kind["schema"] = { type: "object", fields: new Map() };

function schemaEntry({ spec }: Definition, kind: Kind): readonly (readonly [string, JsonObject])[] {
  const schema = spec.versions.find(({ name }) => name === kind.version)?.schema?.openAPIV3Schema;
  return schema === undefined ? [] : [[kind.kind, schema as unknown as JsonObject]];
}

/** The generation changes with the spec; names are published as accepted. */
function stateOf({ metadata, status }: Definition): string {
  const ending = metadata.deletionTimestamp === undefined ? "" : "-";
  return `${metadata.uid}/${metadata.generation}${ending}/${JSON.stringify(status?.acceptedNames ?? {})}`;
}
