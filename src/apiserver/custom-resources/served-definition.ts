/**
 * One definition as it is served: a resource for each version, which know each other.
 *
 * 1. Kinds are compiled when they are first needed: a definition that nobody uses costs its names.
 */
import { type CustomKind, compileCustomKind, customKindNames, equalJson, type Json } from "#api";
import type { ResourceCache } from "../cache/resource-cache.ts";
import { Resource } from "../rest/resource.ts";
import type { Resources } from "../rest/resources.ts";
import type { Converter } from "./converter.ts";
import { apiVersionIn, type Definition, instancesPrefix, storageVersionOf } from "./definition.ts";
import { VersionForms } from "./version-forms.ts";

export class ServedDefinition {
  readonly definition: Definition;
  readonly prefix: string;
  readonly #converter: Converter;
  readonly #kinds: ReadonlyMap<string, () => CustomKind>;
  readonly #storageVersion: string;
  #leave: readonly (() => void)[] = [];

  constructor(definition: Definition, converter: Converter) {
    this.definition = definition;
    this.prefix = instancesPrefix(definition);
    this.#converter = converter;
    this.#storageVersion = storageVersionOf(definition) ?? "";
    this.#kinds = kindsOf(definition);
  }

  /** Whether another state of the definition would be served in the same way. */
  isSameAs({ metadata, spec, status }: Definition): boolean {
    const own = this.definition;
    return (
      own.metadata.uid === metadata.uid &&
      isSame(own.spec, spec) &&
      isSame(own.status?.acceptedNames, status?.acceptedNames)
    );
  }

  /** `cache`: of its prefix. */
  install(resources: Resources, cache: ResourceCache): void {
    const served = this.definition.spec.versions.filter((version) => version.served);
    this.#leave = served.map(({ name }) =>
      resources.serve(customKindNames(this.definition, name), () => {
        const kind = this.#kindOf(name);
        return new Resource(kind, cache, this.#formsOf(kind));
      }),
    );
  }

  uninstall(): void {
    for (const leave of this.#leave) leave();
    this.#converter.close();
  }

  /** Its instances as they are stored, whatever version that is: enough to delete them. */
  stored(cache: ResourceCache): Resource {
    return new Resource(this.#kindOf(this.#storageVersion), cache);
  }

  #formsOf(kind: CustomKind): VersionForms {
    const { group } = this.definition.spec;
    return new VersionForms({
      kind,
      apiVersion: apiVersionIn(this.definition, kind.version),
      stored: {
        apiVersion: apiVersionIn(this.definition, this.#storageVersion),
        kind: () => this.#kindOf(this.#storageVersion),
      },
      converter: this.#converter,
      kindIn: (apiVersion) =>
        apiVersion.startsWith(`${group}/`) ? this.#kinds.get(apiVersion.slice(group.length + 1))?.() : undefined,
    });
  }

  #kindOf(version: string): CustomKind {
    const kind = this.#kinds.get(version)?.();
    if (kind === undefined) throw new Error(`${this.definition.metadata.name} has no version ${version}`);
    return kind;
  }
}

function kindsOf(definition: Definition): ReadonlyMap<string, () => CustomKind> {
  return new Map(definition.spec.versions.map(({ name }) => [name, once(() => compileCustomKind(definition, name))]));
}

function isSame(a: object | undefined, b: object | undefined): boolean {
  return equalJson((a ?? null) as unknown as Json, (b ?? null) as unknown as Json);
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
