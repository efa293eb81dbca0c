/**
 * Policies with their bindings, compiled, and which of them may apply to a resource, subresource and operation.
 *
 * 1. A policy without a binding costs nothing.
 * 2. A policy is compiled once after each change, when a request first needs it.
 */
import type { admissionregistration, KubeObject } from "#api";
import type { StoredObject } from "../../cache/stored-object.ts";
import type { Resource } from "../../rest/resource.ts";
import type { Resources } from "../../rest/resources.ts";
import type { AdmissionAttributes } from "../../rest/server-context.ts";
import type { AdmissionMetrics } from "../chain/metrics.ts";
import type { ClusterView, Operation } from "../chain/plugin.ts";
import {
  type Choice,
  choices,
  chosen,
  Followed,
  Hooks,
  type Selectors,
  selectorsOf,
  selectsNamespace,
  selectsObject,
  type Target,
  targetOf,
} from "../dynamic/index.ts";

export const GROUP = "admissionregistration.k8s.io";

type MatchResources = admissionregistration.MatchResources;
type ParamKind = admissionregistration.ParamKind;

/** What mutating and validating policies share. */
export interface AnyPolicy extends KubeObject {
  readonly spec?: {
    readonly paramKind?: ParamKind;
    readonly matchConstraints?: MatchResources;
    readonly failurePolicy?: "Fail" | "Ignore";
  };
}

export interface AnyBinding extends KubeObject {
  readonly spec?: admissionregistration.MutatingAdmissionPolicyBindingSpec &
    Partial<Pick<admissionregistration.ValidatingAdmissionPolicyBindingSpec, "validationActions">>;
}

/** Matches requests of one resource, subresource and operation. */
export interface Scope {
  readonly selectors: Selectors;
  /** Undefined: all. */
  readonly chosen: readonly Choice[] | undefined;
  readonly excluded: readonly Choice[];
}

export interface Concerned<C> {
  readonly policy: AnyPolicy;
  readonly compiled: C;
  readonly scope: Scope;
  readonly bindings: readonly { readonly binding: AnyBinding; readonly scope: Scope }[];
}

export interface PolicySetOptions<C> {
  readonly resources: Resources;
  readonly policies: string;
  readonly bindings: string;
  compile(policy: AnyPolicy): C;
  readonly metrics?: AdmissionMetrics | undefined;
}

export class PolicySet<C> {
  readonly #hooks: Followed<Hooks<Concerned<C>>>;

  constructor({ resources, policies, bindings, compile, metrics }: PolicySetOptions<C>) {
    const [policyResource, bindingResource] = [served(resources, policies), served(resources, bindings)];
    const compiled = new WeakMap<StoredObject, C>();
    const compiledOf = (stored: StoredObject, policy: AnyPolicy): C => {
      const known = compiled.get(stored);
      if (known !== undefined) return known;
      const startMs = metrics?.now() ?? 0;
      const made = compile(policy);
      metrics?.compiled(startMs);
      compiled.set(stored, made);
      return made;
    };
    this.#hooks = new Followed([policyResource, bindingResource], () => {
      const bound = boundPolicies(policyResource, bindingResource);
      return new Hooks((target, operation) =>
        bound.flatMap(({ stored, policy, bindings }) => {
          const scope = scopeOf(policy.spec?.matchConstraints ?? {}, target, operation, resources);
          if (scope.chosen?.length === 0) return [];
          return {
            policy,
            compiled: compiledOf(stored, policy),
            scope,
            bindings: bindings.map((binding) => ({
              binding,
              scope: scopeOf(binding.spec?.matchResources ?? {}, target, operation, resources),
            })),
          };
        }),
      );
    });
  }

  about(attributes: AdmissionAttributes): readonly Concerned<C>[] {
    return this.#hooks.current?.about(attributes) ?? [];
  }
}

/**
 * The version of the object that matches; undefined if the request does not match. Throws NotFound for a namespace that
 * does not exist.
 */
export async function meant(
  { selectors, chosen: rules, excluded }: Scope,
  attributes: AdmissionAttributes,
  cluster: ClusterView,
): Promise<Target | undefined> {
  const { name, object, old } = attributes;
  const target = rules === undefined ? targetOf(attributes) : chosen(rules, name);
  if (target === undefined || chosen(excluded, name) !== undefined) return undefined;
  if (!selectsObject(selectors, object, old)) return undefined;
  return (await selectsNamespace(selectors, attributes, cluster)) ? target : undefined;
}

function scopeOf(match: MatchResources, target: Target, operation: Operation, resources: Resources): Scope {
  const { resourceRules = [], excludeResourceRules = [], matchPolicy } = match;
  return {
    selectors: selectorsOf(match),
    chosen: resourceRules.length === 0 ? undefined : choices(resourceRules, matchPolicy, target, operation, resources),
    excluded: choices(excludeResourceRules, matchPolicy, target, operation, resources),
  };
}

interface BoundPolicy {
  readonly stored: StoredObject;
  readonly policy: AnyPolicy;
  readonly bindings: readonly AnyBinding[];
}

/** Sorted by the names of policies, then of bindings. */
function boundPolicies(policies: Resource, bindings: Resource): readonly BoundPolicy[] {
  const byPolicy = new Map<string, AnyBinding[]>();
  for (const stored of bindings.readable()) {
    const binding = bindings.read(stored) as AnyBinding;
    const name = binding.spec?.policyName ?? "";
    byPolicy.set(name, [...(byPolicy.get(name) ?? []), binding]);
  }
  return [...policies.readable()].flatMap((stored) => {
    const policy = policies.read(stored) as AnyPolicy;
    const own = byPolicy.get(policy.metadata.name ?? "");
    return own === undefined ? [] : [{ stored, policy, bindings: own }];
  });
}

function served(resources: Resources, plural: string): Resource {
  const found = resources.find(GROUP, "v1", plural);
  if (found === undefined) throw new Error(`${plural} are not served`);
  return found;
}
