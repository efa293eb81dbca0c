/**
 * All definitions that are served, and the change from one state of a definition to the next.
 *
 *     definition ──► prefix followed ──► kinds served ──► discovery and OpenAPI
 *
 * 1. A kind is served only when all its instances are known here.
 * 2. A definition that changes is replaced in one turn. Watches end then, as their kind may not be what it was: clients come again.
 */
import type { Revision } from "#store";
import type { ResourceCache } from "../cache/resource-cache.ts";
import type { Resource } from "../rest/resource.ts";
import type { Resources } from "../rest/resources.ts";
import type { Converter } from "./converter.ts";
import { type Definition, instancesPrefix, isTerminating, nameOf } from "./definition.ts";
import type { Publication } from "./publication.ts";
import { ServedDefinition } from "./served-definition.ts";

export interface ServedDefinitionsOptions {
  readonly resources: Resources;
  readonly publication: Publication;
  converterFor(definition: Definition): Converter;
}

export class ServedDefinitions {
  readonly #options: ServedDefinitionsOptions;
  readonly #byName = new Map<string, ServedDefinition>();
  /** As they were last seen, which for those that are served alike may be newer. */
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

  /** The definition as of a revision, if that is what is served. */
  as(name: string, revision: Revision): Definition | undefined {
    const latest = this.#latest.get(name);
    return latest?.metadata.resourceVersion === String(revision) ? latest : undefined;
  }

  /** Before the feed loads. */
  add(definition: Definition): void {
    this.#replace(definition, this.#options.resources.follow(instancesPrefix(definition)));
  }

  /** While the feed runs. Throws what the store throws. */
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

  /** Tells discovery and OpenAPI of everything. */
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
