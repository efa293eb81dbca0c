/**
 * The definitions that are served, and the change from one state of a definition to the next.
 *
 *     definition ──► prefix followed ──► a Resource for each version ──► discovery and OpenAPI
 *
 * 1. A kind is served only when all its instances are in the cache.
 * 2. A definition that changes is replaced in one turn of the event loop. Watches end then, because their kind may have
 *    changed.
 * 3. Kinds are compiled when they are first used: an unused definition costs only its names.
 */
import { type CustomKind, compileCustomKind, customKindNames, equalJson, type Json } from "#api";
import type { Revision } from "#store";
import type { ResourceCache } from "../cache/resource-cache.ts";
import { Resource } from "../rest/resource.ts";
import type { Resources } from "../rest/resources.ts";
import type { Converter } from "./converter.ts";
import {
  apiVersionIn,
  type Definition,
  instancesPrefix,
  isTerminating,
  nameOf,
  storageVersionOf,
} from "./definition.ts";
import type { Publication } from "./publication.ts";
import { VersionForms } from "./version-forms.ts";

export interface ServedDefinitionsOptions {
  readonly resources: Resources;
  readonly publication: Publication;
  converterFor(definition: Definition): Converter;
}

export class ServedDefinitions {
  readonly #options: ServedDefinitionsOptions;
  readonly #byName = new Map<string, ServedDefinition>();
  /**
   * The latest state of each; may be newer than the state that is served, if the difference does not matter for
   * serving.
   */
  readonly #latest = new Map<string, Definition>();

  constructor(options: ServedDefinitionsOptions) {
    this.#options = options;
  }

  names(): Iterable<string> {
    return this.#byName.keys();
  }

  get(name: string): ServedDefinition | undefined {
    return this.#byName.get(name);
  }

  /** The definition at this revision, if that is the latest known here. */
  as(name: string, revision: Revision): Definition | undefined {
    const latest = this.#latest.get(name);
    return latest?.metadata.resourceVersion === String(revision) ? latest : undefined;
  }

  /** For use before the feed loads. */
  add(definition: Definition): void {
    this.#replace(definition, this.#options.resources.follow(instancesPrefix(definition)));
  }

  /** For use while the feed runs. Throws what the store throws. */
  async update(definition: Definition): Promise<void> {
    const served = this.#byName.get(nameOf(definition));
    if (served?.isSameAs(definition) === true) {
      this.#latest.set(nameOf(definition), definition);
      this.#publish(definition.spec.group);
      return;
    }
    this.#replace(definition, await this.#options.resources.join(instancesPrefix(definition)));
    this.#publish(definition.spec.group);
  }

  remove(name: string): void {
    const served = this.#byName.get(name);
    if (served === undefined) return;
    const { resources } = this.#options;
    this.#byName.delete(name);
    this.#latest.delete(name);
    served.uninstall();
    resources.unfollow(served.prefix);
    this.#publish(served.definition.spec.group);
  }

  /** Publishes every group in discovery and OpenAPI. */
  publishAll(): void {
    for (const group of new Set([...this.#latest.values()].map(({ spec }) => spec.group))) this.#publish(group);
  }

  /** Whether the definition behind a resource is being deleted with all its instances. */
  isTerminating(resource: Resource): boolean {
    if (resource.forms === undefined) return false;
    const name = `${resource.kind.names.plural}.${resource.kind.group}`;
    const latest = this.#latest.get(name);
    return latest !== undefined && isTerminating(latest);
  }

  #replace(definition: Definition, cache: ResourceCache): void {
    const { resources, converterFor } = this.#options;
    const name = nameOf(definition);
    const old = this.#byName.get(name);
    const next = new ServedDefinition(definition, converterFor(definition));
    old?.uninstall();
    next.install(resources, cache);
    this.#byName.set(name, next);
    this.#latest.set(name, definition);
    if (old === undefined) return;
    if (old.prefix === next.prefix) cache.endWatches();
    else resources.unfollow(old.prefix);
  }

  #publish(group: string): void {
    const all = [...this.#latest.values()].filter(({ spec }) => spec.group === group);
    this.#options.publication.publish(group, all);
  }
}

/** One definition as it is served: a resource for each version. */
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

  /** `cache`: the cache of its prefix. */
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

  /** Its instances in the version that they are stored in: enough to delete them. */
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
