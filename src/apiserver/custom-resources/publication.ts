/**
 * What discovery and OpenAPI say of custom kinds.
 *
 * 1. Only established definitions are shown, with the verbs that are left to them while they are deleted.
 * 2. A group is told anew only if something of it has changed. What is part of the server is never replaced.
 */
import { customKindNames, isConditionTrue, type JsonObject, type Kind, type Verb } from "#api";
import type { ServedVersion } from "../discovery/index.ts";
import { type Definition, isTerminating, storageVersionOf } from "./definition.ts";

/** Where it is told. */
export interface Documents {
  set(...versions: readonly ServedVersion[]): void;
  remove(group: string, version: string): void;
}

const LEFT_WHILE_TERMINATING: readonly Verb[] = ["delete", "deletecollection", "get", "list", "watch"];

export class Publication {
  readonly #documents: readonly Documents[];
  readonly #isBuiltIn: (group: string, version: string) => boolean;
  /** By group, then version: what was told, and of which states. */
  readonly #told = new Map<string, Map<string, string>>();

  constructor(documents: readonly Documents[], isBuiltIn: (group: string, version: string) => boolean) {
    this.#documents = documents;
    this.#isBuiltIn = isBuiltIn;
  }

  /** `definitions`: all that are served of the group. */
  publish(group: string, definitions: readonly Definition[]): void {
    const versions = servedVersions(group, definitions).filter(({ served }) => !this.#isBuiltIn(group, served.version));
    const told = this.#told.get(group) ?? new Map<string, string>();
    const changed = versions.filter(({ served, state }) => told.get(served.version) !== state);
    const gone = [...told.keys()].filter((version) => !versions.some(({ served }) => served.version === version));
    for (const documents of this.#documents) {
      for (const version of gone) documents.remove(group, version);
      if (changed.length > 0) documents.set(...changed.map(({ served }) => served));
    }
    if (versions.length === 0) this.#told.delete(group);
    else this.#told.set(group, new Map(versions.map(({ served, state }) => [served.version, state])));
  }
}

interface Stated {
  readonly served: ServedVersion;
  /** Differs if anything that is told differs. */
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

/** As far as it is told of: without a schema, which would have to be compiled first. */
function kindsOf(definition: Definition): readonly { readonly definition: Definition; readonly kind: Kind }[] {
  const verbs = isTerminating(definition) ? { verbs: LEFT_WHILE_TERMINATING } : {};
  return definition.spec.versions
    .filter(({ served }) => served)
    .map(({ name }) => ({ definition, kind: { ...customKindNames(definition, name), schema: UNTOLD, ...verbs } }));
}

const UNTOLD: Kind["schema"] = { type: "object", fields: new Map() };

function schemaEntry({ spec }: Definition, kind: Kind): readonly (readonly [string, JsonObject])[] {
  const schema = spec.versions.find(({ name }) => name === kind.version)?.schema?.openAPIV3Schema;
  return schema === undefined ? [] : [[kind.kind, schema as unknown as JsonObject]];
}

/** The generation rises with the spec; names are told of as they were given. */
function stateOf({ metadata, status }: Definition): string {
  const ending = metadata.deletionTimestamp === undefined ? "" : "-";
  return `${metadata.uid}/${metadata.generation}${ending}/${JSON.stringify(status?.acceptedNames ?? {})}`;
}
