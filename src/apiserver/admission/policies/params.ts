/**
 * The parameters of a policy: the objects of its paramKind that a binding refers to.
 *
 * If none is found, the binding decides: `Deny` refuses the request, `Allow` skips the binding.
 */
import { type admissionregistration, apiVersionOf, type KubeObject, matcherOfSelector } from "#api";
import type { StoredObject } from "../../cache/stored-object.ts";
import { ownForms } from "../../rest/forms.ts";
import type { Resource } from "../../rest/resource.ts";
import type { Resources } from "../../rest/resources.ts";
import { kindText } from "../dynamic/index.ts";

type ParamKind = admissionregistration.ParamKind;
type ParamRef = admissionregistration.ParamRef;

/** A policy or a binding that cannot be used. The failure policy decides about the request. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}

export class Params {
  readonly #resources: Resources;
  readonly #known = new Map<string, Resource>();

  constructor(resources: Resources) {
    this.#resources = resources;
  }

  /** The resource of a kind. Throws ConfigurationError if it is not served. */
  resourceOf({ apiVersion = "", kind = "" }: ParamKind): Resource {
    const key = `${apiVersion} ${kind}`;
    const known = this.#known.get(key);
    if (known !== undefined && this.#isServed(known)) return known;
    for (const resource of this.#resources.all()) {
      if (resource.kind.kind !== kind || apiVersionOf(resource.kind) !== apiVersion) continue;
      this.#known.set(key, resource);
      return resource;
    }
    const slash = apiVersion.indexOf("/");
    const wanted = { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1), kind };
    throw new ConfigurationError(`failed to find resource referenced by paramKind: '${kindText(wanted)}'`);
  }

  /** The parameters of a binding. [undefined]: it has none. Throws ConfigurationError. */
  async collect(
    kind: ParamKind | undefined,
    ref: ParamRef | undefined,
    namespace: string,
  ): Promise<readonly (KubeObject | undefined)[]> {
    if (kind === undefined || ref === undefined) return [undefined];
    const resource = this.resourceOf(kind);
    const found = await select(resource, ref, place(resource, ref, namespace));
    if (found.length === 0 && ref.parameterNotFoundAction === "Deny")
      throw new ConfigurationError("no params found for policy binding with `Deny` parameterNotFoundAction");
    return found;
  }

  #isServed(resource: Resource): boolean {
    const { group, version, names } = resource.kind;
    return this.#resources.find(group, version, names.plural) === resource;
  }
}

/** The namespace of the parameters; "" for a cluster-scoped kind. */
function place({ kind }: Resource, ref: ParamRef, namespace: string): string {
  const named = ref.namespace ?? "";
  if (kind.scope === "Cluster") {
    if (named === "") return "";
    throw new ConfigurationError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  }
  const inside = named === "" ? namespace : named;
  if (inside !== "") return inside;
  throw new ConfigurationError(
    "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources",
  );
}

async function select(resource: Resource, ref: ParamRef, namespace: string): Promise<readonly KubeObject[]> {
  if (ref.name) {
    const stored = await resource.get(resource.suffix(namespace, ref.name));
    return stored === undefined ? [] : [resource.read(stored)];
  }
  const matcher = matcherOfSelector(ref.selector ?? {});
  const inside: readonly StoredObject[] = [
    ...resource.cache
      .snapshot()
      .values(namespace === "" ? undefined : { from: `${namespace}/`, before: `${namespace}0` }),
  ];
  const own = resource.forms === undefined ? inside : await ownForms(resource.forms, inside);
  return own.map((stored) => resource.read(stored)).filter(({ metadata }) => matcher.matches(metadata.labels));
}
